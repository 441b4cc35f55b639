//! What makes settings of the running kernel last, in files of our own. docs/boot-settings.md is the page for users.
//!
//! * sysctls: a file in /etc/sysctl.d, which holds before anything else is started, and without us;
//! * all else that is gone with a reboot: `whylate-tuning.service`, which runs `whylate apply --boot`;
//! * the request on /dev/cpu_dma_latency, which lasts only while the file is open: `whylate-latency.service`.
//!
//! No udev rules: what comes later than the service (a network interface's interrupt threads, a CPU put online) is
//! drift that `whylate verify` shows.

mod error;
mod names;
mod program;
mod sysctl;
mod units;

pub use error::PersistError;
pub use names::{LATENCY_UNIT, PROGRAM_COPY, RESUME_UNIT, TUNING_UNIT};

use crate::files::SystemFiles;
use crate::{ApplyStep, Change, Plan, Setting, System};
use std::path::PathBuf;
use whylate_bootloader::{RUNNING, StagedEdits, runs_systemd};
use whylate_host::{FsRoot, Why};

/// There where a system runs.
const FIRST_PROCESS: &str = "/proc/1";

/// Whether systemd starts that system: it runs, or, where nothing does (an image), is what `init` leads to.
fn has_systemd(files: &SystemFiles<'_>) -> Result<bool, PersistError> {
    if runs_systemd(files)? {
        return Ok(true);
    }
    let staged = StagedEdits::new(files);
    let init = staged.link_at("/sbin/init")?;
    Ok(!staged.exists(FIRST_PROCESS)? && init.is_some_and(|target| target.ends_with("/systemd")))
}

/// Whether it is known that no program would hold a request in /dev/cpu_dma_latency: a plan skips it.
pub(crate) fn has_no_holder(tree: &FsRoot) -> bool {
    // A captured machine does not show it.
    !can_hold(tree) && tree.list(RUNNING).value != Err(Why::NotCollected)
}

/// Whether a request in /dev/cpu_dma_latency would be held on this machine.
pub fn can_hold(tree: &FsRoot) -> bool {
    let image = tree.list(FIRST_PROCESS).value.is_err();
    tree.list(RUNNING).value.is_ok()
        || (image && tree.link_name("/sbin/init").value.as_deref() == Ok("systemd"))
}

fn sysctl_of(change: &Change) -> Option<(&str, &str)> {
    let Setting::Tunable { path } = &change.setting else { return None };
    Some((path.strip_prefix("/proc/sys/")?, change.then.as_deref()?))
}

/// The changes of a plan that a reboot takes back on a machine without systemd.
pub fn until_reboot<'a>(plan: &'a Plan, tree: &FsRoot) -> Vec<&'a Change> {
    if can_hold(tree) {
        return Vec::new();
    }
    plan.changes
        .iter()
        .filter(|change| !change.setting.is_of_files() && sysctl_of(change).is_none())
        .collect()
}

/// The kernel parameters of a plan that could not be undone automatically: they count from the next boot on, and on a
/// machine without systemd nothing runs then that undoes an apply which was not confirmed.
pub fn beyond_undo<'a>(plan: &'a Plan, tree: &FsRoot) -> Vec<&'a Change> {
    if can_hold(tree) {
        return Vec::new();
    }
    plan.changes.iter().filter(|change| matches!(change.setting, Setting::Parameter { .. })).collect()
}

/// The steps that make a plan's settings last, as number `id` of the history; and those that hold the request in
/// /dev/cpu_dma_latency, which are all there is to that setting. Of a plan that is applied at boot none is needed.
///
/// # Errors
/// If a file cannot be read or not be changed, or the program that the units run cannot be had. Nothing has been
/// written then.
pub fn steps(plan: &Plan, id: u64, system: &dyn System) -> Result<Vec<ApplyStep>, PersistError> {
    let program = std::env::current_exe().unwrap_or_else(|_| PathBuf::from("/proc/self/exe"));
    steps_with(plan, id, system, &program)
}

/// The same for a program that is elsewhere.
fn steps_with(
    plan: &Plan,
    id: u64,
    system: &dyn System,
    program: &std::path::Path,
) -> Result<Vec<ApplyStep>, PersistError> {
    if plan.changes.is_empty() {
        return Ok(Vec::new());
    }
    let files = SystemFiles(system);
    let mut staged = StagedEdits::new(&files);
    sysctls(&mut staged, plan)?;
    let latency = plan.changes.iter().find(|change| change.setting == Setting::CpuDmaLatency);
    if !has_systemd(&files)? {
        return match latency {
            Some(change) if change.then.is_some() => Err(PersistError::NoHolder),
            _ => Ok(staged.into_edits().into_iter().map(ApplyStep::from).collect()),
        };
    }
    let mark = staged.mark();
    let program = program::place(&mut staged, system, program)?;
    let all: Vec<String> = plan.changes.iter().map(|change| change.setting.to_string()).collect();
    staged.label(mark, &all, None);
    let running = runs_systemd(&files)?;
    // The service is there for boot settings too: unconfirmed ones are taken back by it.
    let lasting: Vec<String> = plan
        .changes
        .iter()
        .filter(|change| change.setting != Setting::CpuDmaLatency && sysctl_of(change).is_none())
        .map(|change| change.setting.to_string())
        .collect();
    let mark = staged.mark();
    units::tuning(&mut staged, &program, id)?;
    staged.label(mark, &lasting, units::RELOAD.filter(|_| running));
    let mut steps: Vec<ApplyStep>;
    match latency {
        Some(change) => {
            let mark = staged.mark();
            let unit = units::latency(&mut staged, system, &program, change, running)?;
            steps = staged.into_edits().into_iter().map(ApplyStep::from).collect();
            steps.splice(mark..mark, unit.stop);
            steps.extend(unit.start);
        }
        None => steps = staged.into_edits().into_iter().map(ApplyStep::from).collect(),
    }
    Ok(steps)
}

/// The steps that let `whylate prove` go on after each boot, until they are rolled back.
///
/// # Errors
/// If systemd does not start this machine, a file cannot be read, or the program that the unit runs cannot be had. Nothing has
/// been written then.
pub fn resume_steps(system: &dyn System) -> Result<Vec<ApplyStep>, PersistError> {
    let files = SystemFiles(system);
    if !has_systemd(&files)? {
        return Err(PersistError::NoResume);
    }
    let program = std::env::current_exe().unwrap_or_else(|_| PathBuf::from("/proc/self/exe"));
    let mut staged = StagedEdits::new(&files);
    let mark = staged.mark();
    let program = program::place(&mut staged, system, &program)?;
    units::resume(&mut staged, &program)?;
    staged.label(
        mark,
        &["whylate prove --across-reboots".to_owned()],
        units::RELOAD.filter(|_| runs_systemd(&files).unwrap_or(false)),
    );
    Ok(staged.into_edits().into_iter().map(ApplyStep::from).collect())
}

fn sysctls(staged: &mut StagedEdits<'_>, plan: &Plan) -> Result<(), PersistError> {
    let mut wanted = Vec::new();
    let mut settings = Vec::new();
    for change in &plan.changes {
        let Some((key, value)) = sysctl_of(change) else { continue };
        if value.chars().any(char::is_control) || key.chars().any(|c| c.is_control() || c == '=') {
            let setting = change.setting.to_string();
            return Err(PersistError::NotALine { setting, value: value.to_owned() });
        }
        wanted.push((key, value));
        settings.push(change.setting.to_string());
    }
    if wanted.is_empty() {
        return Ok(());
    }
    let text = staged.text(sysctl::OWN)?;
    let mark = staged.mark();
    staged.write(sysctl::OWN, sysctl::merged(text.as_deref(), &wanted))?;
    staged.label(mark, &settings, None);
    Ok(())
}
