"""Imports of a recording into tables, beside other programs that make tables of it: the numbers of docs/tables.md.

    target/python/environment/bin/python python/bench/imports.py RECORDING ["NAME=COMMAND with {trace}" ...]
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import time

# A new directory for each run: an input is added once.
IMPORT = """
import sys, tempfile, whylate
with tempfile.TemporaryDirectory(dir=sys.argv[2]) as output:
    whylate.import_tables(sys.argv[1], output, all=sys.argv[3] == "all")
"""


def measured(name, command):
    """Runs a command three times, each with its own figures of the kernel; prints the middle one by time."""
    runs = []
    for _ in range(3):
        start = time.monotonic()
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        runs.append((time.monotonic() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss // 1024))
        if status != 0:
            sys.exit(f"{name}: {command} failed with status {status}")
    seconds, cpu, peak = sorted(runs)[1]
    print(f"| {name} | {seconds:.2f} s | {cpu:.2f} s | {peak} MiB |", flush=True)


def main():
    trace, peers = sys.argv[1], [peer.split("=", 1) for peer in sys.argv[2:]]
    print(f"load average {os.getloadavg()[0]:.1f}, {pathlib.Path(trace).stat().st_size / 1e6:.1f} MB")
    with tempfile.TemporaryDirectory() as directory:
        for amount in ["worst", "all"]:
            measured(f"whylate, {amount}", [sys.executable, "-c", IMPORT, trace, directory, amount])
    for name, command in peers:
        measured(name, command.replace("{trace}", trace).split())


if __name__ == "__main__":
    main()
