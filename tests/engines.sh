#!/usr/bin/env bash
# Tries the feature `adbc` against DuckDB and a real Spark cluster of two workers. Not part of the ordinary tests: it needs
# Java 17, Python 3, npm, sqlite3, and half a gigabyte of downloads.
#
#     tests/engines.sh FOLDER [LINES]
#
# FOLDER keeps the downloads; LINES (50,000,000) is the number of order lines that are generated on Spark; 0 leaves Spark out.
set -euo pipefail
here="$(cd "$(dirname "$0")/.." && pwd)"
mkdir -p "${1:?a folder for downloads and data}"
folder="$(cd "$1" && pwd)"
lines="${2:-50000000}"
cd "$here"
cargo build --features adbc
analyst="${CARGO_TARGET_DIR:-$here/target}/debug/analyst"

cd "$folder"
export XDG_CACHE_HOME="$folder/cache"
if [ ! -x venv/bin/python ]; then python3 -m venv venv; fi
venv/bin/pip install --quiet adbc-driver-manager pyarrow
if [ ! -f package/libduckdb.so ]; then
  npm pack --silent @duckdb/node-bindings-linux-x64@1.5.6-r.1
  tar xzf duckdb-node-bindings-linux-x64-*.tgz
fi
rm -f sample.sqlite && "$analyst" demo sample.sqlite

failures=0
# expect NAME ACTUAL EXPECTED
expect() {
  if [ "$2" = "$3" ]; then echo "ok    $1"; else echo "FAIL  $1: got $2, expected $3"; failures=$((failures + 1)); fi
}
run() { echo "$2" | "$analyst" sql run --db "$1" --format csv --timeout "${3:-120}" - 2>/dev/null | tail -n 1; }
# The report without its queries, its ids of databases and its footer.
prose() { sed -e '/^## .*[Qq]uer/,$d' -e '/^Model:/d' "$1/report.md"; }

sales='SELECT SUM(line_total) AS s, COUNT(*) AS n FROM order_items JOIN orders USING (order_id) WHERE order_date < DATE '\''2005-01-01'\'
truth="$(sqlite3 sample.sqlite "SELECT printf('%.2f,%d', SUM(line_total), COUNT(*)) FROM order_items JOIN orders USING (order_id) WHERE order_date < '2005-01-01'")"
question='analyze Aug 2005 employee sales'
"$analyst" ask "$question" --db sample.sqlite --semantic "$here/fixtures/sales/semantic.yaml" --out report-sqlite >/dev/null

# try NAME DATABASE
try() {
  expect "$1: tables" "$("$analyst" schema --db "$2" order_items | grep -c "order_items (table, 40,633 rows)")" 1
  expect "$1: a sum over a join" "$(run "$2" "$sales")" "$truth"
  expect "$1: a wrong name is refused" "$(echo 'SELECT order_idd FROM orders' | "$analyst" sql check --db "$2" - | grep -c 'did you mean `order_id`')" 1
  expect "$1: a change is refused" "$(echo 'DELETE FROM orders' | "$analyst" sql check --db "$2" - | head -n 1)" 'refused by the guard: it would do more than read'
  expect "$1: rows are cut" "$(echo 'SELECT * FROM order_items' | "$analyst" sql run --db "$2" --format csv --max-rows 10 - 2>/dev/null | wc -l)" 11
  expect "$1: a timeout" "$(echo 'SELECT SUM(a.id * b.id) AS s FROM (SELECT order_id AS id FROM order_items) AS a CROSS JOIN (SELECT order_id AS id FROM order_items) AS b CROSS JOIN order_items AS c' | "$analyst" sql run --db "$2" --timeout 3 - 2>&1 | grep -c 'did not end within 3 s')" 1
  rm -rf "report-$1"
  "$analyst" ask "$question" --db "$2" --semantic "$here/fixtures/sales/semantic.yaml" --out "report-$1" >/dev/null
  expect "$1: the report" "$(prose "report-$1" | sha256sum)" "$(prose report-sqlite | sha256sum)"
}

duckdb="$folder/package/libduckdb.so"
venv/bin/python "$here/tests/engines/load.py" duckdb "$duckdb" shop.duckdb sample.sqlite
try duckdb "adbc:duckdb=$duckdb:$folder/shop.duckdb"
odd='adbc:duckdb='"$duckdb:$folder/shop.duckdb"
expect 'duckdb: values' "$(echo 'SELECT "a b", "select", e, d, ts, i, ub, t, n FROM "odd 客户 $" LIMIT 1' | "$analyst" sql run --db "$odd" --format csv - 2>/dev/null | tail -n 1)" \
  '170141183460469231731687303715884105727,2005-08-01T08:00:00Z,x,infinity,2005-08-01T10:00:00.123456789,P14M3D,18446744073709551615,10:00:00.5,1234567890123456789012345678.0000000001'

if [ "$lines" != 0 ]; then
  venv/bin/pip install --quiet pyspark==4.3.0 adbc-driver-spark==0.3.0
  SPARK_HOME="$(venv/bin/python -c 'import pyspark, os; print(os.path.dirname(pyspark.__file__))')"
  export SPARK_HOME SPARK_LOCAL_IP=127.0.0.1
  mkdir -p spark
  (cd spark && exec "$SPARK_HOME/bin/spark-submit" --class org.apache.spark.sql.connect.service.SparkConnectServer --name connect \
    --master 'local-cluster[2,1,1024]' --conf spark.connect.grpc.binding.address=127.0.0.1 \
    --conf spark.driver.bindAddress=127.0.0.1 --conf spark.driver.host=127.0.0.1 --conf spark.ui.enabled=false \
    --conf spark.sql.warehouse.dir="$folder/spark/warehouse" spark-internal >"$folder/spark/log" 2>&1) &
  cluster=$!
  trap 'kill "$cluster" 2>/dev/null; wait "$cluster" 2>/dev/null || true' EXIT
  for _ in $(seq 120); do (exec 3<>/dev/tcp/127.0.0.1/15002) 2>/dev/null && break; sleep 1; done
  driver="$(venv/bin/python -c 'import adbc_driver_spark, os; print(os.path.dirname(adbc_driver_spark.__file__))')/libadbc_driver_spark.so"
  spark="adbc:spark=$driver:sc://127.0.0.1:15002"
  venv/bin/python "$here/tests/engines/load.py" spark "$driver" sc://127.0.0.1:15002 sample.sqlite spark/csv "$lines"
  try spark "$spark"
  expect 'spark: all lines' "$(run "$spark" 'SELECT COUNT(*) AS n, SUM(quantity) AS q FROM order_lines' 300)" "$lines,$((lines / 50 * 1275))"
  rm -rf report-big
  peak="$(venv/bin/python - "$analyst" ask 'sales by channel in 2005' --db "$spark" --out report-big <<'PY'
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024)
PY
)"
  expect "spark: a report over $lines lines stays under 200 MB (it took $peak)" "$((peak < 200))" 1
fi
echo "$failures failures"
exit $((failures > 0))
