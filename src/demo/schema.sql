CREATE TABLE offices (
    office_id   INTEGER PRIMARY KEY,
    city        TEXT NOT NULL,
    country     TEXT NOT NULL,
    region      TEXT NOT NULL,
    opened_on   DATE NOT NULL
);

CREATE TABLE employees (
    employee_id   INTEGER PRIMARY KEY,
    first_name    TEXT NOT NULL,
    last_name     TEXT NOT NULL,
    job_title     TEXT NOT NULL,
    office_id     INTEGER NOT NULL REFERENCES offices (office_id),
    manager_id    INTEGER REFERENCES employees (employee_id),
    hire_date     DATE NOT NULL,
    leaving_date  DATE
);

CREATE TABLE customers (
    customer_id    INTEGER PRIMARY KEY,
    customer_name  TEXT NOT NULL UNIQUE,
    segment        TEXT NOT NULL,
    city           TEXT NOT NULL,
    country        TEXT NOT NULL,
    credit_limit   DECIMAL(10,2)
);

CREATE TABLE product_lines (
    product_line_id  INTEGER PRIMARY KEY,
    line_name        TEXT NOT NULL UNIQUE,
    description      TEXT NOT NULL
);

CREATE TABLE products (
    product_id       INTEGER PRIMARY KEY,
    product_name     TEXT NOT NULL UNIQUE,
    product_line_id  INTEGER NOT NULL REFERENCES product_lines (product_line_id),
    list_price       DECIMAL(10,2) NOT NULL,
    unit_cost        DECIMAL(10,2) NOT NULL
);

CREATE TABLE orders (
    order_id       INTEGER PRIMARY KEY,
    customer_id    INTEGER NOT NULL REFERENCES customers (customer_id),
    employee_id    INTEGER REFERENCES employees (employee_id),
    channel        TEXT NOT NULL,
    order_date     DATE NOT NULL,
    required_date  DATE NOT NULL,
    shipped_date   DATE,
    status         TEXT NOT NULL
);

CREATE TABLE order_items (
    order_item_id     INTEGER PRIMARY KEY,
    order_id          INTEGER NOT NULL REFERENCES orders (order_id),
    line_number       INTEGER NOT NULL,
    product_id        INTEGER NOT NULL REFERENCES products (product_id),
    quantity          INTEGER NOT NULL,
    unit_price        DECIMAL(10,2) NOT NULL,
    discount_percent  INTEGER NOT NULL,
    line_total        DECIMAL(10,2) NOT NULL,
    UNIQUE (order_id, line_number)
);

CREATE TABLE payments (
    payment_id    INTEGER PRIMARY KEY,
    order_id      INTEGER NOT NULL REFERENCES orders (order_id),
    payment_date  DATE NOT NULL,
    amount        DECIMAL(10,2) NOT NULL,
    method        TEXT NOT NULL
);

CREATE TABLE returns (
    return_id      INTEGER PRIMARY KEY,
    order_item_id  INTEGER NOT NULL REFERENCES order_items (order_item_id),
    return_date    DATE NOT NULL,
    quantity       INTEGER NOT NULL,
    refund_amount  DECIMAL(10,2) NOT NULL,
    reason         TEXT NOT NULL
);

CREATE TABLE sales_targets (
    employee_id    INTEGER NOT NULL REFERENCES employees (employee_id),
    month          DATE NOT NULL,
    target_amount  DECIMAL(12,2) NOT NULL,
    PRIMARY KEY (employee_id, month)
);
