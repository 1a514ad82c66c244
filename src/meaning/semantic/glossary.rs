//! A plain glossary: one term a line, with what it means here.
//!
//! ```text
//! - **ARR**: yearly recurring revenue, `net_sales`
//! - open order: `orders.status = 'Open'`
//! - 大客户: customers with more than ten orders
//! ```
//!
//! A meaning that names a metric, dataset, field or value between backticks makes the term another word for it; the text is
//! kept as a definition. Lines that are neither a term nor a heading are read as prose and left alone.

use crate::meaning::semantic::{CategoryValue, Definition, FieldRef, Model, Words};

/// Adds the terms of `text` to `model`; gives what names nothing of it.
pub fn apply(text: &str, model: &mut Model) -> Vec<String> {
    let mut left_out = Vec::new();
    for line in text.lines() {
        let Some((term, meaning)) = entry(line) else { continue };
        for name in between_backticks(meaning) {
            if !name_it(&term, name, model) {
                left_out.push(format!(
                    "glossary, {term}: there is no metric, dataset or field `{name}`"
                ));
            }
        }
        model
            .definitions
            .retain(|known| !known.term.eq_ignore_ascii_case(&term));
        model.definitions.push(Definition {
            text: meaning.replace('`', ""),
            term,
        });
    }
    left_out
}

/// `- **term**: meaning`, with or without the list mark and the stars.
fn entry(line: &str) -> Option<(String, &str)> {
    let line = line.trim();
    if line.is_empty() || line.starts_with('#') || line.starts_with('>') {
        return None;
    }
    let is_item = line.starts_with("- ") || line.starts_with("* ");
    let body = line.trim_start_matches(['-', '*']).trim_start();
    let is_bold = line.contains("**");
    let (term, meaning) = body.split_once([':', '：'])?;
    let term = term.trim().trim_matches('*').trim();
    let meaning = meaning.trim().trim_start_matches('*').trim();
    let is_term =
        !term.is_empty() && !meaning.is_empty() && (is_item || is_bold || term.split_whitespace().count() <= 4);
    is_term.then(|| (term.to_owned(), meaning))
}

fn between_backticks(text: &str) -> impl Iterator<Item = &str> {
    text.split('`')
        .skip(1)
        .step_by(2)
        .map(str::trim)
        .filter(|name| !name.is_empty())
}

/// Makes `term` a word for what `name` names.
fn name_it(term: &str, name: &str, model: &mut Model) -> bool {
    if let Some((field, value)) = name.split_once('=') {
        let value = value.trim().trim_matches(['\'', '"']).to_owned();
        return value_synonym(term, &FieldRef::parse(field.trim()), value, model);
    }
    if let Some(metric) = model
        .metrics
        .iter_mut()
        .find(|metric| metric.name.eq_ignore_ascii_case(name))
    {
        return add(&mut metric.words, term);
    }
    if let Some(dataset) = model
        .datasets
        .iter_mut()
        .find(|dataset| dataset.name.eq_ignore_ascii_case(name))
    {
        return add(&mut dataset.words, term);
    }
    let wanted = FieldRef::parse(name);
    field_of(model, &wanted).is_some_and(|field| add(&mut field.words, term))
}

fn value_synonym(term: &str, wanted: &FieldRef, value: String, model: &mut Model) -> bool {
    let Some(field) = field_of(model, wanted) else {
        return false;
    };
    match field.values.iter_mut().find(|known| known.value == value) {
        Some(known) => known.synonyms.push(term.to_owned()),
        None => field.values.push(CategoryValue {
            value,
            synonyms: vec![term.to_owned()],
        }),
    }
    true
}

fn field_of<'m>(model: &'m mut Model, wanted: &FieldRef) -> Option<&'m mut crate::meaning::semantic::Field> {
    let dataset = model
        .datasets
        .iter_mut()
        .find(|dataset| dataset.name.eq_ignore_ascii_case(&wanted.dataset))?;
    dataset
        .fields
        .iter_mut()
        .find(|field| field.name.eq_ignore_ascii_case(&wanted.field))
}

fn add(words: &mut Words, term: &str) -> bool {
    if !words.synonyms.iter().any(|known| known == term) {
        words.synonyms.push(term.to_owned());
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("- **ARR**: yearly revenue, `net_sales`", Some(("ARR", "yearly revenue, `net_sales`")))]
    #[case("open order: `orders.status = 'Open'`", Some(("open order", "`orders.status = 'Open'`")))]
    #[case("大客户：订单多的客户", Some(("大客户", "订单多的客户")))]
    #[case("# Terms: all of them", None)]
    #[case("What follows was agreed with finance in spring: see the wiki", None)]
    #[case("", None)]
    fn a_line_is_a_term_with_its_meaning(#[case] line: &str, #[case] expected: Option<(&str, &str)>) {
        let found = entry(line);
        assert_eq!(
            found.as_ref().map(|(term, meaning)| (term.as_str(), *meaning)),
            expected
        );
    }
}
