//! Customers: a portfolio for every sales representative, in the countries around the office.

use std::collections::BTreeSet;

use super::Cents;
use super::people::{Employee, reps};
use super::random::Dice;

/// Customers that each representative looks after.
const PORTFOLIO: u32 = 15;

/// The first customer's number.
const FIRST_ID: u32 = 101;

/// A company, authority or school that buys.
pub struct Customer {
    pub id: u32,
    pub name: String,
    pub segment: Segment,
    pub city: &'static str,
    pub country: &'static str,
    /// None: pays in advance, has no credit.
    pub credit_limit: Option<Cents>,
    /// The representative whose portfolio it is in; not stored, since the order says who sold it.
    pub rep: u32,
    /// How often it buys, against the others of the portfolio.
    pub weight: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Segment {
    Enterprise,
    SmallBusiness,
    Government,
    Education,
}

impl Segment {
    pub fn name(self) -> &'static str {
        match self {
            Self::Enterprise => "Enterprise",
            Self::SmallBusiness => "Small Business",
            Self::Government => "Government",
            Self::Education => "Education",
        }
    }

    /// Size of an order against the company's usual, in thousandths.
    pub fn basket(self) -> i64 {
        match self {
            Self::Enterprise => 1_250,
            Self::SmallBusiness => 750,
            Self::Government => 1_050,
            Self::Education => 950,
        }
    }

    fn kinds(self) -> &'static [&'static str] {
        match self {
            Self::Enterprise => &[
                "Industries",
                "Logistics",
                "Insurance",
                "Holdings",
                "Pharma",
                "Energy",
                "Airlines",
            ],
            Self::SmallBusiness => &[
                "Design",
                "Bakery",
                "Dental Care",
                "Architects",
                "Travel",
                "Books",
                "Garage",
            ],
            Self::Government => &["City Council", "Water Board", "Transport Authority", "Land Registry"],
            Self::Education => &["University", "College", "School of Arts", "Language School"],
        }
    }
}

const SEGMENTS: [(Segment, u32); 4] = [
    (Segment::Enterprise, 34),
    (Segment::SmallBusiness, 38),
    (Segment::Government, 14),
    (Segment::Education, 14),
];

const STEMS: [&str; 40] = [
    "Northgate",
    "Bluewater",
    "Harbour",
    "Summit",
    "Riverside",
    "Oakfield",
    "Silverline",
    "Redwood",
    "Lakeside",
    "Granite",
    "Meadow",
    "Beacon",
    "Cobalt",
    "Evergreen",
    "Falcon",
    "Goldcrest",
    "Hillcrest",
    "Ironbridge",
    "Juniper",
    "Kingsway",
    "Lighthouse",
    "Maple",
    "Nordstern",
    "Orchard",
    "Pioneer",
    "Quarry",
    "Rosewood",
    "Sterling",
    "Tidewater",
    "Union",
    "Valley",
    "Westbrook",
    "Yellowstone",
    "Zenith",
    "Amber",
    "Birch",
    "Cedar",
    "Dunes",
    "Elm Park",
    "Fairview",
];

/// Where the customers of an office are.
fn territory(office: u32) -> &'static [(&'static str, &'static str)] {
    match office {
        1 => &[
            ("Chicago", "USA"),
            ("New York", "USA"),
            ("Dallas", "USA"),
            ("Seattle", "USA"),
            ("Boston", "USA"),
            ("San José", "Costa Rica"),
            ("Guadalajara", "Mexico"),
        ],
        2 => &[
            ("Toronto", "Canada"),
            ("Montréal", "Canada"),
            ("Vancouver", "Canada"),
            ("São Paulo", "Brazil"),
        ],
        3 => &[
            ("London", "United Kingdom"),
            ("Manchester", "United Kingdom"),
            ("Edinburgh", "United Kingdom"),
            ("Dublin", "Ireland"),
            ("Amsterdam", "Netherlands"),
        ],
        4 => &[
            ("Paris", "France"),
            ("Lyon", "France"),
            ("Marseille", "France"),
            ("Madrid", "Spain"),
            ("Milano", "Italy"),
            ("Bruxelles", "Belgium"),
        ],
        5 => &[
            ("Berlin", "Germany"),
            ("München", "Germany"),
            ("Hamburg", "Germany"),
            ("Wien", "Austria"),
            ("Zürich", "Switzerland"),
            ("Kraków", "Poland"),
            ("Malmö", "Sweden"),
        ],
        6 => &[
            ("Tokyo", "Japan"),
            ("Osaka", "Japan"),
            ("Nagoya", "Japan"),
            ("Seoul", "South Korea"),
            ("Shanghai", "China"),
            ("Beijing", "China"),
            ("Singapore", "Singapore"),
        ],
        _ => &[
            ("Sydney", "Australia"),
            ("Melbourne", "Australia"),
            ("Perth", "Australia"),
            ("Auckland", "New Zealand"),
        ],
    }
}

/// All customers, by number; portfolio by portfolio.
pub fn customers() -> Vec<Customer> {
    let mut taken = BTreeSet::new();
    let seats = reps().flat_map(|(rep, _)| (0..PORTFOLIO).map(move |seat| (rep, seat)));
    (FIRST_ID..)
        .zip(seats)
        .filter_map(|(id, (rep, seat))| customer(id, rep, seat, &mut taken))
        .collect()
}

fn customer(id: u32, rep: &Employee, seat: u32, taken: &mut BTreeSet<String>) -> Option<Customer> {
    let mut dice = Dice::of(&[b'c'.into(), id.into()]);
    let segment = dice.weighted(&SEGMENTS, |s| s.1)?.0;
    let (city, country) = *dice.pick(territory(rep.office))?;
    // 40 stems and 22 kinds give 880 names for 240 customers: a free one is found soon.
    let name = loop {
        let name = format!("{} {}", dice.pick(&STEMS)?, dice.pick(segment.kinds())?);
        if taken.insert(name.clone()) {
            break name;
        }
    };
    let credit_limit = (!dice.chance(80)).then(|| dice.between(10, 120) * 100_000 * segment.basket() / 1_000);
    Some(Customer {
        id,
        name,
        segment,
        city,
        country,
        credit_limit,
        rep: rep.id,
        weight: 26 - seat,
    })
}
