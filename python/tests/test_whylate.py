"""The package reports what the program reports."""

import json
import pathlib
import re
import subprocess
import threading

import pytest
import whylate

pyarrow = pytest.importorskip("pyarrow")

TASKS = """
[machine]
kernel = "6.12-rt"
cpus = 1

[[task]]
name = "ctl"
policy = "fifo"
priority = 50
period = "10ms"
run = "1ms"
deadline = "2ms"

[[task]]
name = "logger"
policy = "fifo"
priority = 60
period = "7ms"
run = "3ms"
"""


def rows(table):
    return pyarrow.table(table).to_pylist()


def printed(program, *arguments):
    run = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, check=False)
    return run.stdout, run.stderr.strip()


def test_the_tables_of_an_explanation_are_its_document(recordings):
    assert len(recordings) > 10
    for path in recordings:
        report = whylate.explain(path)
        document = report.document()
        assert document["schema"] == "whylate.explain/1"
        activations = rows(report.table("activations"))
        assert sorted((a["tid"], a["due_ns"], a["cause"]) for a in activations) == sorted(
            (a["tid"], a["due_ns"], a["verdict"]["cause"]) for a in document["activations"]
        )
        segments = rows(report.table("segments"))
        assert sum(s["ns"] for s in segments) == sum(a["response_ns"] for a in activations)
        assert {a["run"] for a in activations} <= {rows(report.table("runs"))[0]["run"]}


def test_documents_are_those_of_the_program(program, recording, tmp_path):
    explained = whylate.explain(recording, deadline="500us", worst=3).document()
    assert explained == json.loads(printed(program, "explain", "--json", "--deadline", "500us", "--worst", 3, recording)[0])
    machine(tmp_path)
    assert whylate.check(tmp_path).document() == json.loads(printed(program, "check", "--json", "--root", tmp_path)[0])
    tasks = tmp_path / "tasks.toml"
    tasks.write_text(TASKS)
    simulated = whylate.simulate(tasks, duration="200ms").document()
    assert simulated == json.loads(printed(program, "simulate", "--json", "-d", "200ms", tasks)[0])


def test_tasks_and_deadline_select(recording):
    every = rows(whylate.explain(recording).table("activations"))
    comm = every[0]["comm"]
    chosen = rows(whylate.explain(recording, tasks=[comm], worst=3).table("activations"))
    assert {a["comm"] for a in chosen} == {comm}
    assert len(chosen) <= 3
    late = whylate.explain(recording, deadline=1).document()
    assert any("deadline" in finding["code"] for finding in late["findings"])
    with pytest.raises(whylate.Error, match="longer than zero"):
        whylate.explain(recording, deadline=0)
    with pytest.raises(whylate.Error, match="worst must be 1 to 10000"):
        whylate.explain(recording, worst=0)


def test_errors_are_the_programs(program, tmp_path):
    noise = tmp_path / "noise"
    noise.write_bytes(b"\x9e" * 4000)
    for path in [noise, tmp_path / "absent", tmp_path]:
        with pytest.raises(whylate.Error) as caught:
            whylate.explain(path)
        assert str(path) in str(caught.value)
        assert printed(program, "explain", path)[1] == f"whylate: {caught.value}"
    wrong = tmp_path / "wrong.toml"
    wrong.write_text(TASKS.replace("fifo", "first"))
    for path in [wrong, tmp_path / "absent.toml"]:
        with pytest.raises(whylate.Error) as caught:
            whylate.simulate(path)
        assert printed(program, "simulate", path)[1] == f"whylate: {caught.value}"
    with pytest.raises(whylate.Error) as caught:
        whylate.check(tmp_path / "absent")
    assert printed(program, "check", "--root", tmp_path / "absent")[1] == f"whylate: {caught.value}"


def test_an_unknown_table_is_refused_with_all_names(recording):
    for call in [lambda: whylate.tables(recording, table="x"), lambda: whylate.explain(recording).table("x")]:
        with pytest.raises(whylate.Error, match="there is no table `x`: use one of runs, machines"):
            call()


def test_events_are_a_stream_in_the_order_of_time(recording):
    opened = whylate.open(recording)
    assert opened.cpus >= 1 and opened.format.startswith("trace.dat")
    stream = opened.events()
    reader = pyarrow.RecordBatchReader.from_stream(stream)
    table = reader.read_all()
    assert table.num_rows > 1000
    times = table["ts_ns"].to_pylist()
    assert times == sorted(times)
    events = zip(table["event"].to_pylist(), table["fields"].to_pylist())
    switches = [json.loads(fields) for event, fields in events if event == "sched_switch"]
    assert switches and all("next_comm" in fields for fields in switches)
    with pytest.raises(whylate.Error, match="consumed already"):
        pyarrow.RecordBatchReader.from_stream(stream)


def test_events_are_those_that_the_program_converts(program, recording):
    head, *lines = printed(program, "convert", recording, "-", "--format", "jsonl")[0].splitlines()
    assert json.loads(head)["schema"] == "whylate.events/1"
    names = ["ts", "cpu", "tid", "group", "event", "fields"]
    converted = [tuple(event.get(name) for name in names) for event in map(json.loads, lines)]
    table = pyarrow.RecordBatchReader.from_stream(whylate.open(recording).events()).read_all()
    assert table.column_names == ["ts_ns", *names[1:]]
    *columns, fields = (column.to_pylist() for column in table.columns)
    assert list(zip(*columns, map(json.loads, fields))) == converted


def test_a_stream_that_is_dropped_early_ends(recording):
    before = threads()
    for _ in range(3):
        reader = pyarrow.RecordBatchReader.from_stream(whylate.open(recording).events())
        reader.read_next_batch()
        del reader
        whylate.open(recording).events()
    # Each reads to the end of its batch; on a loaded machine that takes long. One that has just begun has no name yet, so that the
    # number has to stay.
    quiet = 0
    for _ in range(12_000):
        quiet = quiet + 1 if threads() == before else 0
        if quiet == 100:
            break
        threading.Event().wait(0.01)
    assert quiet == 100


def threads():
    """The package's own threads in this process."""
    names = [path.read_text().strip() for path in pathlib.Path("/proc/self/task").glob("*/comm")]
    return names.count("whylate-events")


def test_duckdb_takes_tables_and_streams(recording):
    duckdb = pytest.importorskip("duckdb")
    segments = whylate.explain(recording).table("segments")
    total = sum(row["ns"] for row in rows(segments))
    assert duckdb.sql("SELECT sum(ns) FROM segments").fetchall()[0][0] == total
    stream = whylate.open(recording).events()
    assert duckdb.sql("SELECT count(*) FROM stream").fetchall()[0][0] > 1000


@pytest.mark.whole
def test_polars_takes_tables(recording):
    polars = pytest.importorskip("polars")
    table = whylate.explain(recording).table("segments")
    assert polars.DataFrame(table)["ns"].sum() == sum(row["ns"] for row in rows(table))


def test_pandas_takes_tables(recording):
    pytest.importorskip("pandas")
    table = whylate.explain(recording).table("segments")
    assert pyarrow.table(table).to_pandas()["ns"].sum() == sum(row["ns"] for row in rows(table))


def test_a_consumer_shares_the_memory_of_a_table(recording):
    table = whylate.explain(recording).table("segments")
    addresses = [pyarrow.table(table)["ns"].chunk(0).buffers()[1].address for _ in range(2)]
    assert addresses[0] == addresses[1]
    assert pyarrow.schema(table).metadata[b"whylate.schema"] == whylate.SCHEMA.encode()


def machine(root):
    proc = root / "proc/sys/kernel"
    proc.mkdir(parents=True)
    (proc / "osrelease").write_text("6.12.0\n")


def test_measurements_and_checks_have_tables(measurement, tmp_path):
    latencies = rows(whylate.tables(measurement, table="latencies", machine="plc1"))
    assert latencies and all(row["machine"] == "plc1" and row["samples"] > 0 for row in latencies)
    machine(tmp_path)
    report = whylate.check(tmp_path)
    answers = rows(report.table("checks"))
    assert len(answers) == len(report.document()["answers"])
    assert "cannot-tell" in {row["status"] for row in answers}
    with pytest.raises(whylate.Error, match="no such profile"):
        whylate.check(tmp_path, profile="x")


def test_a_simulation_has_tables():
    report = whylate.simulate(text=TASKS, duration="200ms", worst=5)
    assert rows(report.table("runs"))[0]["kind"] == "simulation"
    late = [a for a in rows(report.table("activations")) if a["comm"] == "ctl"]
    assert len(late) == 5 and {a["cause"] for a in late} == {"higher-priority-task"}
    assert {a["culprit"] for a in late} == {"logger"}
    codes = [finding["code"] for finding in rows(report.table("findings"))]
    assert codes == [finding["code"] for finding in report.document()["findings"]] and codes
    for wrong in [{}, {"path": "a", "text": TASKS}]:
        with pytest.raises(whylate.Error, match="either the path of a task set or its text"):
            whylate.simulate(**wrong)


def test_a_measurement_of_this_machine():
    report = whylate.measure("200ms", trace=False)
    assert sum(row["samples"] for row in rows(report.table("latencies"))) > 0
    assert report.document()["schema"] == "whylate.measure/1"
    with pytest.raises(whylate.Error, match="CPU"):
        whylate.measure("200ms", trace=False, cpus="x")


def test_an_input_is_imported_once(recording, tmp_path):
    first = whylate.import_tables(recording, tmp_path, machine="plc1", date="2026-11-24")
    again = whylate.import_tables(recording, tmp_path)
    assert (first["added"], again["added"], again["present"]) == (1, 0, 1)
    assert list(tmp_path.glob("segments/date=2026-11-24/machine=plc1/*.parquet"))


def test_the_lock_of_the_interpreter_is_released(recording):
    """Another thread runs Python while a recording is explained."""
    explaining, done = threading.Event(), threading.Event()
    counted = 0

    def work():
        explaining.set()
        whylate.tables(recording, all=True)
        done.set()

    worker = threading.Thread(target=work)
    worker.start()
    explaining.wait()
    while not done.is_set():
        counted += 1
    worker.join()
    # With the lock held, this thread would get at most a turn before and one after.
    assert counted > 100


def test_the_stub_lists_what_there_is():
    stub = pathlib.Path(whylate.__file__).with_name("__init__.pyi").read_text()
    for name in whylate.__all__:
        assert re.search(rf"^(def|class) {name}\b|^{name}:", stub, re.M), name
    for kind in [whylate.Table, whylate.Report, whylate.Recording, whylate.EventStream]:
        declared = stub.split(f"class {kind.__name__}:")[1].split("\nclass ")[0]
        for name in vars(kind):
            if not name.startswith("__") or name.startswith("__arrow"):
                assert f"def {name}(" in declared, (kind, name)
