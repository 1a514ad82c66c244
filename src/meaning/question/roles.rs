//! Which of several ways between two datasets the words of a question mean: "reported by" is not "closed by".

use crate::meaning::question::token::{Token, name_stems};
use crate::meaning::semantic::{Model, Relationship};

/// The relationships that are named by words of their columns, among those that join the same two of `mentioned`.
pub fn chosen(tokens: &[Token], mentioned: &[String], model: &Model) -> Vec<String> {
    let mut found = Vec::new();
    for relationship in &model.relationships {
        let both = mentioned.contains(&relationship.from) && mentioned.contains(&relationship.to);
        let rivals: Vec<&Relationship> = model
            .relationships
            .iter()
            .filter(|other| {
                other.from == relationship.from && other.to == relationship.to && other.name != relationship.name
            })
            .collect();
        if !both || rivals.is_empty() || relationship.from == relationship.to {
            continue;
        }
        let others: Vec<String> = rivals.iter().flat_map(|rival| words(rival)).collect();
        let own = words(relationship);
        let mut telling = own.iter().filter(|word| !others.contains(word));
        if telling.any(|word| tokens.iter().any(|token| token.stem == *word)) {
            found.push(relationship.name.clone());
        }
    }
    found
}

fn words(relationship: &Relationship) -> Vec<String> {
    relationship
        .from_columns
        .iter()
        .flat_map(|column| name_stems(column))
        .collect()
}
