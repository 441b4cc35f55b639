"""A small data set that is made up, with known answers: four machines, two boards, two kernels, three days.

Machines a1 and a2 have board A, b1 and b2 board B. On day 3 a1, a2 and b1 run kernel 6.18, before that 6.12. b2 is silent from
day 2 on. Each measurement has 100,000 samples of 5 us, but for a tail:

    board A, 6.12: 10 samples of 20 us          board A, 6.18: 1,000 samples of 50 us
    board B, 6.12: 10 samples of 80 us          board B, 6.18: 10 samples of 80 us

so that p99.9 of kernel 6.18 is worse by board A, and the boards differ on 6.12 at p99.999.
"""

import pathlib

import pyarrow
import pyarrow.parquet
import whylate

DAYS = ["2026-11-01", "2026-11-02", "2026-11-03"]
KINDS = {"BIGINT": pyarrow.int64(), "DOUBLE": pyarrow.float64(), "BOOLEAN": pyarrow.bool_(), "VARCHAR": pyarrow.string()}
US = 1_000


def make(directory):
    """Writes the tables below a directory."""
    for day in range(3):
        for machine in ["a1", "a2", "b1", "b2"]:
            if machine != "b2" or day == 0:
                measurement(directory, machine, day)
    recording(directory, "a1", 0)
    recording(directory, "b1", 2)
    for machine in ["a1", "a2", "b1", "b2"]:
        check(directory, machine)
    facts(directory)


def kernel(machine, day):
    return "6.18-rt" if day == 2 and machine != "b2" else "6.12-rt"


def tail(machine, day):
    """How many samples, how late."""
    if machine[0] == "b":
        return 10, 80 * US
    return (1_000, 50 * US) if day == 2 else (10, 20 * US)


def measurement(directory, machine, day):
    count, late = tail(machine, day)
    run = f"m-{machine}-{day}"
    common = {"thread": "CPU 1", "cpu": 1, "stage": False}
    rows = [
        {**common, "from_ns": 5 * US, "upto_ns": 5 * US, "count": 100_000 - count},
        {**common, "from_ns": late, "upto_ns": late, "count": count},
    ]
    write(directory, "histograms", machine, day, run, rows)
    quiet = {"thread": "CPU 0", "cpu": 0, "stage": False, "samples": 0}
    latencies = [{**common, "samples": 100_000, "min_ns": 5 * US, "max_ns": late}, quiet]
    write(directory, "latencies", machine, day, run, latencies)
    governor = "menu" if machine[0] == "b" else "haltpoll"
    settings = [
        {"name": "/sys/devices/system/cpu/cpuidle/current_governor", "value": governor},
        {"name": "/proc/sys/kernel/timer_migration", "value": "0"},
    ]
    write(directory, "settings", machine, day, run, settings)
    row = {"kind": "measurement", "source": f"{run}.json", "kernel": kernel(machine, day), "samples": 100_000, "max_ns": late}
    write(directory, "runs", machine, day, run, [{**row, "future": False}])


def recording(directory, machine, day):
    """Three activations of `plc`: two late by `multipathd`, one by a lock that `logger` holds."""
    run = f"r-{machine}-{day}"
    common = {"tid": 40, "comm": "plc", "class": "realtime", "priority": 50, "starts_program": False, "ends_program": False}
    activations = [
        {**common, "due_ns": 0, "response_ns": 900 * US, "cause": "higher-priority-task", "culprit": "multipathd", "charged_ns": 800 * US},
        {**common, "due_ns": 10**7, "response_ns": 2_000 * US, "cause": "higher-priority-task", "culprit": "multipathd", "charged_ns": 1_900 * US},
        {**common, "due_ns": 2 * 10**7, "response_ns": 1_500 * US, "cause": "lock-wait", "culprit": "logger", "charged_ns": 1_400 * US},
    ]
    write(directory, "activations", machine, day, run, activations)
    segments = []
    for activation in activations:
        own = activation["response_ns"] - activation["charged_ns"]
        late = {key: activation[key] for key in ["tid", "comm", "due_ns", "cause", "culprit"]}
        is_lock = activation["cause"] == "lock-wait"
        more = {"owner": "logger", "where": "log.c:17 (`write_line`)"} if is_lock else {}
        segments.append({**late, "start_ns": activation["due_ns"], "ns": activation["charged_ns"], **more})
        at = activation["due_ns"] + activation["charged_ns"]
        cause = "unexplained" if machine == "b1" else "own-work"
        segments.append({"tid": 40, "comm": "plc", "due_ns": activation["due_ns"], "start_ns": at, "ns": own, "cause": cause})
    write(directory, "segments", machine, day, run, segments)
    findings = [{"code": "lock-inversion", "severity": "warning", "title": "a lock without inheritance"}]
    if machine == "b1":
        findings.append({"code": "rt-throttled", "severity": "error", "title": "throttled"})
    write(directory, "findings", machine, day, run, findings)
    lost = 7 if machine == "b1" else 0
    row = {"kind": "recording", "source": f"{run}.dat", "kernel": kernel(machine, day), "quality": "whole", "damage": 0}
    write(directory, "runs", machine, day, run, [{**row, "lost_events": lost, "future": False}])


def check(directory, machine):
    """`c-states` fails on board B, `smt` nowhere; on a2 it cannot be told."""
    run = f"c-{machine}"
    states = "fail" if machine[0] == "b" else "pass"
    rows = [
        {"code": "c-states", "severity": "error", "status": states, "fix": "tune c-states"},
        {"code": "smt", "severity": "warning", "status": "cannot-tell" if machine == "a2" else "pass"},
    ]
    write(directory, "checks", machine, 0, run, rows)
    write(directory, "runs", machine, 0, run, [{"kind": "check", "source": f"{run}.json", "future": False}])


def facts(directory):
    """Boards; the name `a2` has two of them."""
    for machine, run, board in [("a1", "s-a1", "A"), ("a2", "s-a2", "A"), ("a2", "s-a2x", "A old"), ("b1", "s-b1", "B"), ("b2", "s-b2", "B")]:
        write(directory, "machines", machine, 0, run, [{"board": board, "arch": "x86_64", "cpu_model": "Atom"}])


def write(directory, table, machine, day, run, rows):
    """A file as `whylate tables` writes it."""
    columns = whylate.schema()[table]
    schema = pyarrow.schema([(name, KINDS[kind]) for name, kind in columns])
    whole = [{**dict.fromkeys(schema.names), **row, "machine": machine, "run": run} for row in rows]
    made = pyarrow.Table.from_pylist(whole, schema=schema)
    made = made.replace_schema_metadata({"whylate.schema": whylate.SCHEMA, "whylate.table": table})
    path = pathlib.Path(directory) / table / f"date={DAYS[day]}" / f"machine={machine}" / f"{run}.parquet"
    path.parent.mkdir(parents=True, exist_ok=True)
    pyarrow.parquet.write_table(made, path, compression="zstd")
