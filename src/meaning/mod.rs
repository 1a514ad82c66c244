//! What the business calls things: the semantic model, the typed query, and the reading of questions. Knows nothing of connections.

pub mod query;
pub mod question;
pub mod semantic;
pub mod sound;
pub mod surroundings;
