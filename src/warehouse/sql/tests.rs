//! `check` as its callers see it.

use super::*;
