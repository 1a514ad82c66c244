//! What is staged: the events that a careful analyst finds and a careless one trips over.
//!
//! Each is written down with its exact values in `fixtures/sales/README.md`. Traps that are no event stand where they
//! belong: the shift between product lines in [`super::goods`], the leaver and the shared last name in
//! [`super::people`].

use jiff::civil::{Date, date};

/// No order could be entered on these days: Tuesday to Thursday, in the middle of a month.
const OUTAGE: [Date; 3] = [date(2005, 8, 16), date(2005, 8, 17), date(2005, 8, 18)];

/// Julien Moreau, whose orders stop after the first week of August 2005.
const COLLAPSING: u32 = 15;
const COLLAPSE: Date = date(2005, 8, 5);

/// An order that is put in by hand, on top of those that chance makes.
pub struct Staged {
    pub day: Date,
    pub employee: u32,
    pub cancelled: bool,
    /// When all of its first line comes back.
    pub first_line_back: Option<Date>,
    /// Product, quantity, discount in percent.
    pub lines: &'static [(u32, i64, i64)],
}

pub static STAGED: [Staged; 3] = [
    // Emma Clarke's good July turns into a bad August: the workstations come back.
    Staged {
        day: date(2005, 7, 26),
        employee: 13,
        cancelled: false,
        first_line_back: Some(date(2005, 8, 22)),
        lines: &[(16, 24, 5), (18, 24, 5)],
    },
    // Would make Oliver Hughes the second best of August, if cancelled orders counted.
    Staged {
        day: date(2005, 8, 11),
        employee: 12,
        cancelled: true,
        first_line_back: None,
        lines: &[(2, 60, 10), (56, 60, 10), (18, 60, 10)],
    },
    // Makes Peter Lindqvist the best of August.
    Staged {
        day: date(2005, 8, 23),
        employee: 11,
        cancelled: false,
        first_line_back: None,
        lines: &[(2, 120, 10), (56, 120, 10), (18, 120, 10), (48, 4, 10)],
    },
];

/// Could nobody enter an order on that day?
pub fn is_outage(day: Date) -> bool {
    OUTAGE.contains(&day)
}

/// How an employee's pace on that day is bent, in thousandths of the usual.
pub fn bend(employee: u32, day: Date) -> i64 {
    if employee != COLLAPSING || day < COLLAPSE {
        return 1_000;
    }
    match (day.year(), day.month()) {
        (2005, 8) => 0,
        (2005, 9) => 600,
        (2005, 10) => 850,
        _ => 1_000,
    }
}
