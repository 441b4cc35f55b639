//! `--tables DIR` of `measure` and `watch`: what this machine shows goes into tables without a detour over files.

use crate::output::message;
use anyhow::{Context, Result};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, RecvTimeoutError, SyncSender};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use whylate_host::FsRoot;
use whylate_tables::dataset::Dataset;
use whylate_tables::{DateSource, MachineSource, TableOptions};

/// Late activations of a watch are written together, at the latest after this time.
const EVERY: Duration = Duration::from_secs(600);
/// So many bytes of lines are written at once.
const MOST_BYTES: usize = 1 << 20;
/// Lines that wait for the disk.
const QUEUE: usize = 1024;

/// A directory of tables that this machine's results go to.
pub(crate) struct OwnTables {
    directory: PathBuf,
    dataset: Dataset,
}

impl OwnTables {
    /// Opens the directory before the work for it begins, and adds what this machine is.
    pub(crate) fn open(directory: &Path) -> Result<OwnTables> {
        let dataset = Dataset::open(directory)?;
        let own = OwnTables { directory: directory.to_owned(), dataset };
        own.dataset.import_machine(FsRoot::live(), &own.options())?;
        own.dataset.write_views()?;
        Ok(own)
    }

    /// Adds a document.
    pub(crate) fn add(&self, name: &str, document: &[u8]) -> Result<()> {
        let imported = self.dataset.import_document(name, document, &self.options())?;
        self.dataset.write_views()?;
        if imported.added > 0 {
            message!("tables: {}: {} rows", self.directory.display(), imported.rows);
        }
        Ok(())
    }

    /// The machine by its name, and today: a watch may run for weeks.
    fn options(&self) -> TableOptions {
        let uname = rustix::system::uname();
        TableOptions {
            machine: MachineSource::Name(uname.nodename().to_string_lossy().into_owned()),
            date: DateSource::today(),
            ..TableOptions::default()
        }
    }
}

/// The lines of a watch on their way into tables, by a thread of its own: a disk may be slow, and the watch must not wait for
/// it.
pub(crate) struct TableLines {
    lines: SyncSender<String>,
    writer: JoinHandle<()>,
    lost: u64,
}

impl TableLines {
    pub(crate) fn start(tables: OwnTables) -> Result<TableLines> {
        let (lines, received) = mpsc::sync_channel::<String>(QUEUE);
        let write = move || {
            let mut waiting = String::new();
            let mut since = Instant::now();
            loop {
                let next = received.recv_timeout(EVERY.saturating_sub(since.elapsed()));
                let is_over = matches!(next, Err(RecvTimeoutError::Disconnected));
                waiting.extend(next);
                if is_over || waiting.len() >= MOST_BYTES || since.elapsed() >= EVERY {
                    if !waiting.is_empty()
                        && let Err(error) = tables.add("watch", waiting.as_bytes())
                    {
                        message!("whylate: {error:#}: these late activations are not in the tables");
                    }
                    waiting.clear();
                    since = Instant::now();
                }
                if is_over {
                    return;
                }
            }
        };
        let writer = std::thread::Builder::new()
            .name("tables".into())
            .spawn(write)
            .context("cannot start a thread for --tables")?;
        Ok(TableLines { lines, writer, lost: 0 })
    }

    /// Hands a line over, and never waits.
    pub(crate) fn send(&mut self, line: String) {
        if self.lines.try_send(line).is_err() {
            self.lost += 1;
        }
    }

    /// Writes what waits, with the last line.
    pub(crate) fn finish(self, last: Option<String>) {
        if let Some(last) = last {
            // The watch is over: now it may wait.
            let _ = self.lines.send(last);
        }
        drop(self.lines);
        let _ = self.writer.join();
        if self.lost > 0 {
            message!("whylate: {} late activations are not in the tables: the disk was too slow", self.lost);
        }
    }
}
