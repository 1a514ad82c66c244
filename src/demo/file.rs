//! Rows into one SQLite file, whole or not at all.

use std::path::Path;

use rusqlite::{Connection, ToSql, params};

use super::aftermath::{payments, returns, targets};
use super::customers::{Customer, customers};
use super::goods::{LINES, Product, products};
use super::people::{EMPLOYEES, OFFICES};
use super::trade::{Market, Order, orders};
use super::{Cents, DemoError, Existing, VERSION};
use crate::whole_file::{self, Readers};

/// "ANLY" in SQLite's header says whose file this is.
pub const APPLICATION_ID: u32 = 0x414E_4C59;

const SCHEMA: &str = include_str!("schema.sql");
/// Made after the rows are in, which is twice as fast.
const INDEXES: &str = include_str!("indexes.sql");

/// Writes the database beside `path` and renames it when it is complete.
pub fn write(path: &Path, existing: Existing) -> Result<(), DemoError> {
    let wanted = || path.to_path_buf();
    if path.is_dir() {
        return Err(DemoError::IsFolder { path: wanted() });
    }
    if existing == Existing::Refuse && path.symlink_metadata().is_ok() {
        return Err(DemoError::Exists { path: wanted() });
    }
    let place = |source| DemoError::Place { path: wanted(), source };
    // It holds no secret.
    let unfinished = whole_file::beside(path, Readers::AsUsual)
        .map_err(place)?
        .into_temp_path();
    fill(&unfinished).map_err(|source| DemoError::Fill { path: wanted(), source })?;
    match existing {
        Existing::Replace => unfinished.persist(path).map_err(|e| place(e.error)),
        Existing::Refuse => unfinished.persist_noclobber(path).map_err(|e| match e.error.kind() {
            std::io::ErrorKind::AlreadyExists => DemoError::Exists { path: wanted() },
            _ => place(e.error),
        }),
    }
}

fn fill(path: &Path) -> rusqlite::Result<()> {
    let mut connection = Connection::open(path)?;
    // Nobody sees the file before it is complete, so a journal would only cost time.
    connection.execute_batch("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA foreign_keys = OFF;")?;
    connection.pragma_update(None, "application_id", APPLICATION_ID)?;
    connection.pragma_update(None, "user_version", VERSION)?;
    let transaction = connection.transaction()?;
    transaction.execute_batch(SCHEMA)?;
    let (customers, products) = (customers(), products());
    let orders = orders(&Market {
        customers: &customers,
        products: &products,
    });
    insert_company(&transaction)?;
    insert_market(&transaction, &customers, &products)?;
    insert_orders(&transaction, &orders)?;
    insert_aftermath(&transaction, &orders)?;
    transaction.execute_batch(INDEXES)?;
    transaction.commit()?;
    connection.close().map_err(|(_, error)| error)
}

fn insert_company(connection: &Connection) -> rusqlite::Result<()> {
    let mut rows = Rows::into(connection, "offices", 5)?;
    for o in &OFFICES {
        rows.add(params![o.id, o.city, o.country, o.region, o.opened.to_string()])?;
    }
    let mut rows = Rows::into(connection, "employees", 8)?;
    for e in &EMPLOYEES {
        let left = e.left.map(|left| left.to_string());
        rows.add(params![
            e.id,
            e.first,
            e.last,
            e.title,
            e.office,
            e.manager,
            e.hired.to_string(),
            left
        ])?;
    }
    let mut rows = Rows::into(connection, "product_lines", 3)?;
    for l in &LINES {
        rows.add(params![l.id, l.name, l.description])?;
    }
    Ok(())
}

fn insert_market(connection: &Connection, customers: &[Customer], products: &[Product]) -> rusqlite::Result<()> {
    let mut rows = Rows::into(connection, "customers", 6)?;
    for c in customers {
        let limit = c.credit_limit.map(decimal);
        rows.add(params![c.id, c.name, c.segment.name(), c.city, c.country, limit])?;
    }
    let mut rows = Rows::into(connection, "products", 5)?;
    for p in products {
        rows.add(params![
            p.id,
            p.name,
            p.line,
            decimal(p.list_price),
            decimal(p.unit_cost)
        ])?;
    }
    Ok(())
}

fn insert_orders(connection: &Connection, orders: &[Order]) -> rusqlite::Result<()> {
    let mut order_rows = Rows::into(connection, "orders", 8)?;
    let mut item_rows = Rows::into(connection, "order_items", 8)?;
    for o in orders {
        let channel = if o.employee.is_some() { "Sales Rep" } else { "Web" };
        let (day, required) = (o.day.to_string(), o.required.to_string());
        let shipped = o.shipped.map(|shipped| shipped.to_string());
        order_rows.add(params![
            o.id,
            o.customer,
            o.employee,
            channel,
            day,
            required,
            shipped,
            o.status.name()
        ])?;
        for (line, i) in (1_u32..).zip(&o.items) {
            let (price, total) = (decimal(i.unit_price), decimal(i.total));
            item_rows.add(params![
                i.id,
                o.id,
                line,
                i.product,
                i.quantity,
                price,
                i.discount_percent,
                total
            ])?;
        }
    }
    Ok(())
}

fn insert_aftermath(connection: &Connection, orders: &[Order]) -> rusqlite::Result<()> {
    let mut rows = Rows::into(connection, "payments", 5)?;
    for (id, p) in (1_u32..).zip(payments(orders)) {
        rows.add(params![id, p.order, p.day.to_string(), decimal(p.amount), p.method])?;
    }
    let mut rows = Rows::into(connection, "returns", 6)?;
    for (id, r) in (1_u32..).zip(returns(orders)) {
        rows.add(params![
            id,
            r.item,
            r.day.to_string(),
            r.quantity,
            decimal(r.refund),
            r.reason
        ])?;
    }
    let mut rows = Rows::into(connection, "sales_targets", 3)?;
    for t in targets() {
        rows.add(params![t.employee, t.month.to_string(), decimal(t.amount)])?;
    }
    Ok(())
}

/// How SQLite keeps a DECIMAL: the binary number nearest to it. Rounded to two digits, sums of these are exact to the
/// cent up to trillions.
#[expect(clippy::cast_precision_loss, reason = "amounts are far below 2^53 cents")]
fn decimal(cents: Cents) -> f64 {
    cents as f64 / 100.0
}

/// A prepared INSERT into one table.
struct Rows<'a> {
    insert: rusqlite::Statement<'a>,
}

impl<'a> Rows<'a> {
    fn into(connection: &'a Connection, table: &str, columns: usize) -> rusqlite::Result<Self> {
        let marks = vec!["?"; columns].join(", ");
        Ok(Self {
            insert: connection.prepare(&format!("INSERT INTO {table} VALUES ({marks})"))?,
        })
    }

    fn add(&mut self, values: &[&dyn ToSql]) -> rusqlite::Result<()> {
        self.insert.execute(values).map(|_| ())
    }
}
