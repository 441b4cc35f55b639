//! A made-up machine in a directory, rich enough for every kind of step: what no directory has (threads, units,
//! control groups, the boot loader's command) is played.

use proptest::prelude::{Just, Strategy, prop_oneof};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use tempfile::TempDir;
use whylate_bootloader::FileState;
use whylate_host::FsRoot;
use whylate_profiles::DesiredState;
use whylate_tuning::{
    ApplyStep, FailurePolicy, FaultInjector, Journal, JournalError, JournalStore, LiveSystem, Plan,
    PlannedStep, RollbackReport, RunContext, SessionKind, SessionOutcome, StepAction, System, Target,
    TargetError, TargetState, ThreadId, Timestamp, apply, resume, rollback,
};

const GRUB: &str = "/etc/default/grub";
const MENU: &str = "/boot/grub/grub.cfg";

/// What is in the kernel's memory, and survives a program that is killed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Kernel {
    /// Policy and CPUs of each thread that lives, by id.
    pub(crate) threads: BTreeMap<i32, (String, String)>,
    /// The units that run.
    pub(crate) units: BTreeMap<String, String>,
    /// Knobs that refuse to be set.
    pub(crate) refusing: Vec<String>,
    /// Knobs that take a value and mean another: path, value, what it means.
    pub(crate) bending: Vec<(String, String, String)>,
    /// Commands that were run.
    pub(crate) run: Vec<String>,
}

/// The machine.
pub(crate) struct Machine {
    /// Removed when it is dropped.
    pub(crate) directory: TempDir,
    pub(crate) kernel: Rc<RefCell<Kernel>>,
}

impl Machine {
    pub(crate) fn new() -> Machine {
        let memory = Path::new("/dev/shm");
        let directory = match memory.is_dir() {
            true => tempfile::tempdir_in(memory),
            false => tempfile::tempdir(),
        };
        let machine = Machine { directory: directory.expect("a directory"), kernel: Rc::default() };
        for (path, content, mode) in [
            ("/proc/sys/kernel/random/boot_id", "b0\n", 0o444),
            ("/proc/sys/kernel/sched_rt_runtime_us", "950000\n", 0o644),
            ("/proc/sys/vm/swappiness", "60\n", 0o644),
            ("/proc/irq/default_smp_affinity", "f\n", 0o644),
            ("/sys/kernel/mm/ksm/run", "1\n", 0o644),
            ("/sys/kernel/debug/sched/fair_server/cpu0/runtime", "50000000\n", 0o644),
            ("/sys/kernel/debug/sched/fair_server/cpu0/period", "1000000000\n", 0o644),
            ("/sys/fs/cgroup/cgroup.subtree_control", "cpu io\n", 0o644),
            (GRUB, "GRUB_CMDLINE_LINUX_DEFAULT=\"quiet\"\n# no line break at the end", 0o600),
            (MENU, "linux /vmlinuz quiet\n", 0o444),
            ("/etc/sysctl.d/10-own.conf", "vm.swappiness = 60\n", 0o640),
            ("/etc/real.conf", "behind a link\n", 0o644),
        ] {
            machine.put(path, content, mode);
        }
        fs::create_dir_all(machine.path("/etc/systemd/system")).expect("a directory");
        symlink("/usr/lib/systemd/system/x.service", machine.path("/etc/systemd/system/x.service"))
            .expect("a link");
        symlink("real.conf", machine.path("/etc/linked.conf")).expect("a link");
        let mut kernel = machine.kernel.borrow_mut();
        kernel.threads.insert(41, ("fifo 50".into(), "0-3".into()));
        kernel.threads.insert(42, ("other 0".into(), "0-3".into()));
        kernel.units.insert("irqbalance.service".into(), "active".into());
        drop(kernel);
        machine
    }

    /// Where a path of the machine is.
    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.directory.path().join(path.trim_start_matches('/'))
    }

    pub(crate) fn put(&self, path: &str, content: &str, mode: u32) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().expect("a directory above")).expect("directories");
        fs::write(&path, content).expect("a file");
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("its mode");
    }

    pub(crate) fn text(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    /// The machine as the engine sees it, for as long as no fault interrupts it.
    pub(crate) fn system(&self, faults: &FaultInjector) -> Played {
        let live = LiveSystem::with_faults(self.directory.path(), faults.clone()).expect("a root");
        Played { live, kernel: self.kernel.clone(), faults: faults.clone() }
    }

    pub(crate) fn store(&self, faults: &FaultInjector) -> JournalStore {
        JournalStore::with_faults(self.directory.path(), faults.clone()).expect("a root")
    }

    /// What differs from a state that [`everything`](Machine::everything) gave.
    pub(crate) fn differs_from(&self, before: &(BTreeMap<String, String>, Kernel)) -> Vec<String> {
        let now = self.everything();
        let names: BTreeSet<_> = now.0.keys().chain(before.0.keys()).collect();
        let files = names.into_iter().filter(|name| now.0.get(*name) != before.0.get(*name));
        let files = files.map(|name| format!("{name}: {:?}, now {:?}", before.0.get(name), now.0.get(name)));
        let kernel = (now.1 != before.1).then(|| format!("{:?}, now {:?}", before.1, now.1));
        files.chain(kernel).collect()
    }

    /// All that an undo has to put back. The kernel's files by their values, all others byte for byte; the journals
    /// themselves are not of it.
    pub(crate) fn everything(&self) -> (BTreeMap<String, String>, Kernel) {
        let mut all = BTreeMap::new();
        walk(self.directory.path(), self.directory.path(), &mut all);
        let kernel =
            Kernel { run: vec![], refusing: vec![], bending: vec![], ..self.kernel.borrow().clone() };
        (all, kernel)
    }
}

fn walk(root: &Path, directory: &Path, all: &mut BTreeMap<String, String>) {
    for entry in fs::read_dir(directory).expect("a directory") {
        let path = entry.expect("an entry").path();
        let name = format!("/{}", path.strip_prefix(root).expect("within").display());
        if name == "/var" {
            continue;
        }
        let metadata = fs::symlink_metadata(&path).expect("it is there");
        let kind = match metadata.file_type() {
            kind if kind.is_dir() => {
                walk(root, &path, all);
                "directory".to_owned()
            }
            kind if kind.is_symlink() => format!("link {:?}", fs::read_link(&path).expect("a link")),
            _ => {
                let bytes = fs::read(&path).expect("a file");
                match name.starts_with("/proc/") || name.starts_with("/sys/") {
                    true => whylate_profiles::tunable::normal(&name, &String::from_utf8_lossy(&bytes)),
                    false => format!("{bytes:?}"),
                }
            }
        };
        all.insert(name, format!("{kind} {:o} {}:{}", metadata.mode(), metadata.uid(), metadata.gid()));
    }
}

/// The engine's machine: a directory, and what is played.
pub(crate) struct Played {
    live: LiveSystem,
    kernel: Rc<RefCell<Kernel>>,
    faults: FaultInjector,
}

impl Played {
    fn pass(&self, target: impl std::fmt::Display) -> Result<(), TargetError> {
        self.faults.check().map_err(|error| TargetError::new("set", target, error))
    }

    /// What a value means to a knob that bends it.
    fn bent(&self, path: &str, value: &str) -> Option<String> {
        let kernel = self.kernel.borrow();
        let found = kernel.bending.iter().find(|(own, wanted, _)| own == path && wanted == value);
        found.map(|(_, _, other)| other.clone())
    }

    /// What the kernel does when a directory is made in, or removed from, its file system.
    fn group(&self, path: &str, state: &TargetState) -> Result<(), TargetError> {
        let at = self.live_path(path);
        self.pass(path)?;
        let done = match state {
            TargetState::Absent => fs::remove_dir_all(&at),
            _ => fs::create_dir(&at).and_then(|()| {
                for (file, value) in [
                    ("cpuset.cpus", "\n"),
                    ("cpuset.cpus.partition", "member\n"),
                    ("cgroup.subtree_control", "\n"),
                ] {
                    fs::write(at.join(file), value)?;
                }
                Ok(())
            }),
        };
        done.map_err(|error| TargetError::new("set", path, error))?;
        self.pass(path)
    }

    fn live_path(&self, path: &str) -> PathBuf {
        // The one thing that is asked of the directory itself.
        self.live.path().join(path.trim_start_matches('/'))
    }
}

impl System for Played {
    fn read(&self, target: &Target) -> Result<TargetState, TargetError> {
        let kernel = self.kernel.borrow();
        let of = |thread: &ThreadId| {
            let ended = || TargetError::new("read", target, "the thread has ended").gone();
            kernel.threads.get(&thread.tid).cloned().ok_or_else(ended)
        };
        match target {
            Target::ThreadPolicy { thread } => of(thread).map(|(policy, _)| TargetState::Value(policy)),
            Target::ThreadCpus { thread } => of(thread).map(|(_, cpus)| TargetState::Value(cpus)),
            Target::UnitActive { unit } => {
                Ok(TargetState::Value(kernel.units.get(unit).cloned().unwrap_or_else(|| "inactive".into())))
            }
            Target::Group { path } => self.live.read(&Target::Directory { path: path.clone() }),
            _ => self.live.read(target),
        }
    }

    fn write(&self, target: &Target, state: &TargetState) -> Result<(), TargetError> {
        let value = match state {
            TargetState::Value(value) => value.clone(),
            _ => String::new(),
        };
        match target {
            Target::ThreadPolicy { thread } | Target::ThreadCpus { thread } => {
                self.pass(target)?;
                let mut kernel = self.kernel.borrow_mut();
                let ended = || TargetError::new("set", target, "the thread has ended").gone();
                let own = kernel.threads.get_mut(&thread.tid).ok_or_else(ended)?;
                if matches!(target, Target::ThreadPolicy { .. }) {
                    own.0 = value;
                } else {
                    own.1 = value;
                }
                drop(kernel);
                self.pass(target)
            }
            Target::UnitActive { unit } => {
                self.pass(target)?;
                self.kernel.borrow_mut().units.insert(unit.clone(), value);
                self.pass(target)
            }
            Target::Group { path } => self.group(path, state),
            Target::Tunable { path } if self.kernel.borrow().refusing.contains(path) => {
                Err(TargetError::new(
                    "set",
                    target,
                    format!("the kernel rejected {value}: EINVAL (Invalid argument)"),
                ))
            }
            Target::Tunable { path } => match self.bent(path, &value) {
                Some(other) => {
                    self.live.write(target, &TargetState::Value(other.clone()))?;
                    let why = format!("the kernel accepted {value}, but it reads {other}");
                    Err(TargetError::new("set", target, why))
                }
                None => self.live.write(target, state),
            },
            _ => self.live.write(target, state),
        }
    }

    fn run(&self, command: &[String]) -> Result<(), TargetError> {
        let line = command.join(" ");
        self.pass(&line)?;
        self.kernel.borrow_mut().run.push(line.clone());
        if line == "update-grub" {
            // It writes in two halves, and may be cut off between them.
            let failed = |error: std::io::Error| TargetError::new("run", &line, error);
            let read = |path: &str| fs::read_to_string(self.live_path(path)).unwrap_or_default();
            let text = format!("menu of {}{}", read(GRUB), read("/etc/default/grub.d/50-whylate.cfg"));
            let menu = self.live_path(MENU);
            fs::set_permissions(&menu, fs::Permissions::from_mode(0o600)).map_err(failed)?;
            fs::write(&menu, &text[..text.len() / 2]).map_err(failed)?;
            self.pass(&line)?;
            fs::write(&menu, text).map_err(failed)?;
        } else if line != "systemctl daemon-reload" {
            return Err(TargetError::new("run", line, "exit status: 1"));
        }
        self.pass(command.join(" "))
    }

    fn has_command(&self, name: &str) -> bool {
        matches!(name, "systemctl" | "update-grub")
    }

    fn tree(&self) -> FsRoot {
        self.live.tree()
    }

    fn tidy(&self, target: &Target) -> Result<(), TargetError> {
        self.live.tidy(target)
    }

    fn changed(&self, target: &Target) -> Option<Timestamp> {
        self.live.changed(target)
    }
}

pub(crate) fn knob(path: &str) -> Target {
    Target::Tunable { path: path.to_owned() }
}

pub(crate) fn file(path: &str) -> Target {
    Target::File { path: path.to_owned() }
}

pub(crate) fn thread(tid: i32) -> ThreadId {
    ThreadId { pid: tid, tid, started: 7, name: "t".to_owned() }
}

/// The bytes of a file, owned by the user who runs the test.
pub(crate) fn content(text: &str, mode: u32) -> TargetState {
    let (uid, gid) = (rustix::process::getuid().as_raw(), rustix::process::getgid().as_raw());
    TargetState::File(FileState { content: text.as_bytes().to_vec(), mode, uid, gid })
}

pub(crate) fn directory() -> TargetState {
    let (uid, gid) = (rustix::process::getuid().as_raw(), rustix::process::getgid().as_raw());
    TargetState::Directory { mode: 0o755, uid, gid }
}

pub(crate) fn set(target: Target, state: TargetState) -> ApplyStep {
    let settings = vec![target.to_string()];
    ApplyStep { target, action: StepAction::Set(state), notify: None, settings, optional: false }
}

pub(crate) fn value(target: Target, value: &str) -> ApplyStep {
    set(target, TargetState::Value(value.to_owned()))
}

fn notified(step: ApplyStep) -> ApplyStep {
    ApplyStep { notify: Some(vec!["systemctl".to_owned(), "daemon-reload".to_owned()]), ..step }
}

pub(crate) fn update_grub() -> ApplyStep {
    let action = StepAction::Make(vec!["update-grub".to_owned()]);
    ApplyStep {
        target: file(MENU),
        action,
        notify: None,
        settings: vec!["kernel parameter isolcpus".to_owned()],
        optional: false,
    }
}

/// Steps of every kind.
pub(crate) fn every_kind() -> Vec<ApplyStep> {
    let group = || "/sys/fs/cgroup/rt".to_owned();
    let fair = |name: &str| knob(&format!("/sys/kernel/debug/sched/fair_server/cpu0/{name}"));
    vec![
        value(Target::UnitActive { unit: "irqbalance.service".into() }, "inactive"),
        value(knob("/proc/sys/kernel/sched_rt_runtime_us"), "-1"),
        value(knob("/proc/sys/vm/swappiness"), "60"),
        value(knob("/proc/irq/default_smp_affinity"), "0-1"),
        value(fair("runtime"), "0"),
        value(fair("period"), "2000000"),
        value(fair("runtime"), "1000000"),
        value(Target::ThreadPolicy { thread: thread(41) }, "fifo 4"),
        value(Target::ThreadCpus { thread: thread(42) }, "0-1"),
        value(Target::ThreadCpus { thread: thread(99) }, "0-1"),
        value(knob("/sys/fs/cgroup/cgroup.subtree_control"), "cpuset"),
        set(Target::Group { path: group() }, directory()),
        value(knob("/sys/fs/cgroup/rt/cpuset.cpus"), "2-3"),
        value(knob("/sys/fs/cgroup/rt/cpuset.cpus.partition"), "isolated"),
        set(Target::Directory { path: "/etc/default/grub.d".into() }, directory()),
        notified(set(file("/etc/systemd/system/whylate-tuning.service"), content("[Service]\n", 0o644))),
        notified(set(file("/etc/systemd/system/x.service"), TargetState::Absent)),
        set(file("/etc/systemd/system/y.service"), TargetState::Link { target: "/dev/null".into() }),
        set(file("/etc/sysctl.d/10-own.conf"), content("vm.swappiness = 10\n", 0o644)),
        set(file("/etc/default/grub.d/50-whylate.cfg"), content("isolcpus=2-3\n", 0o644)),
        set(file(GRUB), content("GRUB_CMDLINE_LINUX_DEFAULT=\"\"\n", 0o640)),
        update_grub(),
    ]
}

/// Steps of optional settings, each refused by [`refusing`] at another place: at once, after the first step of three, by
/// a value that means another, and at the end of a control group.
pub(crate) fn refused_kinds() -> Vec<ApplyStep> {
    let of = |setting: &str, steps: Vec<ApplyStep>| {
        let settings = vec![setting.to_owned()];
        steps.into_iter().map(move |step| ApplyStep { settings: settings.clone(), optional: true, ..step })
    };
    let fair = |name: &str| knob(&format!("/sys/kernel/debug/sched/fair_server/cpu0/{name}"));
    let group = "/sys/fs/cgroup/rt";
    let one = |name: &str, wanted: &str| vec![value(knob(name), wanted)];
    let server = vec![
        value(fair("runtime"), "0"),
        value(fair("period"), "2000000"),
        value(fair("runtime"), "1000000"),
    ];
    let partition = vec![
        value(knob("/sys/fs/cgroup/cgroup.subtree_control"), "cpuset"),
        set(Target::Group { path: group.to_owned() }, directory()),
        value(knob(&format!("{group}/cpuset.cpus")), "2-3"),
        value(knob(&format!("{group}/cpuset.cpus.partition")), "isolated"),
    ];
    of("swappiness", one("/proc/sys/vm/swappiness", "5"))
        .chain(of("ksm", one("/sys/kernel/mm/ksm/run", "2")))
        .chain(of("server", server))
        .chain(of("runtime", one("/proc/sys/kernel/sched_rt_runtime_us", "-1")))
        .chain(of("partition", partition))
        .chain([set(file("/etc/sysctl.d/10-own.conf"), content("vm.swappiness = 5\n", 0o640))])
        .collect()
}

/// A machine that refuses most of [`refused_kinds`].
pub(crate) fn refusing() -> Machine {
    let machine = Machine::new();
    let mut kernel = machine.kernel.borrow_mut();
    kernel.refusing = [
        "/sys/kernel/mm/ksm/run",
        "/sys/kernel/debug/sched/fair_server/cpu0/period",
        "/sys/fs/cgroup/rt/cpuset.cpus.partition",
    ]
    .map(str::to_owned)
    .to_vec();
    kernel.bending = vec![("/proc/sys/kernel/sched_rt_runtime_us".into(), "-1".into(), "2147483647".into())];
    drop(kernel);
    machine
}

/// Some of them, with other values.
pub(crate) fn some_steps() -> impl Strategy<Value = Vec<ApplyStep>> {
    let all = every_kind();
    let picks = proptest::collection::vec((0..all.len(), prop_oneof![Just(false), Just(true)]), 0..14);
    picks.prop_map(move |picks| {
        picks.into_iter().filter_map(|(at, other)| Some(varied(all.get(at)?, other))).collect()
    })
}

fn varied(step: &ApplyStep, other: bool) -> ApplyStep {
    let mut step = step.clone();
    if let (true, StepAction::Set(state)) = (other, &mut step.action) {
        match state {
            TargetState::Value(value) if value.parse::<i64>().is_ok() => *value = "7".to_owned(),
            TargetState::File(file) => {
                file.content.extend_from_slice(b"and more\n");
                file.mode = 0o600;
            }
            TargetState::Link { target } => *target = "/elsewhere".to_owned(),
            _ => {}
        }
    }
    step
}

/// Runs something of the engine on a machine, with a clock that stands.
pub(crate) fn run<T>(system: &dyn System, work: impl FnOnce(&RunContext<'_>) -> T) -> T {
    work(&RunContext { system, now: &|| Timestamp(1_000), stop: &|| false, notify: &|_: &PlannedStep| {} })
}

pub(crate) fn plan() -> Plan {
    Plan { desired: DesiredState { profile: "test".into(), ..DesiredState::default() }, ..Plan::default() }
}

/// Applies steps; an error means that a fault interrupted it, or that the journal could not be written.
pub(crate) fn applied(
    machine: &Machine,
    faults: &FaultInjector,
    steps: &[ApplyStep],
) -> Result<SessionOutcome, JournalError> {
    applied_with(machine, faults, steps, FailurePolicy::Stop)
}

/// The same with what is to happen at a failed step.
pub(crate) fn applied_with(
    machine: &Machine,
    faults: &FaultInjector,
    steps: &[ApplyStep],
    policy: FailurePolicy,
) -> Result<SessionOutcome, JournalError> {
    let store = machine.store(faults);
    let lock = store.lock("whylate apply")?;
    let mut journal = store.create(&lock, &plan())?;
    run(&machine.system(faults), |run| apply(&mut journal, SessionKind::Apply, steps, policy, run))
}

/// Goes on with the last apply.
pub(crate) fn resumed(machine: &Machine, faults: &FaultInjector) -> Result<SessionOutcome, JournalError> {
    with_last(machine, faults, |journal| {
        run(&machine.system(faults), |run| resume(journal, FailurePolicy::Stop, run))
    })?
}

/// Rolls the last apply back, with whatever standing it has.
pub(crate) fn rolled_back(
    machine: &Machine,
    faults: &FaultInjector,
    force: bool,
) -> Result<RollbackReport, JournalError> {
    with_last(machine, faults, |journal| run(&machine.system(faults), |run| rollback(journal, force, run)))
}

fn with_last<T>(
    machine: &Machine,
    faults: &FaultInjector,
    work: impl FnOnce(&mut Journal) -> T,
) -> Result<T, JournalError> {
    let store = machine.store(faults);
    let lock = store.lock("whylate rollback")?;
    let id = store.ids()?.last().copied().ok_or(JournalError::NoSuch { id: 0 })?;
    Ok(work(&mut store.open(&lock, id)?))
}
