-- Sales per kind and month, with the share of the whole, for groups above their own average.
WITH lines AS (
    SELECT
        c.parent_id AS order_id,
        SUM(c.amount_4) AS line_amount,
        SUM(c.amount_8) AS line_tax,
        COUNT(*) AS line_count
    FROM table_702 AS c
    WHERE c.happened_at_5 >= '2005-08-01'
        AND c.happened_at_5 < '2005-09-01'
    GROUP BY c.parent_id
),
orders AS (
    SELECT
        o.id,
        o.parent_id AS customer_id,
        o.kind_6 AS channel,
        strftime('%Y-%m', o.happened_at_9) AS month,
        COALESCE(l.line_amount, 0) AS amount,
        COALESCE(l.line_tax, 0) AS tax,
        COALESCE(l.line_count, 0) AS line_count
    FROM table_701 AS o
    LEFT JOIN lines AS l ON l.order_id = o.id
    WHERE o.kind_10 IN ('paid', 'shipped', 'returned')
        AND NOT EXISTS (
            SELECT 1 FROM table_950 AS blocked WHERE blocked.parent_id = o.id AND blocked.kind_2 = 'fraud'
        )
),
customers AS (
    SELECT k.id, k.kind_2 AS segment, p.kind_14 AS region
    FROM table_700 AS k
    JOIN table_699 AS p ON p.id = k.parent_id
    WHERE p.count_7 > (SELECT AVG(q.count_7) FROM table_699 AS q)
)
SELECT
    u.region,
    u.segment,
    o.month,
    SUM(o.amount) AS revenue,
    SUM(o.tax) AS tax,
    SUM(o.amount) / NULLIF(SUM(o.line_count), 0) AS per_line,
    100.0 * SUM(o.amount) / SUM(SUM(o.amount)) OVER (PARTITION BY o.month) AS share,
    RANK() OVER (PARTITION BY o.month ORDER BY SUM(o.amount) DESC) AS place
FROM orders AS o
JOIN customers AS u ON u.id = o.customer_id
GROUP BY u.region, u.segment, o.month
HAVING SUM(o.amount) > 1000
ORDER BY o.month, place
LIMIT 100
