//! The first sentence of a simple answer.

use rstest::rstest;

use crate::support::{run, stderr, stdout};

#[rstest]
#[case::groups(
    "net sales by product line in January 2003",
    "**Net sales: most for Desktops ($432,018.73), least for Accessories ($88,344.97), 7 groups in all** [q1]"
)]
#[case::groups_in_chinese(
    "2003年1月各产品线的净销售额",
    "最高 Desktops ($432,018.73)，最低 Accessories ($88,344.97)，共 7 组** [q1]"
)]
#[case::names("list the product lines", "**7: Notebooks, Desktops, ")]
#[case::leader(
    "top 3 employees by net sales in January 2003",
    "**Alicia Moreno** — Net sales: $135,077.17 in January 2003 [q1]"
)]
#[case::single("return rate in January 2003", "**Return rate: 0.1%** (January 2003) [q1]")]
fn the_first_sentence_tells_the_finding(#[case] question: &str, #[case] lead: &str) {
    let folder = tempfile::tempdir().unwrap();
    let output = run(folder.path(), &["ask", question, "-q"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stdout(&output).contains(lead), "{}", stdout(&output));
}
