from os import PathLike
from typing import Any, Literal, Sequence, Union, final, overload

_Path = Union[str, PathLike[str]]
_Duration = Union[int, str]
_Task = Union[int, str]

__all__ = [
    "SCHEMA",
    "Error",
    "EventStream",
    "Recording",
    "Report",
    "Table",
    "__version__",
    "check",
    "explain",
    "import_tables",
    "measure",
    "open",
    "schema",
    "simulate",
    "tables",
    "write_views",
]

SCHEMA: str
"""The name and version of the tables' schema."""
__version__: str

class Error(Exception):
    """What could not be done, and why: the message of the program."""

@final
class Table:
    """A table in Arrow's layout: ``pyarrow.table(t)``, ``polars.DataFrame(t)``, ``duckdb.sql("FROM t")``."""

    @property
    def num_rows(self) -> int: ...
    @property
    def column_names(self) -> list[str]: ...
    def __len__(self) -> int: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
    def __arrow_c_schema__(self) -> object: ...

@final
class Report:
    """What a verb reports, as its JSON document and as tables."""

    @property
    def tables(self) -> dict[str, Table]:
        """The tables that have rows, by name."""
    def table(self, name: str) -> Table:
        """A table by its name; one without rows is empty."""
    def document(self) -> dict[str, Any]:
        """What the program prints with ``--json``."""
    def json(self) -> str:
        """The same as text."""

@final
class EventStream:
    """The events of a recording as batches. It can be consumed once."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
    def __arrow_c_schema__(self) -> object: ...

@final
class Recording:
    """A recording that is open."""

    @property
    def format(self) -> str: ...
    @property
    def cpus(self) -> int: ...
    @property
    def kernel(self) -> str | None: ...
    @property
    def machine(self) -> str | None: ...
    @property
    def clock(self) -> str | None: ...
    def events(self) -> EventStream:
        """Columns ``ts_ns, cpu, tid, group, event`` and ``fields``: the event's own fields as JSON."""

def explain(
    path: _Path, *, tasks: Sequence[_Task] | None = None, deadline: _Duration | None = None, worst: int = 10
) -> Report:
    """Explains why the threads of a recording were late, as ``whylate explain`` does.

    ``tasks`` are names or ids, ``deadline`` nanoseconds or text such as ``"500us"``.
    """

def check(root: _Path = ..., *, profile: str = "realtime") -> Report:
    """Checks whether a machine is ready for real-time work: this one, a directory with its root, or a snapshot."""

def measure(
    duration: _Duration,
    *,
    trace: bool = True,
    cpus: str | None = None,
    interval: _Duration | None = None,
    priority: int | None = None,
) -> Report:
    """Measures the wake-up latency of this machine, and explains the worst wake-ups, as ``whylate measure`` does.

    ``cpus`` is a list such as ``"1-3"``. Ctrl-C ends the measurement.
    """

def simulate(
    path: _Path | None = None,
    *,
    text: str | None = None,
    kernel: str | None = None,
    cpus: int | None = None,
    duration: _Duration | None = None,
    seed: int = 0,
    worst: int = 3,
) -> Report:
    """Predicts what a task set (a file, or its ``text``) does on a kernel, as ``whylate simulate`` does."""

def open(path: _Path) -> Recording:
    """Opens a recording of any format that ``whylate explain`` reads."""

@overload
def tables(
    path: _Path,
    *,
    table: None = None,
    machine: str | None = None,
    tasks: Sequence[_Task] | None = None,
    deadline: _Duration | None = None,
    worst: int = 10,
    all: bool = False,
) -> dict[str, Table]: ...
@overload
def tables(
    path: _Path,
    *,
    table: str,
    machine: str | None = None,
    tasks: Sequence[_Task] | None = None,
    deadline: _Duration | None = None,
    worst: int = 10,
    all: bool = False,
) -> Table:
    """The rows of an input: a recording, measurement, document, snapshot or bundle."""

def import_tables(
    path: _Path,
    output: _Path,
    *,
    machine: str | None = None,
    date: str | None = None,
    tasks: Sequence[_Task] | None = None,
    deadline: _Duration | None = None,
    worst: int = 10,
    all: bool = False,
    replace: bool = False,
) -> dict[Literal["added", "present", "rows"], int]:
    """Adds an input to a directory of Parquet tables, as ``whylate tables`` does."""

def schema() -> dict[str, list[tuple[str, str]]]:
    """The tables and their columns with the types of SQL."""

def write_views(directory: _Path) -> None:
    """Writes ``views.sql`` into a directory of tables: their names for DuckDB. An import does so by itself."""
