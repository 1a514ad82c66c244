use serde_json::Value;

use super::*;

fn yaml(text: &str) -> Value {
    serde_saphyr::from_str(text).unwrap()
}

const DBT: &str = "
semantic_models:
  - name: orders
    model: ref('fct_orders')
    defaults: {agg_time_dimension: ordered_at}
    entities:
      - {name: order, type: primary, expr: order_id}
      - {name: customer, type: foreign, expr: customer_id}
    dimensions:
      - {name: ordered_at, type: time, type_params: {time_granularity: day}}
      - {name: status, type: categorical, description: How far it is}
    measures:
      - {name: revenue, agg: sum, expr: amount}
      - {name: orders_placed, agg: count, expr: order_id, create_metric: true}
      - {name: middle, agg: median, expr: amount}
  - name: customers
    model: ref('dim_customers')
    entities: [{name: customer, type: primary, expr: id}]
    dimensions: [{name: city, type: categorical}]
metrics:
  - name: done_revenue
    label: Finished revenue
    type: simple
    type_params: {measure: revenue}
    filter: |
      {{ Dimension('order__status') }} = 'done' AND {{ Dimension('customer__city') }} = 'Rome'
  - {name: revenue, type: simple, type_params: {measure: {name: revenue}}}
  - {name: revenue_per_order, type: ratio, type_params: {numerator: revenue, denominator: {name: orders_placed}}}
  - name: open_revenue
    type: derived
    type_params:
      expr: total - finished
      metrics: [{name: revenue, alias: total}, {name: done_revenue, alias: finished}]
  - {name: running_revenue, type: cumulative, type_params: {measure: revenue}}
  - {name: median_revenue, type: simple, type_params: {measure: middle}}
  - name: growth
    type: derived
    type_params: {expr: now / before, metrics: [{name: revenue, alias: now}, {name: revenue, alias: before, offset_window: 1 month}]}
  - {name: twice_median, type: derived, type_params: {expr: median_revenue * 2, metrics: [{name: median_revenue}]}}
";

#[test]
fn a_dbt_project_becomes_datasets_joins_and_metrics() {
    let imported = dbt("shop", &[yaml(DBT)]).unwrap();
    let model = &imported.document.semantic_model[0];
    let orders = &model.datasets[0];
    assert_eq!(
        (orders.source.as_str(), orders.primary_key.as_slice()),
        ("fct_orders", &["order_id".to_owned()][..])
    );
    let fields: Vec<&str> = orders.fields.iter().map(|field| field.name.as_str()).collect();
    assert_eq!(fields, ["ordered_at", "status", "order_id", "customer_id"]);
    let join = &model.relationships[0];
    assert_eq!((join.from.as_str(), join.to.as_str()), ("orders", "customers"));
    assert_eq!(
        (join.from_columns[0].as_str(), join.to_columns[0].as_str()),
        ("customer_id", "id")
    );
    let metrics: Vec<(&str, &str)> = model
        .metrics
        .iter()
        .map(|metric| (metric.name.as_str(), metric.expression.portable().unwrap()))
        .collect();
    assert_eq!(
        metrics,
        [
            ("orders_placed", "COUNT(order_id)"),
            ("done_revenue", "SUM(amount)"),
            ("revenue", "SUM(amount)"),
            ("revenue_per_order", "revenue / orders_placed"),
            ("open_revenue", "revenue - done_revenue"),
            ("running_revenue", "SUM(amount)"),
        ]
    );
    let done: Value = serde_json::from_str(&model.metrics[1].custom_extensions[0].data).unwrap();
    assert_eq!(done["filter"], "(orders.status = 'done' AND customers.city = 'Rome')");
    assert_eq!(done["time"], "orders.ordered_at");
    assert_eq!(done["label"], "Finished revenue");
}

#[test]
fn what_has_no_portable_form_is_left_out_and_named() {
    let imported = dbt("shop", &[yaml(DBT)]).unwrap();
    assert_eq!(
        imported.left_out,
        [
            "metric median_revenue: there is no portable `median`",
            "metric growth: it compares with an earlier period; ask for growth instead",
            "metric twice_median: there is no metric `median_revenue`",
        ]
    );
}

#[test]
fn a_manifest_reads_like_its_files() {
    let manifest: Value = serde_json::from_str(
        r#"{"semantic_models": {"semantic_model.shop.orders": {"name": "orders",
            "node_relation": {"alias": "fct_orders", "schema_name": "main"},
            "entities": [{"name": "order", "type": "primary", "expr": "order_id"}],
            "dimensions": [{"name": "status", "type": "categorical", "expr": null}],
            "measures": [{"name": "revenue", "agg": "sum", "expr": "amount"}]}},
          "metrics": {"metric.shop.done": {"name": "done", "type": "simple",
            "type_params": {"measure": {"name": "revenue", "filter": null}},
            "filter": {"where_filters": [{"where_sql_template": "{{ Dimension('order__status') }} = 'done'"}]}}}}"#,
    )
    .unwrap();
    let imported = dbt("shop", &[manifest]).unwrap();
    let model = &imported.document.semantic_model[0];
    assert_eq!(model.datasets[0].source, "fct_orders");
    let done: Value = serde_json::from_str(&model.metrics[0].custom_extensions[0].data).unwrap();
    assert_eq!(done["filter"], "(orders.status = 'done')");
}

#[test]
fn a_snowflake_model_becomes_datasets_joins_and_metrics() {
    let file = yaml(
        "
name: Revenue
tables:
  - name: daily
    base_table: {database: d, schema: s, table: daily_revenue}
    primary_key: {columns: [date]}
    time_dimensions: [{name: date, expr: date, data_type: date}]
    dimensions: [{name: region_id, expr: region_id}]
    measures:
      - {name: sales, expr: revenue, synonyms: [income], default_aggregation: sum}
      - {name: spread, expr: revenue, default_aggregation: stddev}
    metrics: [{name: margin, expr: SUM(revenue) - SUM(cogs)}]
  - name: region
    base_table: {table: region_dim}
    dimensions: [{name: area, expr: sales_region, sample_values: [Asia, Europe]}]
relationships:
  - {name: to_region, left_table: daily, right_table: region, relationship_type: many_to_one,
     relationship_columns: [{left_column: region_id, right_column: region_id}]}
",
    );
    let imported = snowflake(&file).unwrap();
    assert_eq!(imported.left_out, ["measure spread: there is no portable `stddev`"]);
    let model = &imported.document.semantic_model[0];
    assert_eq!(model.datasets[0].source, "d.s.daily_revenue");
    assert_eq!(model.relationships[0].to_columns, ["region_id"]);
    assert_eq!(model.metrics[0].expression.portable(), Some("SUM(revenue)"));
    assert_eq!(model.metrics[0].ai_context.as_ref().unwrap().synonyms(), ["income"]);
    assert_eq!(model.metrics[1].expression.portable(), Some("SUM(revenue) - SUM(cogs)"));
    assert!(model.datasets[1].fields[0].custom_extensions[0].data.contains("Asia"));
}
