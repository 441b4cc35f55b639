//! This machine, recorded while a guest runs on it.

use crate::output::message;
use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use whylate_investigate::record::{RecordError, RecordOptions, RecordReport, SessionOptions, Stop, record};

/// Its name among the files that come back.
pub(super) const HOST_TRACE: &str = "host.dat";
/// A recording that is refused is so at once.
const REFUSED_WITHIN: Duration = Duration::from_millis(300);

/// A recording of this machine that runs until the guest has ended.
pub(super) struct HostRecorder {
    stop: Stop,
    thread: Option<JoinHandle<Result<RecordReport, RecordError>>>,
    path: PathBuf,
}

impl HostRecorder {
    /// Begins to record into a file of `directory`, which is made if it is not there.
    pub(super) fn start(directory: &Path) -> Result<HostRecorder> {
        std::fs::create_dir_all(directory)
            .with_context(|| format!("cannot create the directory {}", directory.display()))?;
        let path = directory.join(HOST_TRACE);
        let stop = Stop::default();
        let options = RecordOptions {
            output: path.clone(),
            session: SessionOptions {
                thread_events: false,
                host_of_guest: true,
                ..SessionOptions::default()
            },
            ..RecordOptions::default()
        };
        let flags = stop.clone();
        let body = move || record(&options, &flags);
        let thread = std::thread::Builder::new().name("host-too".into()).spawn(body);
        let thread = thread.context("cannot start a thread")?;
        let recorder = HostRecorder { stop, thread: Some(thread), path };
        // Before the guest boots, which takes longer.
        let begun = Instant::now();
        while begun.elapsed() < REFUSED_WITHIN {
            if recorder.thread.as_ref().is_some_and(JoinHandle::is_finished) {
                recorder.finish()?;
                bail!("the recording of this machine ended before the guest booted");
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        Ok(recorder)
    }

    /// Ends the recording; returns its file.
    pub(super) fn finish(mut self) -> Result<PathBuf> {
        self.stop.asked.store(true, Ordering::Release);
        let Some(thread) = self.thread.take() else {
            bail!("the recording of this machine has ended already")
        };
        let Ok(recorded) = thread.join() else { bail!("the recording of this machine broke off") };
        let report = recorded.context("cannot record this machine beside the guest (--host-too)")?;
        let (events, lost) =
            report.cpus.iter().fold((0, 0), |(events, lost), cpu| (events + cpu.events, lost + cpu.lost));
        message!(
            "{}: {events} events of this machine in {}, {lost} lost, {:.1} MB",
            report.path.display(),
            report.duration,
            report.bytes as f64 / 1e6
        );
        if let Some(why) = &report.ended_early {
            message!("the recording of this machine ended early, and has the events until then: {why}");
        }
        Ok(self.path.clone())
    }
}

/// A guest that does not get to its end leaves no recorder behind.
impl Drop for HostRecorder {
    fn drop(&mut self) {
        self.stop.asked.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
