//! The guard's events on standard output and in the metrics file, by a thread of its own: what reads them may starve, and the
//! guard must not wait for it.

use crate::output::message;
use crate::{atomic_file, notify, output};
use anyhow::{Context, Result};
use std::io::Write;
use std::path::PathBuf;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use whylate_base::Ns;
use whylate_report::guard::{json, metrics, text};
use whylate_sys::{Clock, now};
use whylate_threads::guard::{GuardCounts, GuardEvent};

/// Events that wait to be written.
const QUEUE: usize = 1024;
/// The metrics file is written this often at most.
const PACE: Duration = Duration::from_secs(5);
/// How long the end waits for a reader.
const PATIENCE: Duration = Duration::from_secs(2);

/// The sending side.
pub(super) struct EventLog {
    events: SyncSender<(Ns, GuardEvent)>,
    finished: Receiver<()>,
    writer: JoinHandle<()>,
    lost: u64,
}

impl EventLog {
    pub(super) fn start(json: bool, metrics: Option<PathBuf>) -> Result<EventLog> {
        let (events, received) = mpsc::sync_channel(QUEUE);
        let (done, finished) = mpsc::sync_channel(1);
        let write = move || {
            let mut writer = EventWriter { json, priorities: notify::is_journal(), metrics, written: None };
            for (at, event) in received {
                writer.write(at, &event);
            }
            let _ = done.send(());
        };
        let writer = std::thread::Builder::new()
            .name("events".into())
            .spawn(write)
            .context("cannot start a thread")?;
        Ok(EventLog { events, finished, writer, lost: 0 })
    }

    /// Hands an event over, and never waits.
    pub(super) fn send(&mut self, event: &GuardEvent) {
        if self.events.try_send((now(Clock::Monotonic), event.clone())).is_err() {
            self.lost += 1;
        }
    }

    /// Waits until everything is written, but not for ever; returns how many events were lost.
    pub(super) fn finish(self) -> u64 {
        drop(self.events);
        match self.finished.recv_timeout(PATIENCE) {
            Err(RecvTimeoutError::Timeout) => self.lost + 1,
            _ => {
                let _ = self.writer.join();
                self.lost
            }
        }
    }
}

struct EventWriter {
    json: bool,
    /// Whether lines begin with their priority, which journald takes off (sd-daemon(3)).
    priorities: bool,
    metrics: Option<PathBuf>,
    /// When the metrics were written, and what they were.
    written: Option<(Instant, GuardCounts)>,
}

impl EventWriter {
    fn write(&mut self, at: Ns, event: &GuardEvent) {
        let mut lines = String::new();
        match self.json {
            true => lines.extend(json::line(event, at).map(|line| format!("{line}\n"))),
            false => {
                for (level, line) in text::lines(event) {
                    if self.priorities {
                        lines.push_str(&format!("<{}>", level.number()));
                    }
                    lines.push_str(&line);
                    lines.push('\n');
                }
            }
        }
        if !lines.is_empty()
            && let Err(error) = output::print(&lines)
        {
            message!("whylate: {error:#}");
        }
        match event {
            GuardEvent::Started(_) => {
                if let Err(error) = notify::ready("watching for starving threads") {
                    message!("whylate: cannot notify systemd (NOTIFY_SOCKET): {error}");
                }
            }
            GuardEvent::Looked(counts) => self.measure(counts, false),
            GuardEvent::Stopped(counts) => self.measure(counts, true),
            GuardEvent::Thread(_) => {}
        }
    }

    /// Writes the metrics file, unless it is as new as it need be.
    fn measure(&mut self, counts: &GuardCounts, is_last: bool) {
        let Some(file) = &self.metrics else { return };
        let has_happened =
            |before: &GuardCounts| (before.starving, before.lent_now) != (counts.starving, counts.lent_now);
        let is_due = match &self.written {
            Some((at, before)) => is_last || at.elapsed() >= PACE || has_happened(before),
            None => true,
        };
        if !is_due {
            return;
        }
        let text = whylate_metrics::text(&metrics::families(counts), whylate_metrics::TextFormat::Prometheus);
        let written = atomic_file::write(file, |out: &mut dyn Write| Ok(out.write_all(text.as_bytes())?));
        if let Err(error) = written {
            message!("whylate: {error:#}");
        }
        self.written = Some((Instant::now(), *counts));
    }
}
