"""On a cluster of Ray: the same rows as in one process, also where a worker is killed. `cargo xtask python` installs Ray."""

import collections
import os
import shutil
import signal
import threading
import time

import pytest
import whylate
from whylate import ray as whylate_ray

pytestmark = pytest.mark.whole
pyarrow = pytest.importorskip("pyarrow")

RECORDINGS = 40


@pytest.fixture(scope="module")
def cluster():
    ray = pytest.importorskip("ray")
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    yield
    ray.shutdown()


def counted(rows):
    return collections.Counter(tuple(sorted(row.items())) for row in rows)


def test_the_rows_are_those_of_one_process(cluster, recordings, tmp_path):
    paths = []
    for number in range(RECORDINGS):
        paths.append(tmp_path / f"{number}.dat")
        shutil.copy(recordings[number % len(recordings)], paths[-1])
    noise = tmp_path / "noise"
    noise.write_bytes(b"\x9e" * 4000)
    expected = []
    for path in paths:
        for row in pyarrow.table(whylate.tables(path, table="segments")).to_pylist():
            expected.append({**row, "path": str(path), "error": None})
    dataset = whylate_ray.explain([*paths, noise])
    over = threading.Event()
    killed = []

    def kill_workers():
        while not over.wait(0.2) and len(killed) < 2:
            for pid in workers():
                os.kill(pid, signal.SIGKILL)
                killed.append(pid)
                time.sleep(1)
                break

    killer = threading.Thread(target=kill_workers)
    killer.start()
    try:
        read = dataset.take_all()
    finally:
        over.set()
        killer.join()
    assert killed, "no worker was killed"
    bad = [row for row in read if row["error"] is not None]
    assert [row["path"] for row in bad] == [str(noise)]
    with pytest.raises(whylate.Error) as caught:
        whylate.tables(noise)
    assert bad[0]["error"] == str(caught.value)
    assert counted(row for row in read if row["error"] is None) == counted(expected)


def workers():
    """The processes that run a task of `map_batches`; Ray names them so."""
    found = []
    for entry in os.listdir("/proc"):
        try:
            with open(f"/proc/{entry}/cmdline", "rb") as file:
                name = file.read()
        except OSError:
            continue
        if name.startswith(b"ray::MapBatches"):
            found.append(int(entry))
    return found


def test_an_unknown_table_or_option_fails_before_the_job(cluster):
    with pytest.raises(whylate.Error, match="there is no table `x`"):
        whylate_ray.tables([], table="x")
    with pytest.raises(TypeError):
        whylate_ray.explain([], depth=3)
