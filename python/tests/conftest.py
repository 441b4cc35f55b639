"""Where the tests' files are, and the program beside which the package is compared."""

import os
import pathlib
import shutil

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture
def recording():
    return ROOT / "crates/cli/tests/fixtures/6.1-higher.dat"


@pytest.fixture
def recordings():
    return sorted((ROOT / "crates/cli/tests/fixtures").glob("*.dat"))


@pytest.fixture
def measurement():
    return ROOT / "crates/report/tests/fixtures/measure-1-first.json"


@pytest.fixture
def program():
    """The program `whylate`."""
    found = os.environ.get("WHYLATE") or shutil.which("whylate")
    if not found:
        pytest.skip("no program whylate: build it, and name it in WHYLATE")
    return found


def pytest_configure(config):
    config.addinivalue_line("markers", "whole: takes longer than `cargo xtask test` has; run by `cargo xtask python`")


def pytest_runtest_logreport(report):
    note(report)


def pytest_collectreport(report):
    note(report)


def note(report):
    """Writes what is skipped to where the caller reads it, a line each."""
    file = os.environ.get("WHYLATE_PYTHON_SKIPS")
    if report.skipped and file:
        reason = report.longrepr[-1] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        with open(file, "a", encoding="utf-8") as log:
            log.write(f"{report.nodeid}: {reason.removeprefix('Skipped: ')}\n")
