//! When do two results agree? Four rules, from strict to lenient.
//!
//! | scorer | rows | columns | order | numbers |
//! | --- | --- | --- | --- | --- |
//! | strict | the same bag | the same, in any order | where the question asks for one | within 1e-6 |
//! | spider | the same bag | the same, in any order; the rows' values as sets first | where gold sorts | equal |
//! | bird | the same set | the same, in the same order | never | equal |
//! | lenient | the same set | gold's are contained | never | within 1e-6 |
//!
//! No rule changes either statement: DISTINCT stays where it is. Spider's own program strips DISTINCT of both statements
//! first; ours compares what was asked.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::jobs::eval::rows::{Table, Value};

/// More ways to order columns than this are not tried: results that wide differ elsewhere first.
const MOST_ORDERS: usize = 5_000;

/// A rule by which an answer counts as right.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scorer {
    Strict,
    Spider,
    Bird,
    Lenient,
}

impl Scorer {
    pub const ALL: [Scorer; 4] = [Scorer::Strict, Scorer::Spider, Scorer::Bird, Scorer::Lenient];

    pub fn name(self) -> &'static str {
        match self {
            Scorer::Strict => "strict",
            Scorer::Spider => "spider",
            Scorer::Bird => "bird",
            Scorer::Lenient => "lenient",
        }
    }

    /// Does `answer` say what `gold` says? `ordered`: the question asks for an order.
    pub fn agrees(self, gold: &Table, answer: &Table, ordered: bool) -> bool {
        match self {
            Scorer::Strict => same_columns(gold, answer) && permuted(gold, answer, ordered),
            Scorer::Spider => {
                gold.rows.is_empty() && answer.rows.is_empty()
                    || same_columns(gold, answer) && permuted(&exact(gold), &exact(answer), ordered)
            }
            Scorer::Bird => exact(gold).distinct().same(&exact(answer).distinct()),
            Scorer::Lenient => contained(gold, answer),
        }
    }
}

impl FromStr for Scorer {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known = Scorer::ALL.into_iter().find(|scorer| scorer.name() == text);
        known.ok_or_else(|| format!("no scorer `{text}`; choose strict, spider, bird or lenient"))
    }
}

fn same_columns(gold: &Table, answer: &Table) -> bool {
    gold.width == answer.width && gold.rows.len() == answer.rows.len()
}

/// Numbers as texts of thirteen digits, so that equal means equal and nothing less.
fn exact(table: &Table) -> Table {
    let spelled = |value: &Value| match value {
        Value::Number(number) => Value::Text(format!("number {number:.12e}")),
        Value::Null | Value::Text(_) => value.clone(),
    };
    Table {
        width: table.width,
        rows: table.rows.iter().map(|row| row.iter().map(spelled).collect()).collect(),
    }
}

/// Is there an order of the answer's columns in which its rows are gold's?
fn permuted(gold: &Table, answer: &Table, ordered: bool) -> bool {
    let wanted = if ordered { gold.clone() } else { gold.sorted() };
    let candidates = candidates(gold, answer, false);
    let agrees = |order: &[usize]| {
        let arranged = answer.columns(order);
        let arranged = if ordered { arranged } else { arranged.sorted() };
        wanted.same(&arranged)
    };
    some_order(&candidates, &agrees)
}

/// Are gold's columns among the answer's, with the same rows as a set?
fn contained(gold: &Table, answer: &Table) -> bool {
    let wanted = gold.distinct();
    let candidates = candidates(gold, answer, true);
    let agrees = |order: &[usize]| wanted.same(&answer.columns(order).distinct());
    gold.width <= answer.width && some_order(&candidates, &agrees)
}

/// For each column of gold, the columns of the answer that hold the same values.
fn candidates(gold: &Table, answer: &Table, as_sets: bool) -> Vec<Vec<usize>> {
    let values = |table: &Table, at: usize| {
        let column = Table {
            width: 1,
            rows: table.column(at).into_iter().map(|value| vec![value.clone()]).collect(),
        };
        if as_sets { column.distinct() } else { column.sorted() }
    };
    let answers: Vec<Table> = (0..answer.width).map(|at| values(answer, at)).collect();
    (0..gold.width)
        .map(|at| {
            let wanted = values(gold, at);
            let same = answers.iter().enumerate().filter(|(_, own)| wanted.same(own));
            same.map(|(at, _)| at).collect()
        })
        .collect()
}

/// Tries the orders that `candidates` allow, no column twice.
fn some_order(candidates: &[Vec<usize>], agrees: &dyn Fn(&[usize]) -> bool) -> bool {
    fn go(
        candidates: &[Vec<usize>],
        chosen: &mut Vec<usize>,
        left: &mut usize,
        agrees: &dyn Fn(&[usize]) -> bool,
    ) -> bool {
        let Some(options) = candidates.get(chosen.len()) else {
            *left = left.saturating_sub(1);
            return agrees(chosen);
        };
        for option in options {
            if *left == 0 {
                return false;
            }
            if chosen.contains(option) {
                continue;
            }
            chosen.push(*option);
            let found = go(candidates, chosen, left, agrees);
            chosen.pop();
            if found {
                return true;
            }
        }
        false
    }
    go(candidates, &mut Vec::new(), &mut MOST_ORDERS.clone(), agrees)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    /// `a 1|b 2`: rows by `|`, cells by blanks, numbers as numbers, `-` for NULL.
    fn table(text: &str) -> Table {
        let cell = |cell: &str| match (cell, cell.parse::<f64>()) {
            ("-", _) => Value::Null,
            (_, Ok(number)) => Value::Number(number),
            (text, Err(_)) => Value::Text(text.to_owned()),
        };
        let rows: Vec<Vec<Value>> = text
            .split('|')
            .filter(|row| !row.is_empty())
            .map(|row| row.split(' ').map(cell).collect())
            .collect();
        Table {
            width: rows.first().map_or(1, Vec::len),
            rows,
        }
    }

    //                                                          strict spider bird  lenient
    #[rstest]
    #[case::the_same("a 1|b 2", "a 1|b 2", false, [true, true, true, true])]
    #[case::rows_in_another_order("a 1|b 2", "b 2|a 1", false, [true, true, true, true])]
    #[case::another_order_where_it_matters("a 1|b 2", "b 2|a 1", true, [false, false, true, true])]
    #[case::columns_in_another_order("a 1|b 2", "1 a|2 b", false, [true, true, false, true])]
    #[case::columns_that_look_alike("1 2|2 1|3 3", "2 1|1 2|3 3", true, [true, true, true, true])]
    #[case::columns_swapped_in_some_rows("1 2|3 4", "2 1|3 4", false, [false, false, false, false])]
    #[case::a_row_twice("a|b", "a|b|b", false, [false, false, true, true])]
    #[case::gold_has_a_row_twice("a|a|b", "a|b", false, [false, false, true, true])]
    #[case::a_column_too_many("a|b", "a 1|b 2", false, [false, false, false, true])]
    #[case::a_column_missing("a 1|b 2", "a|b", false, [false, false, false, false])]
    #[case::a_millionth_off("1000000", "1000000.5", false, [true, false, false, true])]
    #[case::a_thousandth_off("1000", "1001", false, [false, false, false, false])]
    #[case::a_number_is_no_text("a 1", "a one", false, [false, false, false, false])]
    #[case::null_is_null("a -", "a -", false, [true, true, true, true])]
    #[case::null_is_not_nought("a -", "a 0", false, [false, false, false, false])]
    #[case::capitals_differ("a", "A", false, [false, false, false, false])]
    #[case::nothing_at_all("", "", false, [true, true, true, true])]
    #[case::nothing_where_something_is("a", "", false, [false, false, false, false])]
    fn results_agree(#[case] gold: &str, #[case] answer: &str, #[case] ordered: bool, #[case] expected: [bool; 4]) {
        let (gold, answer) = (table(gold), table(answer));
        let found = Scorer::ALL.map(|scorer| scorer.agrees(&gold, &answer, ordered));
        assert_eq!(found, expected);
    }
}
