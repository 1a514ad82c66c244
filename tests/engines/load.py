"""Loads the sample sales database, and generated order lines, into DuckDB or Spark through an ADBC driver.

    load.py duckdb LIBRARY FILE SAMPLE.sqlite
    load.py spark LIBRARY URI SAMPLE.sqlite FOLDER [LINES]

Needs `pip install adbc-driver-manager pyarrow`. FOLDER must be seen by Spark's workers.
"""

import csv
import os
import re
import sqlite3
import sys

import adbc_driver_manager.dbapi as dbapi

# Tables that others point at come first.
TABLES = [
    "offices", "employees", "customers", "product_lines", "products",
    "orders", "order_items", "payments", "returns", "sales_targets",
]

# Values that a driver must bring through exactly, or as text; each with its name in the test.
ODD = """
CREATE TABLE "odd 客户 $" (
    "a b" HUGEINT, "select" TIMESTAMPTZ, e ENUM ('x', 'y'), l INTEGER[], s STRUCT(a INTEGER, b VARCHAR),
    m MAP(VARCHAR, INTEGER), d DATE, ts TIMESTAMP_NS, i INTERVAL, u UUID, b BLOB, ub UBIGINT, t TIME, n DECIMAL(38, 10));
INSERT INTO "odd 客户 $" VALUES
    (170141183460469231731687303715884105727, '2005-08-01 10:00:00+02', 'x', [1, NULL], {'a': 1, 'b': 'é'}, MAP {'k': 1},
     'infinity', '2005-08-01 10:00:00.123456789', INTERVAL '14 months 3 days', '00000000-0000-0000-0000-000000000001',
     '\\xAA'::BLOB, 18446744073709551615, '10:00:00.5', 1234567890123456789012345678.0000000001),
    (NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
CREATE TABLE empty_table (a INTEGER);
CREATE VIEW regions AS SELECT DISTINCT region FROM offices;
COMMENT ON TABLE orders IS 'what customers ordered'
"""


def duckdb(library, file, sample):
    for old in (file, file + ".wal"):
        if os.path.exists(old):
            os.remove(old)
    connection = dbapi.connect(
        driver=library, entrypoint="duckdb_adbc_init", db_kwargs={"path": file}, autocommit=True
    )
    cursor = connection.cursor()
    source = sqlite3.connect(sample)
    for table in TABLES:
        (sql,) = source.execute("SELECT sql FROM sqlite_master WHERE name = ?", (table,)).fetchone()
        # DuckDB checks a key row by row, and employees name managers who come later.
        cursor.execute(sql.replace("REFERENCES employees (employee_id),\n    hire", ",\n    hire"))
        path = os.path.abspath(file) + "." + table + ".csv"
        export(source, table, path)
        cursor.execute(f"COPY {table} FROM '{path}' (HEADER, NULLSTR '\\N')")
        os.remove(path)
    for sql in ODD.split(";\n"):
        cursor.execute(sql)
    connection.close()


def spark(library, uri, sample, folder, lines=0):
    os.makedirs(folder, exist_ok=True)
    connection = dbapi.connect(driver=library, db_kwargs={"uri": uri}, autocommit=True)
    cursor = connection.cursor()

    def execute(sql):
        cursor.execute(sql)
        cursor.fetchall()

    source = sqlite3.connect(sample)
    for table in TABLES:
        path = os.path.join(os.path.abspath(folder), table + ".csv")
        export(source, table, path)
        columns = [(row[1], spark_type(row[2])) for row in source.execute(f"PRAGMA table_info({table})")]
        casts = ", ".join(f"CAST({name} AS {kind}) AS {name}" for name, kind in columns)
        names = ", ".join(f"{name} STRING" for name, _ in columns)
        execute(f"DROP TABLE IF EXISTS {table}")
        execute(f"DROP TABLE IF EXISTS raw_{table}")
        execute(
            f"CREATE TABLE raw_{table} ({names}) USING csv "
            f"OPTIONS (path '{path}', header 'true', nullValue '\\\\N', escape '\"')"
        )
        execute(f"CREATE TABLE {table} USING parquet AS SELECT {casts} FROM raw_{table}")
        execute(f"DROP TABLE raw_{table}")
    execute("COMMENT ON TABLE orders IS 'what customers ordered'")
    if int(lines):
        execute("DROP TABLE IF EXISTS order_lines")
        execute(
            "CREATE TABLE order_lines USING parquet COMMENT 'generated order lines' AS SELECT id AS line_id, "
            "CAST(pmod(id * 7919, 240) + 1 AS INT) AS customer_id, CAST(pmod(id * 31, 110) + 1 AS INT) AS product_id, "
            "date_add(DATE'2003-01-01', CAST(pmod(id * 104729, 1066) AS INT)) AS order_date, "
            "element_at(array('Web', 'Phone', 'Shop', 'Partner'), CAST(pmod(id, 4) AS INT) + 1) AS channel, "
            "CAST(pmod(id * 17, 50) + 1 AS INT) AS quantity, "
            "CAST(pmod(id * 13, 100000) / 100 AS DECIMAL(10,2)) AS line_total "
            f"FROM range({int(lines)})"
        )
    connection.close()


def spark_type(declared):
    declared = declared.upper()
    return {"INTEGER": "INT", "TEXT": "STRING"}.get(declared, re.sub(r"\s", "", declared))


def export(source, table, path):
    rows = source.execute(f"SELECT * FROM {table}")
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow([column[0] for column in rows.description])
        for row in rows:
            writer.writerow(["\\N" if value is None else value for value in row])


{"duckdb": duckdb, "spark": spark}[sys.argv[1]](*sys.argv[2:])
