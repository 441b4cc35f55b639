"""Why a real-time Linux task is late: the crates of ``whylate`` as functions that give Arrow tables.

>>> import whylate
>>> report = whylate.explain("trace.dat", deadline="500us")      # doctest: +SKIP
>>> report.table("segments")                                      # doctest: +SKIP
"""

from ._whylate import (
    SCHEMA,
    Error,
    EventStream,
    Recording,
    Report,
    Table,
    __version__,
    check,
    explain,
    import_tables,
    measure,
    open,
    schema,
    simulate,
    tables,
    write_views,
)

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
