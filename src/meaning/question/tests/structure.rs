//! How the parts of a question belong together: rankings, sorting, negation, comparisons with others, sets.

use rstest::rstest;

use super::{reading, shape};

#[rstest]
#[case(
    "list the product line numbers of all products",
    "rows of products show products.product_line"
)]
#[case(
    "the top 3 customers with the largest number of orders",
    "count(orders) by customers order count(orders) desc limit 3"
)]
#[case(
    "names of the two customers that have the most orders",
    "count(orders) by customers order count(orders) desc limit 2"
)]
#[case(
    "customers with only 2 orders",
    "count(orders) by customers having count(orders) = 2 order count(orders) desc"
)]
#[case(
    "list the products in ascending alphabetical order of the product line",
    "rows of products order products.product_line"
)]
#[case(
    "countries and the number of their customers in descending order",
    "count(customers) by customers.country order count(customers) desc"
)]
#[case(
    "number of customers in each country sorted by the count in descending order",
    "count(customers) by customers.country order count(customers) desc"
)]
#[case(
    "list every product ordered by list price",
    "rows of products order products.list_price"
)]
#[case(
    "names of the products with the letter a in their product line",
    "rows of products show products.product_name where products.product_line like %a%"
)]
fn rankings_and_sorting_go_by_what_is_said(#[case] question: &str, #[case] expected: &str) {
    assert_eq!(shape(&reading(question).query), expected);
}

#[test]
fn what_only_ranks_is_not_shown() {
    let reading = reading("which product line has the highest net sales");
    assert_eq!(
        shape(&reading.exact.unwrap()).trim(),
        "by products.product_line order net_sales desc limit 1"
    );
}

#[rstest]
#[case(
    "customers who had no orders in 2005",
    "rows of customers where not exists orders(orders.order_date in 2005-01-01 2006-01-01)"
)]
#[case(
    "which countries never had customers in Beijing",
    "rows of customers show customers.country Except rows of customers show customers.country \
     where customers.city = 'Beijing'"
)]
#[case("offices that have never been used", "rows of offices where not exists employees")]
fn a_negation_reaches_over_what_is_said_of_the_thing_denied(#[case] question: &str, #[case] expected: &str) {
    assert_eq!(shape(&reading(question).query), expected);
}

#[rstest]
#[case(
    "products whose list price is higher than the list price of any products in Motorcycles",
    "rows of products where products.list_price > Max(products.product_line = 'Motorcycles')"
)]
#[case(
    "products with a lower list price than some products in Motorcycles",
    "rows of products where products.list_price < Max(products.product_line = 'Motorcycles')"
)]
#[case(
    "customers whose credit limit is above the average credit limit of customers in France",
    "rows of customers where customers.credit_limit > Avg(customers.country = 'France')"
)]
#[case(
    "how many orders were placed by the customer with the highest credit limit",
    "count(orders) where customers.credit_limit = max"
)]
fn a_comparison_with_others_is_nested(#[case] question: &str, #[case] expected: &str) {
    assert_eq!(shape(&reading(question).query), expected);
}

#[rstest]
#[case(
    "countries that have customers with a credit limit above 2000 and customers with a credit limit below 100",
    "rows of customers show customers.country where customers.credit_limit > 2000 Intersect \
     rows of customers show customers.country where customers.credit_limit < 100"
)]
#[case("list the product lines of products", "rows of products show products.product_line")]
fn what_no_row_can_be_is_looked_for_in_two(#[case] question: &str, #[case] expected: &str) {
    assert_eq!(shape(&reading(question).query), expected);
}
