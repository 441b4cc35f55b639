//! What recordings, measurements and checks of many machines show, as tables for query engines.
//!
//! ```text
//! recording ──> ledger ──┐
//! measurement ──> stats ─┤
//! check, doctor: JSON ───┼─> Rows: a Batch for each table of [`schema::TABLES`]
//! snapshot ──> host ─────┘      ├─> Dataset: Parquet, by date and machine, each input once
//!                               └─> Arrow (the Python package)
//! ```
//!
//! An input's rows depend on its content and the options alone: an import may be repeated, killed and done by many processes
//! at the same time.

pub mod dataset;
pub mod schema;

mod batch;
mod content;
mod error;
mod input;
mod measurements;
mod options;
mod parquet_file;
mod parquet_read;
mod rows;
mod run_id;
mod staged;
mod staged_files;
mod summary;
mod views;
mod writer_thread;

pub use batch::{Batch, BatchColumn, Cell, Data};
pub use error::TablesError;
pub use input::{rows_of, rows_of_check, rows_of_explanation, rows_of_measurement, rows_of_simulation};
pub use measurements::{StoredMeasurement, measurements};
pub use options::{DateSource, MOST_LATE, MachineSource, TableOptions};
pub use parquet_read::read;
pub use run_id::RunId;
pub use summary::top_causes;
