//! Whether and how this machine can be recorded, and what a recording must leave as it was.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use whylate_testing::Need;

/// One test at a time records or measures, so that none sees what another one does.
pub(crate) fn one_at_a_time() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Tracefs, where this user may record.
pub(crate) struct Tracefs {
    root: PathBuf,
    _one: MutexGuard<'static, ()>,
}

impl Tracefs {
    /// None, reported as a skip, where nothing can be recorded.
    pub(crate) fn open() -> Option<Tracefs> {
        let one = one_at_a_time();
        let roots = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"].map(Path::new);
        let Some(root) = roots.into_iter().find(|root| root.join("instances").is_dir()) else {
            whylate_testing::skip(Need::Tracefs, "tracefs is not mounted, or not for this user");
            return None;
        };
        let probe = root.join(format!("instances/test-{}", std::process::id()));
        if let Err(e) = fs::create_dir(&probe).and_then(|()| fs::remove_dir(&probe)) {
            whylate_testing::skip(Need::Tracefs, format_args!("{}: {e}", probe.display()));
            return None;
        }
        Some(Tracefs { root: root.to_owned(), _one: one })
    }

    /// The instances that the process `pid` made and that are still there.
    pub(crate) fn instances(&self, pid: u32) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.root.join("instances")).expect("instances");
        // `whylate-NAMESPACES-PID-...`
        let pid = pid.to_string();
        let ours = |path: &PathBuf| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with("whylate-") && name.split('-').nth(2) == Some(&pid)
        };
        entries.map(|entry| entry.expect("an instance").path()).filter(ours).collect()
    }

    /// True while the process `pid` traces.
    pub(crate) fn traces(&self, pid: u32) -> bool {
        let is_on = |instance: &PathBuf| {
            fs::read_to_string(instance.join("tracing_on")).is_ok_and(|on| on.trim_end() == "1")
        };
        self.instances(pid).iter().any(is_on)
    }

    /// True where the kernel has this tracer, as the program asks it.
    pub(crate) fn has_tracer(&self, name: &str) -> bool {
        let tracers = fs::read_to_string(self.root.join("available_tracers")).expect("tracers");
        tracers.split_ascii_whitespace().any(|tracer| tracer == name)
    }

    /// The settings that timerlat and osnoise share; none where the kernel has neither.
    pub(crate) fn osnoise(&self) -> BTreeMap<String, String> {
        let files = fs::read_dir(self.root.join("osnoise")).into_iter().flatten().flatten();
        let text = |path: &Path| fs::read_to_string(path).ok();
        files.filter_map(|file| Some((file.file_name().into_string().ok()?, text(&file.path())?))).collect()
    }

    /// The settings that all tracers of the machine share.
    pub(crate) fn settings(&self) -> BTreeMap<String, String> {
        let files = [
            "buffer_percent",
            "buffer_size_kb",
            "current_tracer",
            "events/enable",
            "events/sched/enable",
            "events/sched/sched_switch/filter",
            "saved_cmdlines_size",
            "set_event",
            "set_event_pid",
            "trace_clock",
            "trace_options",
            "tracing_cpumask",
            "tracing_on",
        ];
        let read = |file: &str| fs::read_to_string(self.root.join(file)).ok();
        files.into_iter().filter_map(|file| Some((file.to_owned(), read(file)?))).collect()
    }
}
