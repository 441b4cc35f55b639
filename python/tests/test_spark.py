"""On a cluster: the same rows as in one process, also where executors are killed. Needs pyspark and Java.

In `cargo xtask test` two recordings and four measurements in one process of Spark. `cargo xtask python` sets
WHYLATE_SPARK_WHOLE: two executors, 200 recordings and 2,000 measurements, and executors are killed meanwhile.
"""

import collections
import contextlib
import os
import pathlib
import shutil
import signal
import sys
import threading
import time

import pytest
import whylate

if not shutil.which("java"):
    pytest.skip("no java", allow_module_level=True)
pyspark = pytest.importorskip("pyspark")
# Without it, Spark refuses mapInArrow.
pytest.importorskip("pandas")
pyarrow = pytest.importorskip("pyarrow")

from whylate import spark as whylate_spark  # noqa: E402

WHOLE = bool(os.environ.get("WHYLATE_SPARK_WHOLE"))
MASTER = "local-cluster[2,1,1024]" if WHOLE else "local[2]"
RECORDINGS = 200 if WHOLE else 2
MEASUREMENTS = 2_000 if WHOLE else 4
KILLS = 3


@pytest.fixture(scope="module")
def spark(tmp_path_factory):
    os.environ["PYSPARK_PYTHON"] = sys.executable
    work = tmp_path_factory.mktemp("spark")
    os.environ["SPARK_WORKER_DIR"] = str(work)
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master(MASTER).appName("whylate-tests")
    session = (
        builder.config("spark.ui.enabled", "false")
        .config("spark.local.dir", str(work))
        .config("spark.sql.warehouse.dir", str(work))
        .config("spark.task.maxFailures", "20")
        .config("spark.sql.session.timeZone", "UTC")
        .getOrCreate()
    )
    yield session
    session.stop()


def test_the_rows_are_those_of_one_process(spark, recordings, tmp_path):
    paths = copies(recordings, tmp_path, RECORDINGS)
    noise, absent = tmp_path / "noise", tmp_path / "absent"
    noise.write_bytes(b"\x9e" * 4000)
    start = time.monotonic()
    expected = collections.Counter()
    for path in paths:
        for row in pyarrow.table(whylate.tables(path, table="segments")).to_pylist():
            expected[tuple(sorted({**row, "path": str(path), "error": None}.items()))] += 1
    result(f"segments of {RECORDINGS} recordings, one process", start, expected.total())
    dataframe = whylate_spark.explain(spark, [*paths, noise, absent])
    if WHOLE:
        # The first use of an executor starts its interpreter.
        warm = whylate_spark.explain(spark, paths[:4]).count()
        assert warm > 0
        start = time.monotonic()
        undisturbed = as_rows(dataframe)
        result(f"segments of {RECORDINGS} recordings, {MASTER}", start, undisturbed.total())
    start = time.monotonic()
    with killed(spark) as kills:
        read = as_rows(dataframe)
    result(f"segments of {RECORDINGS} recordings, {MASTER}, {len(kills)} executors killed", start, read.total())
    assert not WHOLE or kills, "no executor was killed"
    assert not WHOLE or read == undisturbed
    bad = {dict(row)["path"]: dict(row)["error"] for row in read if dict(row)["error"] is not None}
    for path in [noise, absent]:
        with pytest.raises(whylate.Error) as caught:
            whylate.tables(path)
        assert bad.pop(str(path)) == str(caught.value)
    assert not bad
    assert collections.Counter({row: n for row, n in read.items() if dict(row)["error"] is None}) == expected
    dataframe.createOrReplaceTempView("segments")
    causes = spark.sql("SELECT cause, sum(ns) AS ns FROM segments WHERE error IS NULL GROUP BY cause").collect()
    sums = collections.Counter()
    for row, times in expected.items():
        sums[dict(row)["cause"]] += dict(row)["ns"] * times
    assert {row["cause"]: row["ns"] for row in causes} == sums


def test_an_import_on_many_workers_adds_each_input_once(spark, measurement, tmp_path):
    paths = []
    text = measurement.read_text()
    for number in range(MEASUREMENTS):
        path = tmp_path / f"m{number}.json"
        # White space makes another content of the same measurement.
        path.write_text(text + "\n" * number)
        paths.append(path)
    output = tmp_path / "tables"
    per_task = max(1, MEASUREMENTS // 200)
    start = time.monotonic()
    with killed(spark) as kills:
        done = whylate_spark.import_tables(spark, paths, str(output), per_task=per_task, machine="plc1").collect()
    result(f"import of {MEASUREMENTS} measurements, {MASTER}, {len(kills)} executors killed", start, len(done))
    assert not WHOLE or kills, "no executor was killed"
    assert len(done) == MEASUREMENTS and all(row["error"] is None for row in done)
    assert all(row["added"] + row["present"] == 1 for row in done)
    assert len(list(output.glob("runs/*/*/*.parquet"))) == MEASUREMENTS
    histograms = spark.read.parquet(str(output / "histograms"))
    one = len(pyarrow.table(whylate.tables(measurement, table="histograms")))
    assert histograms.count() == MEASUREMENTS * one
    assert histograms.select("run").distinct().count() == MEASUREMENTS


def test_an_unknown_table_or_option_fails_before_the_job(spark):
    with pytest.raises(whylate.Error, match="there is no table `x`"):
        whylate_spark.tables(spark, [], table="x")
    with pytest.raises(TypeError, match="worts"):
        whylate_spark.explain(spark, ["a.dat"], worts=3)
    with pytest.raises(whylate.Error, match="worst must be 1"):
        whylate_spark.explain(spark, ["a.dat"], worst=0)
    assert whylate_spark.explain(spark, []).collect() == []


def as_rows(dataframe):
    return collections.Counter(tuple(sorted(row.asDict().items())) for row in dataframe.collect())


def copies(recordings, directory, count):
    """As many recordings, by turns."""
    paths = []
    for number in range(count):
        path = directory / f"r{number}.dat"
        path.write_bytes(recordings[number % len(recordings)].read_bytes())
        paths.append(path)
    return paths


def result(what, start, rows):
    """A line for the page with numbers."""
    line = f"{what}: {time.monotonic() - start:.1f} s, {rows} rows"
    print(line)
    if directory := os.environ.get("WHYLATE_PYTHON_RESULTS"):
        pathlib.Path(directory).mkdir(parents=True, exist_ok=True)
        with open(pathlib.Path(directory) / "spark.txt", "a", encoding="utf-8") as file:
            file.write(line + "\n")


@contextlib.contextmanager
def killed(spark):
    """In the whole run: kills executors of this session now and then. Spark starts others."""
    kills, ending = [], threading.Event()
    application = spark.sparkContext.applicationId.encode()

    def executors():
        found = []
        for process in pathlib.Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                arguments = (process / "cmdline").read_bytes().split(b"\0")
                if any(b"CoarseGrainedExecutorBackend" in one for one in arguments) and application in arguments:
                    found.append(int(process.name))
        return sorted(found)

    def kill():
        while not ending.wait(3) and len(kills) < KILLS:
            running = executors()
            if len(running) > 1:
                os.kill(running[0], signal.SIGKILL)
                kills.append(running[0])

    thread = threading.Thread(target=kill)
    if WHOLE:
        thread.start()
    try:
        yield kills
    finally:
        ending.set()
        if WHOLE:
            thread.join()
