"""The twenty questions, over the made data set and over tables of real recordings."""

import pathlib
import shutil

import made
import pytest
import whylate

duckdb = pytest.importorskip("duckdb")
pytest.importorskip("pyarrow")

QUERIES = pathlib.Path(__file__).resolve().parents[2] / "docs/queries"
US = made.US
MENU = "/sys/devices/system/cpu/cpuidle/current_governor"

# The columns that are compared, and their rows.
ANSWERS = {
    "01-top-causes": (
        ["cause", "culprit", "machines", "activations", "charged_ns", "worst_ns"],
        [
            ("higher-priority-task", "multipathd", 2, 4, 5_400 * US, 2_000 * US),
            ("lock-wait", "logger", 2, 2, 2_800 * US, 1_500 * US),
        ],
    ),
    "02-culprits-by-machine": (
        ["machine", "culprit", "charged_ns"],
        [("a1", "multipathd", 2_700 * US), ("b1", "multipathd", 2_700 * US)],
    ),
    "03-since-when": (
        ["cause", "first_seen", "last_seen", "days", "machines"],
        [("higher-priority-task", made.DAYS[0], made.DAYS[2], 2, 2), ("lock-wait", made.DAYS[0], made.DAYS[2], 2, 2)],
    ),
    # 6.12: a1, a2, b1 on two days, b2 on one: 40 samples of 20 us, 30 of 80 us in 700,000; 70 are over rank 699,930.
    # 6.18: 2,000 of 50 us, 10 of 80 us in 300,000.
    "04-kernels": (
        ["kernel", "samples", "p50_ns", "p99_ns", "p99_99_ns", "max_ns"],
        [
            ("6.18-rt", 300_000, 5 * US, 5 * US, 50 * US, 80 * US),
            ("6.12-rt", 700_000, 5 * US, 5 * US, 5 * US, 80 * US),
        ],
    ),
    "05-regression": (["before_ns", "after_ns", "verdict"], [(5 * US, 50 * US, "worse")]),
    "06-boards": (
        ["kernel", "board", "samples", "p99_999_ns"],
        [
            ("6.12-rt", "B", 300_000, 80 * US),
            ("6.12-rt", "A", 200_000, 20 * US),
            ("6.12-rt", "A old", 200_000, 20 * US),
            ("6.18-rt", "B", 100_000, 80 * US),
            ("6.18-rt", "A", 100_000, 50 * US),
            ("6.18-rt", "A old", 100_000, 50 * US),
        ],
    ),
    "07-settings": (
        ["kernel", "name", "better", "worse", "apart_ns", "machines"],
        [("6.12-rt", MENU, "haltpoll", "menu", 60.0 * US, 4), ("6.18-rt", MENU, "haltpoll", "menu", 30.0 * US, 3)],
    ),
    "08-worst-machine-per-day": (["machine", "max_ns"], [("b1", 80 * US)] * 3),
    "09-silent-machines": (["machine", "last_seen", "days"], [("b2", made.DAYS[0], 2)]),
    "10-failed-checks": (
        ["code", "failed", "unknown", "machines", "fix"],
        [("c-states", 2, 0, 4, "tune c-states"), ("smt", 0, 1, 4, None)],
    ),
    "11-checks-and-latency": (
        ["code", "failed", "passed", "failed_max_ns", "passed_max_ns"],
        [("c-states", 2, 2, 80.0 * US, 50.0 * US)],
    ),
    "12-findings": (["code", "machines", "findings"], [("rt-throttled", 1, 1), ("lock-inversion", 2, 2)]),
    "13-missed-deadlines": (
        ["machine", "comm", "missed", "worst_ns"],
        [("a1", "plc", 2, 2_000 * US), ("b1", "plc", 2, 2_000 * US)],
    ),
    "14-places": (["where", "ns", "segments"], [("log.c:17 (`write_line`)", 2_800 * US, 2)]),
    "15-lock-owners": (["owner", "waits", "machines", "ns"], [("logger", "plc", 2, 2_800 * US)]),
    # 300 us of 4,400 us are not charged.
    "16-unexplained": (["kernel", "unexplained_ns", "percent"], [("6.18-rt", 300 * US, 6.8), ("6.12-rt", None, 0.0)]),
    "17-cpus": (
        ["machine", "cpu", "max_ns"],
        [("b1", 1, 80 * US), ("b2", 1, 80 * US), ("a1", 1, 50 * US), ("a2", 1, 50 * US)],
    ),
    "18-poor-recordings": (["machine", "source", "why"], [("b1", "r-b1-2.dat", "7 events lost")]),
    "19-two-machines-of-one-name": (["machine", "boards"], [("a2", ["A", "A old"])]),
    "20-after-an-update": (
        ["machine", "since", "old_kernel", "new_kernel", "times"],
        [("a1", made.DAYS[2], "6.12-rt", "6.18-rt", 2.5), ("a2", made.DAYS[2], "6.12-rt", "6.18-rt", 2.5)],
    ),
}


def connected(directory):
    """A connection with the views that an import writes."""
    connection = duckdb.connect()
    connection.execute((pathlib.Path(directory) / "views.sql").read_text())
    return connection


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    directory = tmp_path_factory.mktemp("made")
    made.make(directory)
    whylate.write_views(directory)
    connection = connected(directory)
    connection.execute("SET VARIABLE before = '6.12-rt'; SET VARIABLE after = '6.18-rt'; SET VARIABLE q = 0.995")
    return connection


def test_every_question_has_an_answer():
    files = sorted(path.stem for path in QUERIES.glob("*.sql"))
    assert files == sorted(ANSWERS)
    page = (QUERIES / "README.md").read_text()
    assert all(f"({name}.sql)" in page for name in files)


@pytest.mark.parametrize("name", sorted(ANSWERS))
def test_the_answer_is_known(tables, name):
    columns, expected = ANSWERS[name]
    result = tables.execute((QUERIES / f"{name}.sql").read_text())
    names = [column[0] for column in result.description]
    rows = [tuple(row[names.index(column)] for column in columns) for row in result.fetchall()]
    assert rows == expected


def test_every_question_runs_on_real_tables(recordings, measurement, tmp_path):
    for path in [*recordings[:4], measurement]:
        whylate.import_tables(path, tmp_path)
    connection = connected(tmp_path)
    connection.execute("SET VARIABLE before = 'a'; SET VARIABLE after = 'b'")
    for path in sorted(QUERIES.glob("*.sql")):
        connection.execute(path.read_text()).fetchall()
    unnamed = connection.execute("SELECT count(*) FROM runs WHERE date IS NULL AND machine IS NULL").fetchone()
    assert unnamed[0] > 0


def test_older_and_later_tables_are_read_together_with_new_ones(tmp_path, recording):
    fixtures = pathlib.Path(__file__).resolve().parents[2] / "crates/tables/tests/fixtures"
    shutil.copytree(fixtures / "older", tmp_path, dirs_exist_ok=True)
    later = tmp_path / "segments/date=2031-01-01/machine=plc3"
    later.mkdir(parents=True)
    shutil.copy(fixtures / "segments-1-later.parquet", later)
    assert whylate.import_tables(recording, tmp_path, machine="plc2", date="2026-11-24")["added"] == 1
    connection = duckdb.connect()
    connection.execute((tmp_path / "views.sql").read_text())
    runs = connection.execute("SELECT machine, kind, future, unlisted_threads IS NULL FROM runs ORDER BY ALL").fetchall()
    assert runs == [
        ("plc1", "measurement", None, True),
        ("plc1", "recording", None, True),
        ("plc2", "recording", False, False),
    ]
    counts = connection.execute('SELECT machine, count(*), count("where"), count(weather) FROM segments GROUP BY ALL ORDER BY 1').fetchall()
    assert [(machine, weather) for machine, _, _, weather in counts] == [("plc1", 0), ("plc2", 0), ("plc3", 5)]
    for query in sorted(QUERIES.glob("*.sql")):
        connection.execute(query.read_text())
