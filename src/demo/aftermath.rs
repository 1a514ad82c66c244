//! What follows from the orders, and what was planned: payments, returns, monthly targets.

use jiff::ToSpan;
use jiff::civil::Date;

use super::people::{Employee, Selling, reps};
use super::random::Dice;
use super::trade::{Item, Order, Status, growth, later, season};
use super::{Cents, FIRST_DAY, LAST_DAY};

/// Order lines that come back, in thousandths.
const RETURNED: u32 = 24;

/// Orders that are paid in two parts, in thousandths: joining payments to orders multiplies rows.
const IN_TWO_PARTS: u32 = 170;

/// A day's sales of a representative with a pace of 1 order a day and usual baskets, in cents; what targets rest on.
const USUAL_DAY: i64 = 700_000;

/// Working days in a month, in tenths.
const WORKING_DAYS: i64 = 215;

/// Targets are whole thousands of dollars.
const TARGET_STEP: Cents = 100_000;

const METHODS: [(&str, u32); 3] = [("Bank Transfer", 62), ("Credit Card", 26), ("Cheque", 12)];

const REASONS: [(&str, u32); 4] = [
    ("Defective", 34),
    ("Damaged in Transit", 22),
    ("Wrong Item", 24),
    ("Not Needed", 20),
];

pub struct Payment {
    pub order: u32,
    pub day: Date,
    pub amount: Cents,
    pub method: &'static str,
}

pub struct Return {
    pub item: u32,
    pub day: Date,
    pub quantity: i64,
    pub refund: Cents,
    pub reason: &'static str,
}

pub struct Target {
    pub employee: u32,
    pub month: Date,
    pub amount: Cents,
}

/// All payments up to the last day, by date. Cancelled orders are not paid for.
pub fn payments(orders: &[Order]) -> Vec<Payment> {
    let mut payments: Vec<Payment> = Vec::with_capacity(orders.len());
    for order in orders.iter().filter(|order| order.status != Status::Cancelled) {
        let mut dice = Dice::of(&[b'p'.into(), order.id.into()]);
        let method = dice.weighted(&METHODS, |m| m.1).map_or("", |m| m.0);
        let day = later(order.day, dice.between(2, 40));
        let first = if dice.chance(IN_TWO_PARTS) {
            order.total() / 2
        } else {
            order.total()
        };
        payments.push(Payment {
            order: order.id,
            day,
            amount: first,
            method,
        });
        if first < order.total() {
            payments.push(Payment {
                order: order.id,
                day: later(day, 30),
                amount: order.total() - first,
                method,
            });
        }
    }
    payments.retain(|payment| payment.day <= LAST_DAY);
    payments.sort_by_key(|payment| (payment.day, payment.order));
    payments
}

/// All returns up to the last day, by date. Only what was shipped comes back.
pub fn returns(orders: &[Order]) -> Vec<Return> {
    let mut returns: Vec<Return> = Vec::new();
    for order in orders {
        let Some(shipped) = order.shipped else { continue };
        if let (Some(day), Some(item)) = (order.first_item_back, order.items.first()) {
            let (quantity, refund) = (item.quantity, item.total);
            returns.push(Return {
                item: item.id,
                day,
                quantity,
                refund,
                reason: "Wrong Item",
            });
            continue;
        }
        returns.extend(
            order
                .items
                .iter()
                .filter_map(|item| chance_return(item, shipped))
                .filter(|back| {
                    // The office, and not somebody who has left, answers for what comes back later; it is booked elsewhere.
                    back.day <= LAST_DAY && leaving_day(order).is_none_or(|left| back.day <= left)
                }),
        );
    }
    returns.sort_by_key(|back| (back.day, back.item));
    returns
}

fn chance_return(item: &Item, shipped: Date) -> Option<Return> {
    let mut dice = Dice::of(&[b'r'.into(), item.id.into()]);
    if !dice.chance(RETURNED) {
        return None;
    }
    let quantity = if dice.chance(550) {
        item.quantity
    } else {
        dice.between(1, item.quantity)
    };
    let refund = (item.total * quantity * 2 + item.quantity) / (item.quantity * 2);
    let day = later(shipped, dice.between(5, 30));
    let reason = dice.weighted(&REASONS, |r| r.1).map_or("", |r| r.0);
    Some(Return {
        item: item.id,
        day,
        quantity,
        refund,
        reason,
    })
}

fn leaving_day(order: &Order) -> Option<Date> {
    reps()
        .find(|(rep, _)| Some(rep.id) == order.employee)
        .and_then(|(rep, _)| rep.left)
}

/// A target for every representative and month of service, December 2005 as a whole month included.
pub fn targets() -> Vec<Target> {
    FIRST_DAY
        .series(1.month())
        .take_while(|month| *month <= LAST_DAY)
        .flat_map(|month| reps().filter_map(move |(rep, selling)| target(rep, selling, month)))
        .collect()
}

fn target(rep: &Employee, selling: &Selling, month: Date) -> Option<Target> {
    let serves = rep.hired <= month.last_of_month() && rep.left.is_none_or(|left| left >= month);
    let factors = [
        selling.pace,
        selling.basket,
        season(month),
        growth(month),
        selling.ambition,
    ];
    let expected = factors
        .iter()
        .fold(USUAL_DAY * WORKING_DAYS / 10, |amount, factor| amount * factor / 1_000);
    let amount = (expected + TARGET_STEP / 2) / TARGET_STEP * TARGET_STEP;
    serves.then_some(Target {
        employee: rep.id,
        month,
        amount,
    })
}
