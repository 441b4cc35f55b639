"""Bytes per machine-day, and the cost of queries, from 1 to 1,000 machine-days: the numbers of docs/scale.md.

    target/python/environment/bin/python python/bench/scale.py [DAYS ...]

A machine-day is four measurements of four CPUs, a recording and a check, imported as `whylate tables` does. Its tables are copied
under other names of machines, runs and days, with pyarrow. Each query runs three times in DuckDB with two threads; the middle one
counts. The same again after the files of each day were put together.
"""

import json
import pathlib
import random
import shutil
import statistics
import sys
import tempfile
import time

import duckdb
import pyarrow
import pyarrow.compute
import pyarrow.parquet
import whylate

ROOT = pathlib.Path(__file__).resolve().parents[2]
QUERIES = ["01-top-causes", "04-kernels", "05-regression", "07-settings", "08-worst-machine-per-day", "17-cpus"]
VARYING = ["count", "due_ns", "woken_ns", "running_ns", "done_ns", "start_ns"]
FIRST = 20_000  # Days since 1970.


def main():
    amounts = [int(argument) for argument in sys.argv[1:]] or [1, 10, 100, 1_000]
    with tempfile.TemporaryDirectory() as directory:
        work = pathlib.Path(directory)
        sample = sample_day(work / "sample")
        print("| machine-days | files | MB | files, a day | MB, a day | " + " | ".join(q[:2] for q in QUERIES) + " |")
        for amount in amounts:
            tables = work / f"tables-{amount}"
            copies(sample, tables, amount)
            print(row(amount, tables, "as imported"))
            days = work / f"days-{amount}"
            start = time.monotonic()
            together(tables, days)
            took = time.monotonic() - start
            print(row(amount, days, f"by day ({took:.1f} s)"), flush=True)
            shutil.rmtree(tables)
            shutil.rmtree(days)


def sample_day(directory):
    """The tables of one machine-day, by the package."""
    directory.mkdir()
    inputs = [ROOT / "crates/cli/tests/fixtures/6.12-rt-pin-first.dat"]
    for hour in range(0, 24, 6):
        path = directory / f"measured-{hour}.json"
        path.write_text(json.dumps(measurement(hour)))
        inputs.append(path)
    check = directory / "check.json"
    check.write_text(whylate.check("/").json())
    inputs.append(check)
    tables = directory / "tables"
    start = time.monotonic()
    rows = sum(whylate.import_tables(path, tables, machine="m", date="2024-10-04")["rows"] for path in inputs)
    files = list(tables.glob("*/*/*/*.parquet"))
    size = sum(path.stat().st_size for path in files)
    print(f"a machine-day: {len(inputs)} inputs, {rows} rows, {len(files)} files, {size} bytes, {time.monotonic() - start:.2f} s")
    return [(path.relative_to(tables).parts[0], pyarrow.parquet.read_table(path)) for path in files]


def measurement(seed):
    """A document of `whylate measure`: six hours of four CPUs, a sample each millisecond, a log-normal body and a rare tail."""
    drawn = random.Random(seed)
    document = json.loads((ROOT / "crates/report/tests/fixtures/measure-1-first.json").read_text())
    document["spikes"] = []
    document["elapsed_ns"] = 6 * 3_600 * 10**9
    document["machine"] = [
        {"name": f"/proc/sys/kernel/setting_{number}", "value": str(number)} for number in range(150)
    ] + [{"name": "/proc/sys/kernel/osrelease", "value": "6.12-rt"}]
    template = document["cpus"][0]
    document["cpus"] = []
    for cpu in range(4):
        counts = {}
        for _ in range(20_000):
            late = 5_000 * drawn.lognormvariate(0, 0.3) + (drawn.random() < 0.001) * drawn.expovariate(1 / 20_000)
            # Classes of 0.1 %, as those of the document.
            width = max(1, int(late) >> 10)
            counts[int(late) // width * width + width - 1] = counts.get(int(late) // width * width + width - 1, 0) + 1_080
        ends = sorted(counts)
        samples = sum(counts.values())
        spread = {"min": ends[0], "mean": 5_200, "p50": 5_000, "p99": 10_000, "p99_99": ends[-1], "max": ends[-1]}
        histogram = [{"upto_ns": end, "count": counts[end]} for end in ends]
        document["cpus"].append({**template, "cpu": cpu, "samples": samples, "histogram": histogram, "latency_ns": spread})
    return document


def copies(sample, tables, amount):
    """As many machine-days: 100 machines at most, then more days; two kernels."""
    machines = min(100, amount)
    for number in range(amount):
        machine, day = number % machines, number // machines
        date = time.strftime("%Y-%m-%d", time.gmtime((FIRST + day) * 86_400))
        kernel = "6.18-rt" if machine % 2 else "6.12-rt"
        for name, table in sample:
            replaced = {"machine": f"m{machine:05}", "kernel": kernel, "run": None}
            run = f"{abs(hash((table['run'][0].as_py(), number))):032x}"
            replaced["run"] = run
            for column, value in replaced.items():
                if column in table.column_names:
                    at = table.column_names.index(column)
                    table = table.set_column(at, column, pyarrow.array([value] * len(table), pyarrow.string()))
            # Equal copies would compress to nothing.
            for column in VARYING:
                if column in table.column_names:
                    at = table.column_names.index(column)
                    shifted = pyarrow.compute.add(table[column], number * 7_919)
                    table = table.set_column(at, column, shifted)
            path = tables / name / f"date={date}" / f"machine=m{machine:05}" / f"{run}.parquet"
            path.parent.mkdir(parents=True, exist_ok=True)
            pyarrow.parquet.write_table(table, path, compression="zstd")
    whylate.write_views(tables)


def together(tables, days):
    """One file of each table and day: what a query reads of 100 machines is opened once."""
    days.mkdir()
    connection = connected(tables)
    views = []
    for table in whylate.schema():
        if not (tables / table).is_dir():
            # A table without rows is an empty view.
            lines = (tables / "views.sql").read_text().splitlines()
            views.append(next(line for line in lines if f" VIEW {table} AS " in line))
            continue
        connection.execute(
            f"COPY (FROM {table} ORDER BY date, machine, run) TO '{days / table}' (FORMAT parquet, COMPRESSION zstd, PARTITION_BY (date))"
        )
        views.append(
            f"CREATE VIEW {table} AS FROM read_parquet('{days / table}/*/*.parquet', union_by_name = true, "
            "hive_partitioning = true, hive_types = {'date': VARCHAR});"
        )
    (days / "views.sql").write_text("\n".join(views))


def connected(directory):
    connection = duckdb.connect()
    connection.execute("SET threads = 2")
    connection.execute((directory / "views.sql").read_text())
    connection.execute("SET VARIABLE before = '6.12-rt'; SET VARIABLE after = '6.18-rt'")
    return connection


def row(amount, directory, layout):
    files = list(directory.glob("**/*.parquet"))
    size = sum(path.stat().st_size for path in files) / 1e6
    cells = [f"{amount}, {layout}", f"{len(files)}", f"{size:.1f}", f"{len(files) / amount:.1f}", f"{size / amount:.3f}"]
    for name in QUERIES:
        query = (ROOT / f"docs/queries/{name}.sql").read_text()
        times = []
        for _ in range(3):
            connection = connected(directory)
            start = time.monotonic()
            connection.execute(query).fetchall()
            times.append(time.monotonic() - start)
        cells.append(f"{statistics.median(times):.2f}")
    return "| " + " | ".join(cells) + " |"


if __name__ == "__main__":
    main()
