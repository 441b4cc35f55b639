//! The tables of an import as files in a directory.

use crate::batch::Batch;
use crate::parquet_file::ParquetFile;
use crate::schema::{TABLES, Table};
use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;

/// The files of the tables, by the places of these in [`TABLES`].
pub(crate) struct StagedFiles {
    directory: PathBuf,
    open: Vec<Option<ParquetFile<File>>>,
}

impl StagedFiles {
    pub(crate) fn new(directory: PathBuf) -> StagedFiles {
        StagedFiles { directory, open: TABLES.iter().map(|_| None).collect() }
    }

    /// These files, for another thread; none are left.
    pub(crate) fn take(&mut self) -> StagedFiles {
        std::mem::replace(self, StagedFiles::new(self.directory.clone()))
    }

    pub(crate) fn path(&self, table: &Table) -> PathBuf {
        self.directory.join(table.name)
    }

    /// Writes rows of a table as a group to its file, which is made with the first ones.
    pub(crate) fn write(&mut self, at: usize, batch: &Batch) -> io::Result<()> {
        if batch.rows() == 0 {
            return Ok(());
        }
        let file = match &mut self.open[at] {
            Some(file) => file,
            none => {
                let file = File::create(self.directory.join(TABLES[at].name))?;
                none.insert(ParquetFile::new(&TABLES[at], file)?)
            }
        };
        file.write(batch)
    }

    /// Completes a table's file, which is on the disk then. False: the table has no rows.
    pub(crate) fn finish(&mut self, at: usize) -> io::Result<bool> {
        let Some(file) = self.open[at].take() else { return Ok(false) };
        let mut file = file.finish()?;
        file.flush()?;
        file.sync_all()?;
        Ok(true)
    }
}
