//! Who buys what when: day after day, every seller's orders.

use jiff::ToSpan;
use jiff::civil::{Date, Weekday};

use super::customers::Customer;
use super::goods::{LINES, Product, price_in};
use super::people::{Employee, Selling, reps};
use super::random::Dice;
use super::traps::{STAGED, Staged, bend, is_outage};
use super::{Cents, FIRST_DAY, LAST_DAY};

/// The first order's number.
const FIRST_ID: u32 = 10_001;

/// Orders that come over the web on an ordinary day of 2004, in thousandths: they have no employee.
const WEB: Selling = Selling {
    pace: 1_050,
    basket: 600,
    ambition: 0,
};

/// In thousandths of all orders.
const CANCELLED: u32 = 28;
const ON_HOLD: u32 = 4;
const LATE: u32 = 60;

/// Number of lines of an order, and how often.
const LINES_PER_ORDER: [(usize, u32); 8] = [(1, 14), (2, 21), (3, 22), (4, 17), (5, 12), (6, 7), (7, 4), (8, 3)];

/// Discount in percent, and how often.
const DISCOUNTS: [(i64, u32); 4] = [(0, 62), (5, 22), (10, 12), (15, 4)];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    InProcess,
    OnHold,
    Shipped,
    Cancelled,
}

impl Status {
    pub fn name(self) -> &'static str {
        match self {
            Self::InProcess => "In Process",
            Self::OnHold => "On Hold",
            Self::Shipped => "Shipped",
            Self::Cancelled => "Cancelled",
        }
    }
}

pub struct Order {
    pub id: u32,
    pub customer: u32,
    /// None: came over the web.
    pub employee: Option<u32>,
    pub day: Date,
    pub required: Date,
    pub shipped: Option<Date>,
    pub status: Status,
    pub items: Vec<Item>,
    /// When all of the first item comes back (staged).
    pub first_item_back: Option<Date>,
}

impl Order {
    pub fn total(&self) -> Cents {
        self.items.iter().map(|item| item.total).sum()
    }
}

pub struct Item {
    pub id: u32,
    pub product: u32,
    pub quantity: i64,
    pub unit_price: Cents,
    pub discount_percent: i64,
    /// Quantity times price less discount, rounded to the cent once, here.
    pub total: Cents,
}

/// Everything that can be bought, and everybody who buys.
pub struct Market<'a> {
    pub customers: &'a [Customer],
    pub products: &'a [Product],
}

/// One source of orders: a representative, or the web.
struct Seller {
    employee: Option<&'static Employee>,
    selling: &'static Selling,
    dice: Dice,
    /// Orders due and distance to the next one, in thousandths of an order.
    due: i64,
    gap: i64,
}

/// All orders, in order of date and number.
pub fn orders(market: &Market) -> Vec<Order> {
    let mut sellers: Vec<Seller> = reps().map(|(rep, selling)| Seller::new(Some(rep), selling)).collect();
    sellers.push(Seller::new(None, &WEB));
    let mut orders = Vec::new();
    for day in FIRST_DAY
        .series(1.day())
        .take_while(|day| *day <= LAST_DAY)
        .filter(|day| !is_outage(*day))
    {
        let mut today: Vec<Order> = sellers
            .iter_mut()
            .flat_map(|seller| seller.orders(market, day))
            .collect();
        today.extend(
            STAGED
                .iter()
                .filter(|s| s.day == day)
                .filter_map(|s| staged_order(market, s)),
        );
        Dice::of(&[b'd'.into(), number(day)]).shuffle(&mut today);
        orders.append(&mut today);
    }
    for (id, order) in (FIRST_ID..).zip(&mut orders) {
        order.id = id;
    }
    for (id, item) in (1..).zip(orders.iter_mut().flat_map(|order| &mut order.items)) {
        item.id = id;
    }
    orders
}

impl Seller {
    fn new(employee: Option<&'static Employee>, selling: &'static Selling) -> Self {
        let mut dice = Dice::of(&[b's'.into(), employee.map_or(0, |e| e.id.into())]);
        let gap = dice.between(0, 1_000);
        Self {
            employee,
            selling,
            dice,
            due: 0,
            gap,
        }
    }

    fn orders(&mut self, market: &Market, day: Date) -> Vec<Order> {
        self.due += self.pace_on(day);
        let mut count = 0;
        while self.due >= self.gap {
            self.due -= self.gap;
            self.gap = self.dice.between(500, 1_500);
            count += 1;
        }
        // The web never sleeps: so days without any order are outages and nothing else.
        let least = if self.employee.is_none() { 1 } else { 0 };
        (0..count.max(least))
            .filter_map(|nth| self.order(market, day, nth))
            .collect()
    }

    /// Orders to be expected on that day, in thousandths.
    fn pace_on(&self, day: Date) -> i64 {
        let gone = self
            .employee
            .is_some_and(|e| day < e.hired || e.left.is_some_and(|left| day > left));
        if gone {
            return 0;
        }
        let who = self.employee.map_or(0, |e| e.id);
        let form = Dice::of(&[b'f'.into(), who.into(), number(day.first_of_month())]).between(920, 1_080);
        let weekday = if self.employee.is_some() {
            rep_weekday(day)
        } else {
            web_weekday(day)
        };
        let factors = [season(day), growth(day), weekday, form, bend(who, day)];
        factors
            .iter()
            .fold(self.selling.pace * 1_000, |pace, factor| pace * factor / 1_000)
            / 1_000
    }

    fn order(&self, market: &Market, day: Date, nth: u64) -> Option<Order> {
        let who = self.employee.map_or(0, |e| e.id);
        let mut dice = Dice::of(&[b'o'.into(), who.into(), number(day), nth]);
        let customer = self.customer(market, day, &mut dice)?;
        let basket = self.selling.basket * customer.segment.basket() / 1_000;
        let most = if self.employee.is_some() { 8 } else { 4 };
        let items = items(market, day, basket, most, &mut dice);
        // A day's first web order stands, so that no day is empty but for its cancelled orders.
        let may_fail = self.employee.is_some() || nth > 0;
        let cancelled = dice.chance(CANCELLED) && may_fail;
        Some(finish(day, customer.id, self.employee, items, cancelled, &mut dice))
    }

    fn customer<'a>(&self, market: &'a Market, day: Date, dice: &mut Dice) -> Option<&'a Customer> {
        let is_mine = |customer: &&Customer| match self.employee {
            None => true,
            Some(own) if customer.rep == own.id => true,
            Some(own) => inherits(own, customer.rep, day),
        };
        let mine: Vec<&Customer> = market.customers.iter().filter(is_mine).collect();
        dice.weighted(&mine, |customer| customer.weight).copied()
    }
}

/// Does `heir` look after `rep`'s customers on that day, since `rep` has left? The next of the same office does.
fn inherits(heir: &Employee, rep: u32, day: Date) -> bool {
    let left = reps().map(|(other, _)| other).find(|other| other.id == rep);
    left.is_some_and(|other| other.left.is_some_and(|left| day > left) && other.office == heir.office)
}

fn staged_order(market: &Market, staged: &Staged) -> Option<Order> {
    let employee = reps().map(|(rep, _)| rep).find(|rep| rep.id == staged.employee)?;
    let customer = market
        .customers
        .iter()
        .find(|customer| customer.rep == staged.employee)?;
    let lines = staged.lines.iter().filter_map(|(id, quantity, discount)| {
        let product = market.products.iter().find(|product| product.id == *id)?;
        Some(item(product, staged.day, *quantity, *discount))
    });
    let mut dice = Dice::of(&[b'x'.into(), number(staged.day)]);
    let order = finish(
        staged.day,
        customer.id,
        Some(employee),
        lines.collect(),
        staged.cancelled,
        &mut dice,
    );
    let status = if staged.cancelled {
        Status::Cancelled
    } else {
        Status::Shipped
    };
    Some(Order {
        status,
        first_item_back: staged.first_line_back,
        ..order
    })
}

/// Delivery and status of an order whose items are known; its number comes later.
fn finish(
    day: Date,
    customer: u32,
    employee: Option<&Employee>,
    items: Vec<Item>,
    cancelled: bool,
    dice: &mut Dice,
) -> Order {
    let required = later(day, dice.between(7, 14));
    let on_the_way = if dice.chance(LATE) {
        dice.between(10, 20)
    } else {
        dice.between(1, 6)
    };
    let on_hold = dice.chance(ON_HOLD);
    let shipped = Some(later(day, on_the_way)).filter(|shipped| *shipped <= LAST_DAY && !on_hold && !cancelled);
    let status = match shipped {
        _ if cancelled => Status::Cancelled,
        _ if on_hold => Status::OnHold,
        Some(_) => Status::Shipped,
        None => Status::InProcess,
    };
    let employee = employee.map(|e| e.id);
    Order {
        id: 0,
        customer,
        employee,
        day,
        required,
        shipped,
        status,
        items,
        first_item_back: None,
    }
}

fn items(market: &Market, day: Date, basket: i64, most: usize, dice: &mut Dice) -> Vec<Item> {
    let count = dice.weighted(&LINES_PER_ORDER, |l| l.1).map_or(1, |l| l.0.min(most));
    let mut chosen: Vec<Item> = Vec::with_capacity(count);
    while chosen.len() < count {
        let Some(line) = dice.weighted(&LINES, |line| line.popularity_on(day)) else {
            break;
        };
        let of_line: Vec<&Product> = market
            .products
            .iter()
            .filter(|product| product.line == line.id)
            .collect();
        let Some(product) = dice.weighted(&of_line, |product| product.popularity) else {
            break;
        };
        let (low, high) = line.quantity;
        let quantity = (dice.between(low, high) * basket + 500) / 1_000;
        let discount = dice.weighted(&DISCOUNTS, |d| d.1).map_or(0, |d| d.0);
        if chosen.iter().all(|other| other.product != product.id) {
            chosen.push(item(product, day, quantity.max(1), discount));
        }
    }
    chosen
}

fn item(product: &Product, day: Date, quantity: i64, discount_percent: i64) -> Item {
    let unit_price = price_in(day.year(), product.list_price);
    let total = (quantity * unit_price * (100 - discount_percent) + 50) / 100;
    Item {
        id: 0,
        product: product.id,
        quantity,
        unit_price,
        discount_percent,
        total,
    }
}

/// The month against the year's mean, in thousandths: a dip in August, a peak before Christmas.
pub fn season(day: Date) -> i64 {
    match day.month() {
        1 => 890,
        2 => 910,
        3 => 980,
        4 => 960,
        5 => 980,
        6 => 1_010,
        7 => 950,
        8 => 870,
        9 => 1_030,
        10 => 1_090,
        11 => 1_300,
        _ => 1_230,
    }
}

/// The company grows month by month, in thousandths of early 2004.
pub fn growth(day: Date) -> i64 {
    let month = i64::from(day.year() - 2003) * 12 + i64::from(day.month()) - 1;
    740 + 11 * month
}

fn rep_weekday(day: Date) -> i64 {
    match (day.month(), day.day(), day.weekday()) {
        (1, 1, _) | (12, 25, _) => 0,
        (_, _, Weekday::Saturday) => 90,
        (_, _, Weekday::Sunday) => 30,
        (12, 24 | 26 | 31, _) => 300,
        (_, _, Weekday::Monday) => 1_040,
        (_, _, Weekday::Tuesday) => 1_090,
        (_, _, Weekday::Wednesday) => 1_060,
        (_, _, Weekday::Thursday) => 1_000,
        (_, _, Weekday::Friday) => 810,
    }
}

fn web_weekday(day: Date) -> i64 {
    match day.weekday() {
        Weekday::Saturday => 700,
        Weekday::Sunday => 600,
        _ => 1_000,
    }
}

/// `days` after `day`.
pub fn later(day: Date, days: i64) -> Date {
    day.saturating_add(days.days())
}

/// A number of its own for each day, as a key for dice.
pub fn number(day: Date) -> u64 {
    u64::try_from(i64::from(day.year()) * 10_000 + i64::from(day.month()) * 100 + i64::from(day.day())).unwrap_or(0)
}
