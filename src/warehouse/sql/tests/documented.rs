//! What docs/sql.md says of each lint is so: its first example has the lint, and what it proposes instead has not.

use super::fixture::codes;

/// The codes that have a section of their own, with the two statements of its example.
fn sections() -> Vec<(String, String, String)> {
    let page = include_str!("../../../../docs/sql.md");
    let (_, lints) = page.split_once("\n## Lints\n").unwrap();
    let (lints, _) = lints.split_once("\n## ").unwrap();
    let sections = lints.split("\n### `").skip(1);
    sections
        .map(|section| {
            let (code, body) = section.split_once("`\n").unwrap();
            let (_, block) = body
                .split_once("```sql\n")
                .unwrap_or_else(|| panic!("{code} has no example"));
            let (block, _) = block.split_once("```").unwrap();
            let (wrong, right) = block.split_once("-- instead\n").unwrap();
            (code.to_owned(), wrong.to_owned(), right.to_owned())
        })
        .collect()
}

#[test]
fn each_lint_has_an_example_and_a_way_out_that_hold() {
    let sections = sections();
    assert_eq!(sections.len(), 12);
    for (code, wrong, right) in sections {
        let of = |sql: &str| {
            let found = codes(sql);
            found
                .into_iter()
                .filter(|lint| lint.ends_with(&format!(" {code}")))
                .count()
        };
        assert!(of(&wrong) > 0, "{code} is not found in {wrong}");
        assert_eq!(of(&right), 0, "{code} is found in {right}");
    }
}
