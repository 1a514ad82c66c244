//! Languages, numerals, money and redaction: what every room needs to speak to people.

mod format;
mod language;
mod numeral;
mod redact;
mod width;

pub use format::{compact, decimal, grouped, integer, money, percent, signed_percent};
pub use language::{Language, is_han};
pub use numeral::{Numeral, numerals, parse_numeral};
pub use redact::redact;
pub use width::{display_width, pad_end, truncate};
