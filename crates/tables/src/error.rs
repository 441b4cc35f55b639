//! What can go wrong.

use std::io;
use std::path::PathBuf;

/// Why an input is not in the tables, or tables cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum TablesError {
    /// A file or directory cannot be read.
    #[error("cannot read {path}: {error}", path = path.display())]
    Read {
        /// Which.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// A table cannot be written.
    #[error("cannot write {path}: {error}", path = path.display())]
    Write {
        /// Which.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// A pipe or device: its content cannot be read twice, and so has no identity.
    #[error("{path}: it is neither a file nor a directory: tables are made of files; save it first", path = path.display())]
    NotAFile {
        /// Which.
        path: PathBuf,
    },
    /// The input has the form of a document that cannot be read.
    #[error("{path}: its schema is {schema}, but it cannot be read as such: {error}", path = path.display())]
    Document {
        /// Which.
        path: PathBuf,
        /// What it claims to be.
        schema: String,
        /// What is wrong.
        error: serde_json::Error,
    },
    /// A document of a schema that has no tables.
    #[error(
        "{path}: documents of {schema} have no tables; give recordings, measurements, or documents of check, doctor, explain or watch",
        path = path.display()
    )]
    Schema {
        /// Which.
        path: PathBuf,
        /// Its schema.
        schema: String,
    },
    /// A measurement cannot be read.
    #[error(transparent)]
    Measurement(#[from] whylate_intake::latencies::LatenciesError),
    /// A recording cannot be read.
    #[error(transparent)]
    Recording(#[from] whylate_intake::OpenError),
    /// A table file is broken, or of a later version.
    #[error("{path}: {why}", path = path.display())]
    Table {
        /// Which.
        path: PathBuf,
        /// What is wrong and what to do.
        why: String,
    },
}
