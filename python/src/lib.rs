//! The Python package `whylate`: the same crates as the program's, as functions that give Arrow tables.
//!
//! ```text
//! explain, check, measure, simulate ──> Report: the JSON document, and a Table for each table of whylate.tables/1
//! open ──> Recording.events() ──> a stream of batches, read while the consumer works
//! Table, EventStream ──__arrow_c_stream__──> pyarrow, pandas, polars, duckdb, without a copy
//! ```
//!
//! No function here computes anything of its own. All of them release the interpreter's lock while they work.

mod arrow;
mod check;
mod errors;
mod events;
mod explain;
mod measure;
mod options;
mod report;
mod simulate;
mod tables;

use pyo3::prelude::*;

/// The compiled part of the package; `whylate/__init__.py` re-exports it.
#[pymodule]
fn _whylate(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("SCHEMA", whylate_tables::schema::SCHEMA)?;
    module.add("Error", module.py().get_type::<errors::Error>())?;
    module.add_class::<arrow::Table>()?;
    module.add_class::<events::EventStream>()?;
    module.add_class::<events::Recording>()?;
    module.add_class::<report::Report>()?;
    module.add_function(wrap_pyfunction!(explain::explain, module)?)?;
    module.add_function(wrap_pyfunction!(check::check, module)?)?;
    module.add_function(wrap_pyfunction!(measure::measure, module)?)?;
    module.add_function(wrap_pyfunction!(simulate::simulate, module)?)?;
    module.add_function(wrap_pyfunction!(tables::tables, module)?)?;
    module.add_function(wrap_pyfunction!(tables::import_tables, module)?)?;
    module.add_function(wrap_pyfunction!(tables::schema, module)?)?;
    module.add_function(wrap_pyfunction!(tables::write_views, module)?)?;
    module.add_function(wrap_pyfunction!(events::open, module)?)?;
    Ok(())
}
