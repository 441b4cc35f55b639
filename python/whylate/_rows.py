"""What the tasks of a cluster do with one file, whichever framework runs them."""

from __future__ import annotations

import inspect
import os
from typing import TYPE_CHECKING, Any

import whylate

if TYPE_CHECKING:
    import pyarrow


def columns_of(table: str) -> list[tuple[str, str]]:
    """Name and type of each column."""
    columns = whylate.schema().get(table)
    if columns is None:
        raise whylate.Error(f"there is no table `{table}`: use one of {', '.join(whylate.schema())}")
    return columns


def check(function: Any, options: dict[str, Any]) -> None:
    """Refuses wrong options here: in a task each file would be a row with the same error."""
    inspect.signature(function).bind("path", **options)
    try:
        whylate.tables(os.devnull, **{name: options[name] for name in ("tasks", "deadline", "worst") if name in options})
    except whylate.Error as error:
        if not str(error).startswith(os.devnull):
            raise


def of_file(path: str, table: str, columns: list[tuple[str, str]], options: dict[str, Any]) -> pyarrow.Table:
    """The rows of a table of one file, with ``path`` and ``error`` in front; of a file that cannot be read, a row with its
    error."""
    import pyarrow

    kinds = {
        "BIGINT": pyarrow.int64(),
        "DOUBLE": pyarrow.float64(),
        "BOOLEAN": pyarrow.bool_(),
        "VARCHAR": pyarrow.string(),
    }
    try:
        read = pyarrow.table(whylate.tables(path, table=table, **options))
        error = None
    except whylate.Error as failure:
        read = pyarrow.table({name: pyarrow.nulls(1, kinds[kind]) for name, kind in columns})
        error = str(failure)
    count = read.num_rows
    front = {
        "path": pyarrow.array([path] * count, pyarrow.string()),
        "error": pyarrow.array([error] * count, pyarrow.string()),
    }
    return pyarrow.table({**front, **{name: read[name] for name in read.column_names}})
