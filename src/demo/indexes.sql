CREATE INDEX orders_by_date ON orders (order_date);
CREATE INDEX orders_by_employee ON orders (employee_id);
CREATE INDEX orders_by_customer ON orders (customer_id);
CREATE INDEX order_items_by_product ON order_items (product_id);
CREATE INDEX payments_by_order ON payments (order_id);
CREATE INDEX payments_by_date ON payments (payment_date);
CREATE INDEX returns_by_order_item ON returns (order_item_id);
CREATE INDEX returns_by_date ON returns (return_date);
