//! A thread that compresses and writes groups of rows while the next ones are made.

use crate::batch::Batch;
use crate::staged_files::StagedFiles;
use std::io;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{Builder, JoinHandle};

/// Groups that may wait: memory is bounded, and a slow disk slows the reading down.
const MOST_WAITING: usize = 1;

/// A thread that writes the files of an import. Dropped, it ends first.
pub(crate) struct WriterThread {
    /// None: it is to end.
    groups: Option<SyncSender<(usize, Batch)>>,
    /// None: it has ended.
    thread: Option<JoinHandle<io::Result<StagedFiles>>>,
}

impl WriterThread {
    pub(crate) fn start(files: StagedFiles) -> io::Result<WriterThread> {
        let (groups, received) = sync_channel(MOST_WAITING);
        let thread =
            Builder::new().name("tables-writer".to_owned()).spawn(move || write(files, &received))?;
        Ok(WriterThread { groups: Some(groups), thread: Some(thread) })
    }

    /// Hands over rows of the table at this place. An error may be that of an earlier group.
    pub(crate) fn write(&mut self, at: usize, batch: Batch) -> io::Result<()> {
        match self.groups.as_ref().map(|groups| groups.send((at, batch))) {
            Some(Ok(())) => Ok(()),
            // It ended early: by an error.
            Some(Err(_)) | None => self.end().map(|_| ()),
        }
    }

    /// Waits until all is written.
    pub(crate) fn finish(mut self) -> io::Result<StagedFiles> {
        self.end()
    }

    fn end(&mut self) -> io::Result<StagedFiles> {
        self.groups = None;
        let ended = || io::Error::other("the thread that writes tables has ended");
        let thread = self.thread.take().ok_or_else(ended)?;
        thread.join().map_err(|_| ended())?
    }
}

impl Drop for WriterThread {
    fn drop(&mut self) {
        // The import failed elsewhere, with an error of its own.
        let _ = self.end();
    }
}

fn write(mut files: StagedFiles, groups: &Receiver<(usize, Batch)>) -> io::Result<StagedFiles> {
    for (at, batch) in groups {
        files.write(at, &batch)?;
    }
    Ok(files)
}
