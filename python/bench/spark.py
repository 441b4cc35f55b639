"""Sums of causes over many recordings, in one process and with two executors of Spark: the numbers of docs/python.md.

    target/python/environment/bin/python python/bench/spark.py [RECORDINGS]
"""

import os
import pathlib
import shutil
import statistics
import sys
import tempfile
import time

import pyarrow
import whylate
from pyspark.sql import SparkSession
from whylate import spark as whylate_spark

FIXTURES = pathlib.Path(__file__).resolve().parents[2] / "crates/cli/tests/fixtures"


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    os.environ["PYSPARK_PYTHON"] = sys.executable
    with tempfile.TemporaryDirectory() as directory:
        fixtures = sorted(FIXTURES.glob("*.dat"))
        paths = []
        for number in range(count):
            paths.append(pathlib.Path(directory) / f"r{number}.dat")
            shutil.copy(fixtures[number % len(fixtures)], paths[-1])
        size = sum(path.stat().st_size for path in paths) / 1e6
        print(f"{count} recordings, {size:.0f} MB, load average {os.getloadavg()[0]:.1f}")
        expected = timed("one process", lambda: alone(paths))
        session = (
            SparkSession.builder.master("local-cluster[2,1,1024]")
            .config("spark.ui.enabled", "false")
            .config("spark.sql.warehouse.dir", directory)
            .getOrCreate()
        )
        session.sparkContext.setLogLevel("ERROR")
        # The first task of an executor starts its interpreters.
        cluster(session, paths[:4], 1)
        for per_task in (1, 10):
            sums = timed(f"two executors, {per_task} in a task", lambda: cluster(session, paths, per_task))
            assert sums == expected
        session.stop()


def timed(what, work):
    times = []
    for _ in range(3):
        start = time.monotonic()
        result = work()
        times.append(time.monotonic() - start)
    print(f"{what}: {statistics.median(times):.1f} s (of three: {min(times):.1f} to {max(times):.1f})", flush=True)
    return result


def alone(paths):
    sums = {}
    for path in paths:
        for row in pyarrow.table(whylate.tables(path, table="segments")).group_by("cause").aggregate([("ns", "sum")]).to_pylist():
            sums[row["cause"]] = sums.get(row["cause"], 0) + row["ns_sum"]
    return sums


def cluster(session, paths, per_task):
    rows = whylate_spark.explain(session, paths, per_task=per_task).groupBy("cause").sum("ns").collect()
    return {row["cause"]: row["sum(ns)"] for row in rows}


if __name__ == "__main__":
    main()
