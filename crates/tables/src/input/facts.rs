//! What an input is called and when it was made, and the facts of a snapshot.

use crate::content::{Content, Input};
use crate::options::{DAY_NS, DateSource, MachineSource, TableOptions, day};
use crate::rows::{MachineFacts, Rows, RunFacts};
use crate::run_id::RunId;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};
use whylate_host::{FsRoot, Reading, Snapshot};
use whylate_investigate::measure::machine_settings;
use whylate_ledger::WANTED;
use whylate_report::explain::json::recording::Quality;
use whylate_report::watch::json::document::Line;

pub(super) fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

/// An input with its machine and its day.
pub(super) fn named(path: &Path, run: RunId, content: Content, options: &TableOptions) -> Input {
    let name = match &options.machine {
        MachineSource::Name(name) => Some(name.clone()),
        MachineSource::Directory => directory(path),
        MachineSource::Content => host(path, &content),
    };
    let machine = name.map(|name| match &options.hide_names {
        Some(key) => hidden(key, &name),
        None => name,
    });
    let date = written(&content).map(day).or_else(|| match &options.date {
        DateSource::Day(day) => Some(day.clone()),
        DateSource::FileTime => changed(path).map(day),
        DateSource::Content => None,
    });
    Input { path: path.to_owned(), run, content, machine, date }
}

fn directory(path: &Path) -> Option<String> {
    let whole = path.canonicalize().ok()?;
    Some(whole.parent()?.file_name()?.to_string_lossy().into_owned())
}

fn host(path: &Path, content: &Content) -> Option<String> {
    match content {
        Content::Recording => whylate_intake::open(path, WANTED).ok()?.info().host.clone(),
        Content::Snapshot(root) => {
            let name = root.value::<String>("/proc/sys/kernel/hostname").value.ok();
            name.or_else(|| root.value("/etc/hostname").value.ok()).filter(|name| !name.is_empty())
        }
        _ => None,
    }
}

/// When a content was made, since 1970, where it has that.
fn written(content: &Content) -> Option<i64> {
    match content {
        Content::Watch(lines) => {
            let end = |line: &Line| {
                line.at_ns.saturating_add(line.summary.as_ref().map_or(0, |all| all.elapsed_ns))
            };
            lines.iter().map(end).max()
        }
        _ => None,
    }
}

/// The same for the same name and key.
fn hidden(key: &[u8], name: &str) -> String {
    let id = RunId::of_bytes(&[key, name.as_bytes()].concat()).to_string();
    format!("m-{}", id.get(..16).unwrap_or(&id))
}

fn changed(path: &Path) -> Option<i64> {
    let since = path.metadata().ok()?.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    i64::try_from(since.as_nanos()).ok()
}

impl Input {
    /// Whether its date is still to come; `None`: it has none.
    pub(crate) fn future(&self) -> Option<bool> {
        // A day ahead is no more than a difference of time zones.
        let now = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
        let tomorrow = day(i64::try_from(now.as_nanos()).unwrap_or(i64::MAX).saturating_add(DAY_NS));
        self.date.as_ref().map(|date| *date > tomorrow)
    }
}

pub(super) fn quality(quality: &Quality) -> &'static str {
    match quality {
        Quality::Whole => "whole",
        Quality::Damaged => "damaged",
        Quality::Poor => "poor",
    }
}

/// By `uname -v`: `PREEMPT_RT`, and `PREEMPT RT` before 5.3.
pub(super) fn is_rt(version: &str) -> bool {
    version.contains("PREEMPT_RT") || version.contains("PREEMPT RT")
}

/// The facts of a captured machine.
pub(super) fn snapshot(root: &FsRoot, run: &mut RunFacts, rows: &mut Rows<'_>) {
    let (facts, settings) = machine(root);
    run.kind = "snapshot";
    run.tool = Some("whylate snapshot".to_owned());
    run.kernel = facts.kernel.clone();
    rows.machine(&facts);
    rows.settings(&settings);
}

/// The id of a machine's state: the same where the machine did not change.
pub(super) fn state(root: &FsRoot) -> RunId {
    RunId::of_bytes(format!("{:?}", machine(root)).as_bytes())
}

/// What is known of a machine, and its settings.
fn machine(root: &FsRoot) -> (MachineFacts, Vec<(String, String)>) {
    fn text<T: ToString>(reading: &Reading<T>) -> Option<String> {
        reading.known().map(ToString::to_string).filter(|text| !text.is_empty())
    }
    let host = Snapshot::read(root);
    let (kernel, cpus, platform) = (&host.kernel, &host.cpus, &host.platform);
    let pair = |a: &Reading<String>, b: &Reading<String>| match (a.known(), b.known()) {
        (None, None) => None,
        (a, b) => Some([a, b].into_iter().flatten().map(String::as_str).collect::<Vec<_>>().join(" ")),
    };
    let model = |info: String| {
        let line = info.lines().find(|line| line.starts_with("model name"))?;
        Some(line.split_once(':')?.1.trim().to_owned())
    };
    let facts = MachineFacts {
        kernel: text(&kernel.release),
        rt: kernel.version.known().map(|version| is_rt(version)),
        version: text(&kernel.version),
        arch: None,
        cpu_model: root.text("/proc/cpuinfo").value.ok().and_then(model).or_else(|| text(&platform.model)),
        cpus: cpus.online.known().and_then(|online| u32::try_from(online.iter().count()).ok()),
        online: text(&cpus.online),
        isolated: text(&cpus.isolated),
        board: pair(&platform.dmi.vendor, &platform.dmi.product).or_else(|| text(&platform.model)),
        firmware: pair(&platform.dmi.bios_version, &platform.dmi.bios_date),
        cmdline: text(&kernel.cmdline),
        clocksource: text(&host.clocks.source.current),
        profile: text(&host.systemd.tuned_profile),
        is_virtual: platform.hypervisor.flag.known().copied(),
    };
    (facts, machine_settings(&host))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hidden_name_is_stable_by_its_key() {
        assert_eq!(hidden(b"k", "plc1"), hidden(b"k", "plc1"));
        assert_ne!(hidden(b"k", "plc1"), hidden(b"k", "plc2"));
        assert_ne!(hidden(b"k", "plc1"), hidden(b"l", "plc1"));
    }
}
