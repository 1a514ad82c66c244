//! The metrics that a catalog suggests: counts of what happened, sums of money and quantities, and the one that "sales"
//! means.

use crate::meaning::semantic::{
    Additive, Aggregate, Dataset, DatasetKind, Direction, Field, FieldRef, Metric, MetricKind, Model, Relationship,
    Unit, Words, names,
};
use crate::warehouse::catalog::Role;

/// Money in these is owed, planned or paid back; it is not what was sold.
const NOT_SOLD: &[&str] = &[
    "return", "refund", "target", "quota", "budget", "expense", "salary", "claim", "cost", "plan", "goal",
];
/// Money columns that go along with a sale without being it.
const BESIDE_SALES: &[&str] = &[
    "freight", "tax", "fee", "discount", "cost", "refund", "shipping", "tip", "profit", "balance", "target", "budget",
];
/// Tables whose money is what customers ordered or were billed.
const ORDERED: &[&str] = &[
    "order",
    "invoice",
    "sale",
    "sales",
    "transaction",
    "purchase",
    "bill",
    "receipt",
    "rental",
    "booking",
    "checkout",
];
const PAID: &[&str] = &["payment", "collection"];

/// What "sales" answers to.
const SALES_WORDS: &[&str] = &[
    "revenue",
    "turnover",
    "income",
    "sales amount",
    "total sales",
    "sales revenue",
    "sales volume in money",
    "takings",
];
const SALES_WORDS_ZH: &[&str] = &[
    "销售",
    "营收",
    "营业额",
    "收入",
    "销售金额",
    "销售业绩",
    "业绩",
    "总销售额",
];

/// A sum of money that may be what "sales" means.
struct Candidate {
    dataset: usize,
    expression: String,
    /// Readable name of the column, or of the product of columns.
    column: String,
    rank: u8,
}

/// All metrics of a drafted `model`, the one that "sales" means first.
pub fn metrics(model: &Model) -> Vec<Metric> {
    let mut list = List {
        model,
        metrics: Vec::new(),
    };
    let mut candidates = candidates(model);
    // A stable sort: among equals the table that comes first in the catalog.
    candidates.sort_by_key(|c| std::cmp::Reverse(c.rank));
    let best = candidates
        .first()
        .filter(|c| c.rank >= 2)
        .map(|c| (c.dataset, c.expression.clone()));
    for candidate in &candidates {
        let is_best = best
            .as_ref()
            .is_some_and(|(d, e)| *d == candidate.dataset && *e == candidate.expression);
        list.money(candidate, is_best);
    }
    for dataset in model.datasets.iter().filter(|d| d.kind == DatasetKind::Fact) {
        list.count(dataset);
        list.quantities(dataset);
    }
    if let Some(dataset) = best.and_then(|(at, _)| model.datasets.get(at)) {
        list.average(dataset);
        list.active_customers(dataset);
    }
    list.metrics
}

fn last_word(phrase: &str) -> String {
    names::singular(phrase)
        .split([' ', '_'])
        .next_back()
        .unwrap_or_default()
        .to_owned()
}

fn has_word(phrase: &str, wanted: &[&str]) -> bool {
    names::readable(phrase)
        .split(' ')
        .any(|w| wanted.contains(&w) || wanted.contains(&names::singular(w).as_str()))
}

fn candidates(model: &Model) -> Vec<Candidate> {
    let mut found = Vec::new();
    for (at, dataset) in model.datasets.iter().enumerate() {
        if dataset.kind != DatasetKind::Fact {
            continue;
        }
        let sums: Vec<&Field> = dataset
            .fields
            .iter()
            .filter(|f| f.role == Role::Money && f.aggregation == Some(Aggregate::Sum))
            .collect();
        for field in &sums {
            found.push(Candidate {
                dataset: at,
                expression: format!("SUM({}.{})", dataset.name, field.name),
                column: field.words.label.clone(),
                rank: rank(model, dataset, &field.words.label),
            });
        }
        let has_total = sums.iter().any(|f| !has_word(&f.name, BESIDE_SALES));
        if let Some(product) = product(dataset).filter(|_| !has_total) {
            found.push(Candidate {
                dataset: at,
                expression: product,
                column: "sales".into(),
                rank: if has_word(&dataset.name, NOT_SOLD) { 0 } else { 4 },
            });
        }
    }
    found
}

/// How likely a sum over `column` is what "sales" means; 0 for what it cannot be.
fn rank(model: &Model, dataset: &Dataset, column: &str) -> u8 {
    if has_word(column, BESIDE_SALES) || has_word(&dataset.name, NOT_SOLD) {
        return 0;
    }
    let is_line = header(model, dataset).is_some();
    match () {
        () if has_word(column, &["sales", "revenue", "turnover"]) => 6,
        () if is_line && has_word(&dataset.name, ORDERED) => 4,
        () if has_word(&dataset.name, ORDERED) => 5,
        () if has_word(&dataset.name, PAID) => 3,
        () => 2,
    }
}

/// `unit_price * quantity * (1 - discount)` of a line table, as a sum.
fn product(dataset: &Dataset) -> Option<String> {
    let find = |wanted: &[&str]| {
        let is = |f: &&Field| {
            wanted.contains(&f.words.label.as_str()) && matches!(f.role, Role::Money | Role::Measure | Role::Percentage)
        };
        dataset.fields.iter().find(is)
    };
    let price = find(&[
        "unit price",
        "price",
        "price each",
        "item price",
        "sale price",
        "selling price",
        "sales price",
    ])?;
    let quantity = find(&[
        "quantity",
        "quantity ordered",
        "units",
        "quantity sold",
        "units sold",
        "order quantity",
    ])?;
    let of = |field: &Field| format!("{}.{}", dataset.name, field.name);
    let discount = find(&["discount", "discount rate", "discount percent", "discount percentage"]);
    let factor = match discount {
        None => String::new(),
        Some(f) if f.role == Role::Percentage && f.unit.is_none() || f.words.label.contains("percent") => {
            format!(" * (1 - {} / 100.0)", of(f))
        }
        Some(f) => format!(" * (1 - {})", of(f)),
    };
    Some(format!("SUM({} * {}{factor})", of(price), of(quantity)))
}

/// The fact that rows of a line table belong to: pointed at, and with a time of its own.
fn header<'a>(model: &'a Model, dataset: &Dataset) -> Option<&'a Dataset> {
    let targets = model
        .relationships
        .iter()
        .filter(|r| r.from == dataset.name && r.to != dataset.name);
    let is_header = |d: &&Dataset| d.kind == DatasetKind::Fact && d.time.is_some();
    let is_line = dataset.time.is_none() || has_word(&dataset.name, &["item", "line", "detail"]);
    targets
        .filter_map(|r| model.dataset(&r.to))
        .find(is_header)
        .filter(|_| is_line)
}

/// When rows of `dataset` count: by their own time, else by that of the fact they belong to.
fn time(model: &Model, dataset: &Dataset) -> Option<FieldRef> {
    let own = dataset.time.as_ref().map(|t| FieldRef::new(&dataset.name, t));
    own.or_else(|| {
        let header = header(model, dataset)?;
        header.time.as_ref().map(|t| FieldRef::new(&header.name, t))
    })
}

struct List<'a> {
    model: &'a Model,
    metrics: Vec<Metric>,
}

impl List<'_> {
    fn has(&self, name: &str) -> bool {
        self.metrics.iter().any(|m| m.name == name)
    }

    /// Adds a metric under `name`, or under a name with the dataset's in front when that one is taken.
    fn add(&mut self, name: String, dataset: &Dataset, mut metric: Metric) {
        let longer = format!("{}_{name}", names::singular(&dataset.name));
        metric.name = match (self.has(&name), self.has(&longer)) {
            (false, _) => name,
            (true, false) => longer,
            (true, true) => return,
        };
        self.metrics.push(metric);
    }

    fn money(&mut self, candidate: &Candidate, is_sales: bool) {
        let Some(dataset) = self.model.datasets.get(candidate.dataset) else {
            return;
        };
        let one = names::singular(&dataset.words.label);
        let own = match candidate.column.split(' ').any(|w| one.split(' ').any(|o| o == w)) {
            true => candidate.column.clone(),
            false => format!("{one} {}", candidate.column),
        };
        let mut metric = simple(self.model, dataset, &candidate.expression, Unit::Money);
        metric.decimals = Some(2);
        if has_word(
            &own,
            &[
                "cost", "return", "refund", "expense", "discount", "tax", "freight", "fee",
            ],
        ) {
            metric.direction = Direction::DownIsGood;
        }
        match is_sales {
            true => {
                let mut synonyms: Vec<String> = SALES_WORDS
                    .iter()
                    .chain(SALES_WORDS_ZH)
                    .map(|w| (*w).to_owned())
                    .collect();
                synonyms.push(own.clone());
                synonyms.push(format!("{one} total"));
                synonyms.dedup();
                metric.words = Words {
                    label: "sales".into(),
                    label_zh: Some("销售额".into()),
                    description: Some(format!("{} of {}", summed(&candidate.expression), dataset.words.label)),
                    description_zh: None,
                    synonyms,
                };
                self.add("sales".into(), dataset, metric);
            }
            false => {
                let mut chinese = names::chinese(&own).into_iter();
                metric.words = Words {
                    label: own.clone(),
                    label_zh: chinese.next(),
                    description: Some(format!("{} of {}", summed(&candidate.expression), dataset.words.label)),
                    description_zh: None,
                    synonyms: vec![format!("total {own}")],
                };
                self.add(names::snake(&own), dataset, metric);
            }
        }
    }

    fn count(&mut self, dataset: &Dataset) {
        let one = names::singular(&dataset.words.label);
        let many = names::plural(&one);
        let mut metric = simple(self.model, dataset, "COUNT(*)", Unit::Count);
        let chinese = names::chinese(&dataset.words.label);
        let mut synonyms = vec![
            format!("number of {many}"),
            format!("{one} count"),
            format!("how many {many}"),
        ];
        for word in &chinese {
            synonyms.extend([
                format!("{word}数"),
                format!("{word}数量"),
                format!("{word}笔数"),
                format!("{word}量"),
            ]);
        }
        let label_zh = chinese.first().map(|word| format!("{word}数"));
        synonyms.retain(|word| Some(word) != label_zh.as_ref());
        metric.words = Words {
            label: many.clone(),
            label_zh,
            description: Some(format!("Number of {many}")),
            description_zh: None,
            synonyms,
        };
        self.add(format!("{}_count", names::snake(&one)), dataset, metric);
    }

    fn quantities(&mut self, dataset: &Dataset) {
        let is_quantity = |f: &&Field| {
            f.role == Role::Measure
                && f.aggregation == Some(Aggregate::Sum)
                && has_word(&f.name, &["quantity", "qty", "units"])
        };
        for field in dataset.fields.iter().filter(is_quantity) {
            let expression = format!("SUM({}.{})", dataset.name, field.name);
            let mut metric = simple(self.model, dataset, &expression, Unit::Quantity);
            let of_sales = !has_word(&dataset.name, NOT_SOLD);
            let synonyms: &[&str] = match of_sales {
                true => &[
                    "units sold",
                    "items sold",
                    "units",
                    "sales volume",
                    "销量",
                    "销售量",
                    "销售数量",
                    "件数",
                ],
                false => &[],
            };
            metric.words = Words {
                label: field.words.label.clone(),
                label_zh: field.words.label_zh.clone(),
                description: Some(format!("{} of {}", summed(&expression), dataset.words.label)),
                description_zh: None,
                synonyms: synonyms.iter().map(|w| (*w).to_owned()).collect(),
            };
            self.add(field.name.clone(), dataset, metric);
        }
    }

    /// Sales per order, payment or invoice, whichever the sales belong to.
    fn average(&mut self, dataset: &Dataset) {
        let whole = header(self.model, dataset).unwrap_or(dataset);
        let one = names::singular(&whole.words.label);
        let denominator = format!("{}_count", names::snake(&one));
        if !self.has("sales") || !self.has(&denominator) {
            return;
        }
        let mut metric = blank(Unit::Money);
        metric.kind = MetricKind::Ratio {
            numerator: "sales".into(),
            denominator,
        };
        metric.decimals = Some(2);
        metric.additive = Additive::None;
        let chinese = names::chinese(&whole.words.label);
        let label = format!("average {one} value");
        metric.words = Words {
            label: label.clone(),
            label_zh: Some(format!("平均{}金额", chinese.first().map_or("单笔", String::as_str))),
            description: Some(format!("Sales divided by the number of {}", names::plural(&one))),
            description_zh: None,
            synonyms: ["average sale", "sales per", "aov"]
                .iter()
                .map(|w| match *w {
                    "sales per" => format!("sales per {one}"),
                    other => other.to_owned(),
                })
                .chain([format!("average {one}"), "客单价".into(), "平均客单价".into()])
                .collect(),
        };
        self.add(names::snake(&label), dataset, metric);
    }

    /// Customers with at least one row.
    fn active_customers(&mut self, dataset: &Dataset) {
        let whole = header(self.model, dataset).unwrap_or(dataset);
        let is_customer = |r: &&Relationship| {
            r.from == whole.name
                && ["customer", "client", "buyer"].contains(&last_word(&r.to).as_str())
                && r.from_columns.len() == 1
        };
        let Some(relationship) = self.model.relationships.iter().find(is_customer) else {
            return;
        };
        let Some(field) = relationship.from_columns.first().and_then(|c| whole.field_of_column(c)) else {
            return;
        };
        let expression = format!("COUNT(DISTINCT {}.{})", whole.name, field.name);
        let mut metric = simple(self.model, whole, &expression, Unit::Count);
        metric.additive = Additive::None;
        metric.words = Words {
            label: "active customers".into(),
            label_zh: Some("活跃客户数".into()),
            description: Some(format!(
                "Customers with at least one {}",
                names::singular(&whole.words.label)
            )),
            description_zh: None,
            synonyms: [
                "buying customers",
                "customers served",
                "unique customers",
                "下单客户数",
                "成交客户数",
            ]
            .iter()
            .map(|w| (*w).to_owned())
            .collect(),
        };
        self.add("active_customers".into(), whole, metric);
    }
}

/// `SUM(a.b * a.c)` → `Sum of b * c`.
fn summed(expression: &str) -> String {
    let inner = expression.trim_start_matches("SUM(").trim_end_matches(')');
    let closed = inner.matches('(').count() > inner.matches(')').count();
    let words: Vec<String> = inner
        .split(' ')
        .map(|word| match word.split_once('.') {
            Some((head, field)) => {
                let open: String = head.chars().take_while(|c| *c == '(').collect();
                format!("{open}{}", field.replace('_', " "))
            }
            None => word.to_owned(),
        })
        .collect();
    format!("Sum of {}{}", words.join(" "), if closed { ")" } else { "" })
}

fn blank(unit: Unit) -> Metric {
    Metric {
        name: String::new(),
        words: Words::default(),
        kind: MetricKind::Derived {
            expression: String::new(),
            inputs: Vec::new(),
        },
        unit,
        currency: None,
        decimals: None,
        additive: Additive::Full,
        direction: Direction::UpIsGood,
        target_of: None,
        hidden: false,
    }
}

fn simple(model: &Model, dataset: &Dataset, expression: &str, unit: Unit) -> Metric {
    Metric {
        kind: MetricKind::Simple {
            dataset: dataset.name.clone(),
            expression: expression.to_owned(),
            filter: None,
            time: time(model, dataset),
        },
        decimals: Some(if unit == Unit::Money { 2 } else { 0 }),
        ..blank(unit)
    }
}
