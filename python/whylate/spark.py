"""Recordings and measurements on a cluster, by PySpark.

One task reads one file (``per_task``), whole. A file that cannot be read becomes a row with its error: no task fails because
of it. A task that is repeated, because its executor was lost, gives the same rows.

The paths must be readable on the workers, and the package installed there: set ``PYSPARK_PYTHON`` to the environment's
interpreter.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Iterable, Iterator

import whylate
from whylate import _rows

if TYPE_CHECKING:
    import pyarrow
    from pyspark.sql import DataFrame, SparkSession

    _Path = str | os.PathLike[str]

__all__ = ["explain", "import_tables", "tables"]

_TYPES = {"BIGINT": "BIGINT", "DOUBLE": "DOUBLE", "BOOLEAN": "BOOLEAN", "VARCHAR": "STRING"}


def explain(
    spark: SparkSession, paths: Iterable[_Path], *, table: str = "segments", per_task: int = 1, **options: Any
) -> DataFrame:
    """The rows of ``table`` of all recordings, with ``path`` and ``error`` in front.

    ``options`` are those of :func:`whylate.tables`: ``tasks``, ``deadline``, ``worst``, ``machine``, ``all``. A file that
    cannot be read is a row that has nothing but ``path`` and ``error``.
    """
    return tables(spark, paths, table=table, per_task=per_task, **options)


def tables(
    spark: SparkSession, paths: Iterable[_Path], *, table: str, per_task: int = 1, **options: Any
) -> DataFrame:
    """The same for every input that ``whylate tables`` takes, such as measurements with ``table="histograms"``."""
    columns = _rows.columns_of(table)
    _rows.check(whylate.tables, options)
    ddl = ", ".join(["path STRING", "error STRING"] + [f"`{name}` {_TYPES[kind]}" for name, kind in columns])

    def rows(batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        for path in _paths(batches):
            yield from _rows.of_file(path, table, columns, options).to_batches()

    return _files(spark, paths, per_task).mapInArrow(rows, ddl)


def import_tables(
    spark: SparkSession, paths: Iterable[_Path], output: _Path, *, per_task: int = 1, **options: Any
) -> DataFrame:
    """Adds all inputs to a directory of Parquet tables that all workers share, as ``whylate tables`` does.

    One row for each input: ``path, error, added, present, rows``. An input is added once, also where its task is repeated.
    Nothing happens before an action such as ``collect()``.
    """
    _rows.check(whylate.import_tables, {"output": output, **options})
    directory = os.fspath(output)

    def rows(batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        import pyarrow

        counts = ("added", "present", "rows")
        schema = pyarrow.schema(
            [("path", pyarrow.string()), ("error", pyarrow.string())] + [(name, pyarrow.int64()) for name in counts]
        )
        for path in _paths(batches):
            row: dict[str, Any] = {"path": path, "error": None}
            try:
                row.update(**whylate.import_tables(path, directory, **options))
            except whylate.Error as failure:
                row.update(dict.fromkeys(counts, 0), error=str(failure))
            yield pyarrow.RecordBatch.from_pylist([row], schema=schema)

    ddl = "path STRING, error STRING, added BIGINT, present BIGINT, rows BIGINT"
    return _files(spark, paths, per_task).mapInArrow(rows, ddl)


def _files(spark: SparkSession, paths: Iterable[_Path], per_task: int) -> DataFrame:
    """The paths as a column, ``per_task`` in a partition: a file's rows depend on no other file."""
    all_paths = [(os.fspath(path),) for path in paths]
    partitions = max(1, -(-len(all_paths) // max(1, per_task)))
    return spark.createDataFrame(spark.sparkContext.parallelize(all_paths, partitions), "path STRING")


def _paths(batches: Iterator[pyarrow.RecordBatch]) -> Iterator[str]:
    for batch in batches:
        yield from batch.column("path").to_pylist()
