//! A directory of tables: `TABLE/date=DAY/machine=NAME/RUN.parquet`.
//!
//! ```text
//! .whylate/staging/PID-N/   an import's files, until all are complete; removed by the next import if its process is gone
//! .whylate/runs/ab/RUN      "date machine" of a run that is there: what makes an import happen once
//! .whylate/key              the key of --hide-names
//! ```
//!
//! An import writes its files into staging, syncs them, renames them into place, `runs` last, and then makes the mark. A kill
//! at any step leaves either no mark, and the next import of the same content replaces the files of the same names; or a
//! complete import. Two processes that import the same content write the same rows under the same names.

use crate::content::Input;
use crate::error::TablesError;
use crate::input::{document, inputs, machine};
use crate::options::TableOptions;
use crate::run_id::RunId;
use crate::schema::TABLES;
use crate::staged::{Complete, Staged, make_directories};
use crate::views::views;
use rustix::fs::{FlockOperation, flock};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use whylate_host::FsRoot;
use whylate_report::tables::TopCause;

/// What hive and Spark call a partition without a value.
pub const UNKNOWN_PARTITION: &str = "__HIVE_DEFAULT_PARTITION__";

/// A directory of tables.
pub struct Dataset {
    root: PathBuf,
}

/// What an added run shows of its machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeenMachine {
    /// Its name; `None`: not known.
    pub name: Option<String>,
    /// What no update of its software changes: the part, and what it is.
    pub hardware: Vec<(&'static str, String)>,
}

/// What became of an input.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Imported {
    /// Its runs that were added.
    pub added: usize,
    /// Its runs that were there already.
    pub present: usize,
    /// Rows that were added, of all tables.
    pub rows: u64,
    /// The machine of each run that was added.
    pub machines: Vec<SeenMachine>,
    /// Its runs that have a date that is still to come.
    pub future: usize,
    /// What its late activations were late because of.
    pub causes: Vec<TopCause>,
}

impl Dataset {
    /// The tables in a directory, which is made where there is none. What killed imports left is removed.
    ///
    /// # Errors
    /// If it cannot be made or read.
    pub fn open(root: &Path) -> Result<Dataset, TablesError> {
        let dataset = Dataset { root: root.to_owned() };
        for directory in [dataset.staging(), dataset.marks()] {
            make_directories(&directory)?;
        }
        dataset.remove_abandoned();
        Ok(dataset)
    }

    fn staging(&self) -> PathBuf {
        self.root.join(".whylate/staging")
    }

    fn marks(&self) -> PathBuf {
        self.root.join(".whylate/runs")
    }

    /// Where the import of a run is noted.
    fn mark(&self, run: RunId) -> PathBuf {
        let name = run.to_string();
        self.marks().join(name.get(..2).unwrap_or_default()).join(name)
    }

    /// The key by which machines' names are hidden in this directory; made by the first who asks.
    ///
    /// # Errors
    /// If it can be neither read nor made.
    pub fn key(&self) -> Result<Vec<u8>, TablesError> {
        let path = self.root.join(".whylate/key");
        let failed = |error| TablesError::Write { path: path.clone(), error };
        match fs::read(&path) {
            Ok(key) if !key.is_empty() => return Ok(key),
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(TablesError::Read { path, error });
            }
            _ => {}
        }
        let mut key = [0; 32];
        File::open("/dev/urandom")
            .and_then(|mut random| io::Read::read_exact(&mut random, &mut key))
            .map_err(failed)?;
        let staged = self.staging().join(format!("key-{}", std::process::id()));
        fs::write(&staged, key).map_err(failed)?;
        // The first one stays: two processes must not hide the same name in two ways.
        let linked = fs::hard_link(&staged, &path);
        fs::remove_file(&staged).map_err(failed)?;
        match linked {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(failed(error)),
            _ => fs::read(&path).map_err(failed),
        }
    }

    /// Imports an input, unless it is there already; `replace`: even then.
    ///
    /// # Errors
    /// If it cannot be read, or its tables cannot be written. Nothing of a run that failed is added.
    pub fn import(
        &self,
        path: &Path,
        options: &TableOptions,
        replace: bool,
    ) -> Result<Imported, TablesError> {
        let run = RunId::of(path)?;
        let mut imported = Imported::default();
        // An input of one run that is there need not be opened.
        if !replace && self.partition_of(run).is_some() {
            imported.present = 1;
            return Ok(imported);
        }
        inputs(path, options)?
            .into_iter()
            .try_for_each(|input| self.add(input, options, replace, &mut imported))?;
        Ok(imported)
    }

    /// Imports a document in memory, as if it were a file of this name.
    ///
    /// # Errors
    /// If it has no tables, or they cannot be written. Nothing of it is added then.
    pub fn import_document(
        &self,
        name: &str,
        bytes: &[u8],
        options: &TableOptions,
    ) -> Result<Imported, TablesError> {
        let mut imported = Imported::default();
        self.add(document(name, bytes, options)?, options, false, &mut imported)?;
        Ok(imported)
    }

    /// Imports the state of a machine, unless it is there already for that day and has not changed.
    ///
    /// # Errors
    /// If its tables cannot be written.
    pub fn import_machine(&self, root: FsRoot, options: &TableOptions) -> Result<Imported, TablesError> {
        let mut imported = Imported::default();
        self.add(machine(root, options), options, false, &mut imported)?;
        Ok(imported)
    }

    fn add(
        &self,
        input: Input,
        options: &TableOptions,
        replace: bool,
        imported: &mut Imported,
    ) -> Result<(), TablesError> {
        let before = self.partition_of(input.run);
        if before.is_some() && !replace {
            imported.present += 1;
            return Ok(());
        }
        let mut staged = Staged::new(&self.staging())?;
        let summary = input.rows(options, &mut staged)?;
        imported.rows += self.commit(staged, &input, before)?;
        imported.added += 1;
        imported.causes.extend(summary.causes);
        imported.future += usize::from(input.future() == Some(true));
        imported.machines.push(SeenMachine { name: input.machine, hardware: summary.hardware });
        Ok(())
    }

    /// Removes the unfinished imports of this process, which is about to end.
    pub fn abandon(&self) {
        let own = format!("{}-", std::process::id());
        for entry in fs::read_dir(self.staging()).into_iter().flatten().flatten() {
            if entry.file_name().to_string_lossy().starts_with(&own) {
                let _ = fs::remove_dir_all(entry.path());
            }
        }
    }

    /// The partition of a run that is there: its mark counts as long as its file is there as well.
    fn partition_of(&self, run: RunId) -> Option<String> {
        let partition = fs::read_to_string(self.mark(run)).ok()?;
        let partition = partition.trim_end().to_owned();
        let is_there = self.root.join("runs").join(&partition).join(file_of(run)).exists();
        is_there.then_some(partition)
    }

    fn commit(&self, staged: Staged, input: &Input, before: Option<String>) -> Result<u64, TablesError> {
        let partition = format!(
            "date={}/machine={}",
            input.date.as_deref().map_or(UNKNOWN_PARTITION.to_owned(), escaped),
            input.machine.as_deref().map_or(UNKNOWN_PARTITION.to_owned(), escaped)
        );
        let Complete { files, rows, guard } = staged.finish()?;
        let name = file_of(input.run);
        // `runs` is the first table, and the last to appear.
        for table in TABLES.iter().rev() {
            let directory = self.root.join(table.name).join(&partition);
            let place = directory.join(&name);
            match files.iter().find(|(of, _)| of.name == table.name) {
                Some((_, staged)) => {
                    make_directories(&directory)?;
                    fs::rename(staged, &place).map_err(|error| TablesError::Write { path: place, error })?;
                }
                // What a killed import of other options may have left.
                None => remove(&place)?,
            }
            if let Some(before) = before.as_ref().filter(|before| **before != partition) {
                remove(&self.root.join(table.name).join(before).join(&name))?;
            }
        }
        let mark = self.mark(input.run);
        let failed = |error| TablesError::Write { path: mark.clone(), error };
        make_directories(mark.parent().unwrap_or(&self.root))?;
        let staged = guard.directory.join("mark");
        fs::write(&staged, format!("{partition}\n"))
            .and_then(|()| fs::rename(&staged, &mark))
            .map_err(failed)?;
        Ok(rows)
    }

    /// Writes `views.sql`, which names the tables for DuckDB.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write_views(&self) -> Result<(), TablesError> {
        let path = self.root.join("views.sql");
        let failed = |error| TablesError::Write { path: path.clone(), error };
        let root = self.root.canonicalize().map_err(failed)?;
        let views = views(&root, |table| self.root.join(table.name).is_dir());
        let staged = Staged::new(&self.staging())?;
        let file = staged.directory().join("views.sql");
        fs::write(&file, views).and_then(|()| fs::rename(&file, &path)).map_err(failed)
    }

    /// Removes what imports left whose process is gone: their lock is free.
    fn remove_abandoned(&self) {
        for entry in fs::read_dir(self.staging()).into_iter().flatten().flatten() {
            // One that was killed before it made its lock left none.
            let lock = entry.path().join("lock");
            let Ok(lock) = File::options().append(true).create(true).open(lock) else { continue };
            if flock(&lock, FlockOperation::NonBlockingLockExclusive).is_ok() {
                // Another process may do the same at this time.
                let _ = fs::remove_dir_all(entry.path());
            }
        }
    }
}

fn file_of(run: RunId) -> String {
    format!("{run}.parquet")
}

fn remove(path: &Path) -> Result<(), TablesError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(TablesError::Write { path: path.to_owned(), error })
        }
        _ => Ok(()),
    }
}

/// A value as it stands in a partition's directory: hive and Spark read `%XX` back.
fn escaped(value: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    let escaped = value.bytes().map(|byte| match byte {
        byte if plain(byte) => char::from(byte).to_string(),
        byte => format!("%{byte:02X}"),
    });
    escaped.collect()
}

/// The value of a partition that [`escaped`] made.
pub(crate) fn unescaped(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let code =
            after.get(..2).filter(|_| first == b'%').and_then(|digits| std::str::from_utf8(digits).ok());
        match code.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None => {
                bytes.push(first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_killed_import_left_goes_and_what_is_at_work_stays() {
        let root = tempfile::tempdir().expect("a directory");
        let dataset = Dataset::open(root.path()).expect("tables");
        // Killed before and after it made its lock.
        make_directories(&dataset.staging().join("1-0")).expect("a directory");
        make_directories(&dataset.staging().join("1-1")).expect("a directory");
        File::create(dataset.staging().join("1-1/lock")).expect("a lock");
        let at_work = Staged::new(&dataset.staging()).expect("a directory");
        Dataset::open(root.path()).expect("tables");
        let left: Vec<PathBuf> =
            fs::read_dir(dataset.staging()).expect("a list").flatten().map(|entry| entry.path()).collect();
        assert_eq!(left, [at_work.directory()]);
    }

    #[test]
    fn a_partition_is_one_directory_whatever_the_name() {
        assert_eq!(escaped("plc-1.lab"), "plc-1.lab");
        assert_eq!(escaped("../a b=c"), "..%2Fa%20b%3Dc");
        assert_eq!(escaped("ü"), "%C3%BC");
        for name in ["plc-1.lab", "../a b=c", "ü", "%", "100 %", "%zz"] {
            assert_eq!(unescaped(&escaped(name)), name);
        }
    }
}
