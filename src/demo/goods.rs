//! Product lines, products and prices, and what customers like at which time.

use jiff::civil::{Date, date};

use super::Cents;

/// A product line.
pub struct Line {
    pub id: u32,
    pub name: &'static str,
    pub description: &'static str,
    /// How often it is in an order, until the shift and after it.
    popularity: (u32, u32),
    /// Usual smallest and largest quantity of an order line.
    pub quantity: (i64, i64),
}

/// Months over which notebooks take the place of desktops (trap: a product line shifts).
const SHIFT: [Date; 3] = [date(2005, 7, 1), date(2005, 8, 1), date(2005, 9, 1)];

pub static LINES: [Line; 7] = [
    line(
        1,
        "Notebooks",
        "Portable computers for office, travel and rough work",
        (12, 27),
        (1, 4),
    ),
    line(2, "Desktops", "Office computers and workstations", (19, 7), (1, 6)),
    line(3, "Monitors", "Flat screens from 15 to 30 inches", (16, 16), (2, 8)),
    line(
        4,
        "Printers",
        "Ink, laser, label and multi-function printers",
        (12, 11),
        (1, 4),
    ),
    line(
        5,
        "Networking",
        "Switches, routers, wireless and firewalls",
        (12, 12),
        (2, 10),
    ),
    line(6, "Storage", "Disks, tapes and network storage", (13, 12), (2, 8)),
    line(
        7,
        "Accessories",
        "Keyboards, bags, cables and other small things",
        (16, 15),
        (5, 40),
    ),
];

impl Line {
    /// How often the line is in an order of that day, against the other lines' figures.
    pub fn popularity_on(&self, day: Date) -> u32 {
        let (before, after) = self.popularity;
        let begun = u32::try_from(SHIFT.iter().filter(|start| **start <= day).count()).unwrap_or(0);
        let steps = u32::try_from(SHIFT.len()).unwrap_or(1);
        before * (steps - begun) + after * begun
    }
}

/// A product.
pub struct Product {
    pub id: u32,
    pub line: u32,
    pub name: &'static str,
    pub list_price: Cents,
    pub unit_cost: Cents,
    /// How often it is bought, against the other products of its line.
    pub popularity: u32,
}

/// Line, name and list price in cents; within a line the most popular first.
#[expect(clippy::inconsistent_digit_grouping, reason = "the last two digits are cents")]
const CATALOGUE: [(u32, &str, Cents); 56] = [
    (1, "Swift 12 Notebook", 1_049_00),
    (1, "Swift 14 Notebook", 1_199_00),
    (1, "Swift 10 Notebook", 899_00),
    (1, "Terra 14 Notebook", 1_349_00),
    (1, "Swift 15 Pro Notebook", 1_549_00),
    (1, "Lumen 13 Notebook", 1_749_00),
    (1, "Terra 15 Rugged Notebook", 2_199_00),
    (1, "Lumen 17 Studio Notebook", 2_399_00),
    (2, "Block M Desktop", 649_00),
    (2, "Block S Desktop", 549_00),
    (2, "Block L Desktop", 799_00),
    (2, "Slim One Desktop", 729_00),
    (2, "Tower 200 Desktop", 929_00),
    (2, "Slim Two Desktop", 869_00),
    (2, "Tower 300 Desktop", 1_149_00),
    (2, "Tower 400 Workstation", 1_599_00),
    (3, "View 17 Monitor", 259_00),
    (3, "View 19 Monitor", 349_00),
    (3, "View 15 Monitor", 189_00),
    (3, "View 20 Wide Monitor", 449_00),
    (3, "View 17 Touch Monitor", 529_00),
    (3, "View 23 Wide Monitor", 649_00),
    (3, "View 19 Touch Monitor", 689_00),
    (3, "View 30 Studio Monitor", 1_299_00),
    (4, "Laser 20 Duplex Printer", 329_00),
    (4, "Laser 10 Printer", 199_00),
    (4, "Multi 30 Printer", 449_00),
    (4, "Laser 40 Colour Printer", 599_00),
    (4, "Ink 200 Photo Printer", 149_50),
    (4, "Label 5 Printer", 129_95),
    (4, "Ink 100 Printer", 89_95),
    (4, "Laser 60 Workgroup Printer", 1_199_00),
    (5, "Switch 16", 149_00),
    (5, "Switch 8", 59_95),
    (5, "Wireless Access Point", 119_00),
    (5, "Router 100", 89_95),
    (5, "Switch 24 Managed", 399_00),
    (5, "Router 400 Branch", 549_00),
    (5, "Switch 5", 39_95),
    (5, "Firewall 50", 689_00),
    (6, "Disk 160", 109_00),
    (6, "Disk 80", 79_90),
    (6, "Disk 250 External", 169_00),
    (6, "USB Stick 512", 49_95),
    (6, "NAS 500", 599_00),
    (6, "Tape 40 Drive", 499_00),
    (6, "NAS 1000", 999_00),
    (6, "Disk Array 4", 1_899_00),
    (7, "Optical Mouse", 14_50),
    (7, "Office Keyboard", 19_90),
    (7, "Notebook Bag", 34_95),
    (7, "Patch Cable 3 m", 7_45),
    (7, "Headset", 27_50),
    (7, "Surge Protector", 22_95),
    (7, "Ergonomic Keyboard", 49_00),
    (7, "Docking Station", 129_00),
];

/// All products, with ids in the order of the catalogue.
pub fn products() -> Vec<Product> {
    (1..)
        .zip(CATALOGUE)
        .map(|(id, (line, name, list_price))| {
            let rank_in_line = (id - 1) % 8;
            Product {
                id,
                line,
                name,
                list_price,
                unit_cost: list_price * i64::from(61 + (id * 7) % 17) / 100,
                popularity: 18 - rank_in_line * 3 / 2,
            }
        })
        .collect()
}

/// What a piece costs in that year: list prices are those of 2005, and hardware becomes cheaper.
pub fn price_in(year: i16, list_price: Cents) -> Cents {
    let percent = match year {
        ..=2003 => 104,
        2004 => 102,
        _ => 100,
    };
    (list_price * percent + 50) / 100
}

const fn line(
    id: u32,
    name: &'static str,
    description: &'static str,
    popularity: (u32, u32),
    quantity: (i64, i64),
) -> Line {
    Line {
        id,
        name,
        description,
        popularity,
        quantity,
    }
}
