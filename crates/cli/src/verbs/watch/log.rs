//! The lines of a watch on standard output, by a thread of its own: what reads them may be slow, and the watch must not wait
//! for it.

use crate::notify;
use crate::output::{self, message};
use anyhow::{Context, Result};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::thread::JoinHandle;
use std::time::Duration;
use whylate_investigate::watch::WatchEvent;
use whylate_report::Format;
use whylate_report::watch::{json, text};
use whylate_sys::{Clock, now};

/// Lines that wait to be written.
const QUEUE: usize = 1024;
/// How long the end waits for a reader.
const PATIENCE: Duration = Duration::from_secs(2);

/// The sending side.
pub(super) struct LineLog {
    format: Format,
    /// Whether lines begin with their priority, which journald takes off (sd-daemon(3)).
    priorities: bool,
    lines: SyncSender<String>,
    finished: Receiver<()>,
    writer: JoinHandle<()>,
    lost: u64,
}

impl LineLog {
    pub(super) fn start(format: Format) -> Result<LineLog> {
        let (lines, received) = mpsc::sync_channel::<String>(QUEUE);
        let (done, finished) = mpsc::sync_channel(1);
        let write = move || {
            for line in received {
                if let Err(error) = output::print(&line) {
                    message!("whylate: {error:#}");
                }
            }
            let _ = done.send(());
        };
        let writer =
            std::thread::Builder::new().name("lines".into()).spawn(write).context("cannot start a thread")?;
        Ok(LineLog { format, priorities: notify::is_journal(), lines, finished, writer, lost: 0 })
    }

    /// Hands the lines of an event over, and never waits.
    pub(super) fn send(&mut self, event: &WatchEvent<'_>) {
        match self.format {
            Format::Json => {
                if let Some(line) = json::line(event, now(Clock::Realtime)) {
                    self.line(format!("{line}\n"));
                }
            }
            Format::Text => {
                for (level, line) in text::lines(event) {
                    let priority =
                        if self.priorities { format!("<{}>", level.number()) } else { String::new() };
                    self.line(format!("{priority}{line}\n"));
                }
            }
            // A page or a table comes at the end, alone; meanwhile the lines go to standard error.
            _ => text::lines(event).into_iter().for_each(|(_, line)| message!("whylate: {line}")),
        }
    }

    /// Hands one text over.
    pub(super) fn line(&mut self, line: String) {
        if self.lines.try_send(line).is_err() {
            self.lost += 1;
        }
    }

    /// Waits until everything is written, but not for ever; returns how many lines were lost.
    pub(super) fn finish(self) -> u64 {
        drop(self.lines);
        match self.finished.recv_timeout(PATIENCE) {
            Err(RecvTimeoutError::Timeout) => self.lost + 1,
            _ => {
                let _ = self.writer.join();
                self.lost
            }
        }
    }
}
