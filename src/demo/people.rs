//! Offices and employees: fixed, because the traps speak of them by name.

use jiff::civil::{Date, date};

/// A sales office.
pub struct Office {
    pub id: u32,
    pub city: &'static str,
    pub country: &'static str,
    pub region: &'static str,
    pub opened: Date,
}

pub static OFFICES: [Office; 7] = [
    office(1, "Chicago", "USA", "Americas", date(1996, 3, 4)),
    office(2, "Toronto", "Canada", "Americas", date(1998, 9, 1)),
    office(3, "London", "United Kingdom", "Europe", date(1997, 5, 12)),
    office(4, "Paris", "France", "Europe", date(1999, 1, 11)),
    office(5, "Berlin", "Germany", "Europe", date(2000, 6, 5)),
    office(6, "Tokyo", "Japan", "Asia-Pacific", date(1999, 10, 4)),
    office(7, "Sydney", "Australia", "Asia-Pacific", date(2001, 2, 5)),
];

/// How an employee sells. What cannot be seen in the database, only in its orders.
pub struct Selling {
    /// Orders on an ordinary weekday of 2004, in thousandths.
    pub pace: i64,
    /// Size of an order against the company's usual, in thousandths.
    pub basket: i64,
    /// Monthly target against what is to be expected, in thousandths.
    pub ambition: i64,
}

/// Somebody on the payroll.
pub struct Employee {
    pub id: u32,
    pub first: &'static str,
    pub last: &'static str,
    pub title: &'static str,
    pub office: u32,
    pub manager: Option<u32>,
    pub hired: Date,
    pub left: Option<Date>,
    pub selling: Option<Selling>,
}

pub static EMPLOYEES: [Employee; 23] = [
    staff(1, "Margaret", "Ellis", "President", 1, None, date(1996, 3, 4)),
    staff(2, "Daniel", "Okafor", "VP Sales", 1, Some(1), date(1997, 8, 18)),
    staff(
        3,
        "Laura",
        "Whitfield",
        "Sales Manager (Americas)",
        1,
        Some(2),
        date(1998, 4, 6),
    ),
    staff(
        4,
        "Philippe",
        "Garnier",
        "Sales Manager (Europe)",
        4,
        Some(2),
        date(1999, 1, 11),
    ),
    staff(
        5,
        "Naomi",
        "Fujita",
        "Sales Manager (Asia-Pacific)",
        6,
        Some(2),
        date(1999, 10, 4),
    ),
    staff(6, "Ruth", "Adeyemi", "Sales Analyst", 1, Some(2), date(2001, 7, 2)),
    rep(7, "Kevin", "Brandt", 1, 3, date(1999, 2, 15), 900, 1_000, 1_020),
    rep(8, "Alicia", "Moreno", 1, 3, date(2000, 5, 8), 1_250, 1_060, 1_000),
    rep(9, "Samuel", "Price", 1, 3, date(2001, 11, 5), 760, 960, 980),
    rep(10, "Grace", "Chen", 2, 3, date(2000, 9, 11), 1_060, 980, 960),
    rep(11, "Peter", "Lindqvist", 2, 3, date(2001, 4, 2), 940, 1_000, 1_000),
    rep(12, "Oliver", "Hughes", 3, 4, date(1998, 10, 19), 940, 1_000, 1_030),
    rep(13, "Emma", "Clarke", 3, 4, date(2001, 3, 26), 1_000, 1_080, 1_010),
    rep(14, "Camille", "Laurent", 4, 4, date(2000, 1, 17), 1_080, 1_040, 950),
    rep(15, "Julien", "Moreau", 4, 4, date(2001, 6, 18), 1_120, 1_000, 1_000),
    rep(16, "Amélie", "Rousseau", 4, 4, date(2004, 9, 1), 700, 940, 900),
    rep(17, "Jonas", "Weber", 5, 4, date(2000, 6, 5), 980, 1_020, 1_000),
    Employee {
        left: Some(date(2005, 6, 10)),
        ..rep(18, "Katrin", "Vogel", 5, 4, date(2001, 9, 3), 820, 1_000, 1_000)
    },
    rep(19, "Kenji", "Sato", 6, 5, date(1999, 10, 4), 1_140, 1_020, 990),
    rep(20, "Haruka", "Ito", 6, 5, date(2002, 4, 1), 880, 1_000, 970),
    rep(21, "Wei", "Chen", 7, 5, date(2001, 2, 5), 960, 1_040, 1_040),
    rep(22, "Jack", "Morrison", 7, 5, date(2002, 8, 12), 720, 980, 1_000),
    staff(23, "Ingrid", "Solberg", "Sales Support", 3, Some(4), date(2003, 2, 10)),
];

/// Employees who sell.
pub fn reps() -> impl Iterator<Item = (&'static Employee, &'static Selling)> {
    EMPLOYEES
        .iter()
        .filter_map(|person| Some((person, person.selling.as_ref()?)))
}

const fn office(id: u32, city: &'static str, country: &'static str, region: &'static str, opened: Date) -> Office {
    Office {
        id,
        city,
        country,
        region,
        opened,
    }
}

const fn staff(
    id: u32,
    first: &'static str,
    last: &'static str,
    title: &'static str,
    office: u32,
    manager: Option<u32>,
    hired: Date,
) -> Employee {
    Employee {
        id,
        first,
        last,
        title,
        office,
        manager,
        hired,
        left: None,
        selling: None,
    }
}

#[expect(clippy::too_many_arguments, reason = "one row of the table above")]
const fn rep(
    id: u32,
    first: &'static str,
    last: &'static str,
    office: u32,
    manager: u32,
    hired: Date,
    pace: i64,
    basket: i64,
    ambition: i64,
) -> Employee {
    let selling = Some(Selling { pace, basket, ambition });
    Employee {
        selling,
        ..staff(id, first, last, "Sales Representative", office, Some(manager), hired)
    }
}
