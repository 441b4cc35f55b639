"""Recordings and measurements on a cluster, by Ray Data.

One task reads ``per_task`` files, whole. A file that cannot be read becomes a row with its error: no task fails because of it. A
task that is repeated, because its worker was lost, gives the same rows.

The paths must be readable on the workers, and the package installed there.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Iterable

import whylate
from whylate import _rows

if TYPE_CHECKING:
    import pyarrow
    from ray.data import Dataset

    _Path = str | os.PathLike[str]

__all__ = ["explain", "tables"]


def explain(paths: Iterable[_Path], *, table: str = "segments", per_task: int = 1, **options: Any) -> Dataset:
    """The rows of ``table`` of all recordings, with ``path`` and ``error`` in front.

    ``options`` are those of :func:`whylate.tables`: ``tasks``, ``deadline``, ``worst``, ``machine``, ``all``. A file that
    cannot be read is a row that has nothing but ``path`` and ``error``.
    """
    return tables(paths, table=table, per_task=per_task, **options)


def tables(paths: Iterable[_Path], *, table: str, per_task: int = 1, **options: Any) -> Dataset:
    """The same for every input that ``whylate tables`` takes, such as measurements with ``table="histograms"``."""
    import ray.data

    columns = _rows.columns_of(table)
    _rows.check(whylate.tables, options)

    def rows(batch: pyarrow.Table) -> pyarrow.Table:
        import pyarrow

        return pyarrow.concat_tables(
            [_rows.of_file(path, table, columns, options) for path in batch.column("path").to_pylist()]
        )

    files = [{"path": os.fspath(path)} for path in paths]
    size = max(1, per_task)
    blocks = max(1, -(-len(files) // size))
    dataset = ray.data.from_items(files, override_num_blocks=blocks)
    return dataset.map_batches(rows, batch_size=size, batch_format="pyarrow")
