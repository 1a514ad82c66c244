//! From rows to insight: metrics, charts, evidence and the report. Knows nothing of engines, models or sessions.

pub mod chart;
pub mod evidence;
pub mod metrics;
pub mod report;
