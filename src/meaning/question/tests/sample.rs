//! A small sales model with Chinese names, its catalog and its values.

use crate::meaning::semantic::{
    Additive, Aggregate, CategoryValue, Dataset, DatasetKind, Direction, Field, FieldRef, Metric, MetricKind, Model,
    Origin, Relationship, Source, Unit, Words,
};
use crate::warehouse::Dialect;
use crate::warehouse::catalog::values::{ValueEntry, ValueIndex};
use crate::warehouse::catalog::{Catalog, DataType, KeySource, Role, Table, TableKind};

fn words(label: &str, chinese: &str, synonyms: &[&str]) -> Words {
    Words {
        label: label.into(),
        label_zh: (!chinese.is_empty()).then(|| chinese.into()),
        synonyms: synonyms.iter().map(|word| (*word).into()).collect(),
        ..Words::default()
    }
}

fn field(name: &str, label: &str, chinese: &str, role: Role) -> Field {
    let data_type = match role {
        Role::Money => DataType::Decimal {
            precision: None,
            scale: Some(2),
        },
        Role::Measure | Role::Key => DataType::Integer,
        Role::Time => DataType::Date,
        _ => DataType::Text,
    };
    Field {
        name: name.into(),
        words: words(label, chinese, &[]),
        expression: name.into(),
        column: Some(name.into()),
        is_time: role == Role::Time,
        aggregation: matches!(role, Role::Money | Role::Measure).then_some(Aggregate::Sum),
        unit: None,
        values: Vec::new(),
        time_format: None,
        data_type,
        role,
    }
}

fn dataset(name: &str, kind: DatasetKind, words: Words, label: &[&str], fields: Vec<Field>) -> Dataset {
    let time = fields
        .iter()
        .find(|field| field.name.ends_with("order_date"))
        .map(|field| field.name.clone());
    Dataset {
        name: name.into(),
        words,
        source: Source::Table {
            schema: None,
            name: name.into(),
        },
        kind,
        primary_key: fields.iter().take(1).map(|field| field.name.clone()).collect(),
        unique_keys: Vec::new(),
        label: label.iter().map(|name| (*name).into()).collect(),
        default_filter: None,
        time,
        fields,
        rows: Some(1_000),
    }
}

fn points(from: &str, column: &str, to: &str) -> Relationship {
    Relationship {
        name: format!("{from}_to_{to}"),
        from: from.into(),
        to: to.into(),
        from_columns: vec![column.into()],
        to_columns: vec![column.into()],
        key_source: KeySource::Declared,
        synonyms: Vec::new(),
    }
}

fn metric(name: &str, words: Words, kind: MetricKind, unit: Unit) -> Metric {
    Metric {
        name: name.into(),
        words,
        unit,
        currency: None,
        decimals: None,
        additive: if matches!(kind, MetricKind::Simple { .. }) {
            Additive::Full
        } else {
            Additive::None
        },
        direction: Direction::UpIsGood,
        target_of: None,
        hidden: false,
        kind,
    }
}

fn simple(dataset: &str, expression: &str) -> MetricKind {
    MetricKind::Simple {
        dataset: dataset.into(),
        expression: expression.into(),
        filter: None,
        time: Some(FieldRef::new("orders", "order_date")),
    }
}

pub fn model() -> Model {
    use DatasetKind::{Entity, Fact};
    use Role::{Category, Key, Measure, Money, Time};
    let mut status = field("status", "order status", "订单状态", Category);
    status.words.synonyms = vec!["status".into()];
    status.values = vec![CategoryValue {
        value: "Cancelled".into(),
        synonyms: vec!["canceled".into(), "取消".into()],
    }];
    let datasets = vec![
        dataset(
            "offices",
            Entity,
            words("offices", "分公司", &["office", "branch"]),
            &["city"],
            vec![
                field("office_id", "office id", "", Key),
                field("city", "office city", "", Category),
            ],
        ),
        dataset(
            "employees",
            Entity,
            words("employees", "员工", &["staff", "salesperson", "sales rep", "销售员"]),
            &["name"],
            vec![
                field("employee_id", "employee id", "", Key),
                field("name", "employee name", "员工姓名", Category),
                field("hire_date", "hire date", "入职日期", Time),
                field("office_id", "office id", "", Key),
            ],
        ),
        dataset(
            "customers",
            Entity,
            words("customers", "客户", &["client", "顾客"]),
            &["customer_name"],
            vec![
                field("customer_id", "customer id", "", Key),
                field("customer_name", "customer name", "客户名称", Category),
                field("country", "country", "国家", Category),
                field("city", "customer city", "城市", Category),
                field("credit_limit", "credit limit", "信用额度", Money),
            ],
        ),
        dataset(
            "products",
            Entity,
            words("products", "产品", &["item", "商品"]),
            &["product_name"],
            vec![
                field("product_id", "product id", "", Key),
                field("product_name", "product name", "产品名称", Category),
                field("product_line", "product line", "产品线", Category),
                field("list_price", "list price", "标价", Money),
            ],
        ),
        dataset(
            "orders",
            Fact,
            words("orders", "订单", &["order"]),
            &[],
            vec![
                field("order_id", "order id", "", Key),
                field("order_date", "order date", "下单日期", Time),
                status,
                field("customer_id", "customer id", "", Key),
                field("employee_id", "employee id", "", Key),
            ],
        ),
        dataset(
            "order_items",
            Fact,
            words("order items", "订单明细", &["order line"]),
            &[],
            vec![
                field("order_item_id", "order item id", "", Key),
                field("quantity", "quantity", "数量", Measure),
                field("line_total", "line total", "行金额", Money),
                field("order_id", "order id", "", Key),
                field("product_id", "product id", "", Key),
            ],
        ),
    ];
    let relationships = vec![
        points("employees", "office_id", "offices"),
        points("orders", "customer_id", "customers"),
        points("orders", "employee_id", "employees"),
        points("order_items", "order_id", "orders"),
        points("order_items", "product_id", "products"),
    ];
    let sales = [
        "sales",
        "revenue",
        "sold",
        "销售额",
        "销售",
        "业绩",
        "销售业绩",
        "总销售额",
    ];
    let value = MetricKind::Ratio {
        numerator: "net_sales".into(),
        denominator: "order_count".into(),
    };
    let metrics = vec![
        metric(
            "net_sales",
            words("net sales", "净销售额", &sales),
            simple("order_items", "SUM(order_items.line_total)"),
            Unit::Money,
        ),
        metric(
            "order_count",
            words("order count", "订单数", &["订单量"]),
            simple("orders", "COUNT(orders.order_id)"),
            Unit::Count,
        ),
        metric(
            "average_order_value",
            words("average order value", "客单价", &["AOV"]),
            value,
            Unit::Money,
        ),
    ];
    Model {
        name: "sales".into(),
        description: None,
        origin: Origin::File,
        datasets,
        relationships,
        metrics,
        definitions: Vec::new(),
        settings: Default::default(),
    }
}

pub fn catalog() -> Catalog {
    let mut catalog = Catalog::empty(Dialect::Sqlite, "sales");
    catalog.tables = model()
        .datasets
        .iter()
        .map(|dataset| Table {
            schema: None,
            name: dataset.name.clone(),
            kind: TableKind::Table,
            columns: Vec::new(),
            primary_key: dataset.primary_key.clone(),
            unique_keys: Vec::new(),
            foreign_keys: Vec::new(),
            rows: None,
            comment: None,
            synonyms: Vec::new(),
            read_through: None,
        })
        .collect();
    catalog
}

pub fn values() -> ValueIndex {
    let entry = |table: &str, column: &str, value: &str| ValueEntry {
        table: table.into(),
        column: column.into(),
        value: value.into(),
        count: 10,
    };
    ValueIndex::from(vec![
        entry("offices", "city", "Tokyo"),
        entry("offices", "city", "Paris"),
        entry("customers", "country", "France"),
        entry("customers", "country", "USA"),
        entry("customers", "country", "Singapore"),
        entry("customers", "city", "Beijing"),
        entry("orders", "status", "Cancelled"),
        entry("orders", "status", "Shipped"),
        entry("products", "product_line", "Motorcycles"),
        entry("products", "product_name", "Desk Lamp"),
        entry("employees", "name", "Jon Stephens"),
    ])
}
