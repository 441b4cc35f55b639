//! A machine that is a directory: its boot loader's entry is changed and put back, wherever a power cut falls.

use super::record::{RebootPhase, RebootProof};
use super::run::RebootRun;
use super::store::RebootStore;
use super::{KeptChange, go_on};
use crate::judge::{ProveJudgement, ProveVerdict};
use crate::options::{MachineAccess, ProveOptions};
use crate::subject::Subject;
use crate::tuned_machine::TunedMachine;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use whylate_base::{Action, Ns, ParameterAction};
use whylate_host::{FsRoot, Snapshot};
use whylate_profiles::DesiredState;
use whylate_profiles::fixes::{Fixes, NumberedFix};
use whylate_testing::{Need, TestRoot, skip};
use whylate_tuning::{AllowedRefusals, JournalStore, LiveSystem, System};

const ENTRY: &str = "/efi/loader/entries/x.conf";
const OLD: &str = "title x\nlinux /x\noptions root=1 ro quiet\n";
const NEW: &str = "title x\nlinux /x\noptions root=1 ro quiet skew_tick=1\n";
const BOOT: &str = "/proc/sys/kernel/random/boot_id";

struct Machine {
    root: TestRoot,
    system: LiveSystem,
    journals: JournalStore,
    store: RebootStore,
    before: Vec<(PathBuf, Vec<u8>)>,
}

impl Machine {
    /// `None`: only root may change it.
    fn new() -> Option<Machine> {
        if !rustix::process::geteuid().is_root() {
            skip(Need::Root, "to apply kernel parameters");
            return None;
        }
        let root = TestRoot::new(&[(ENTRY, OLD), ("/proc/cmdline", "root=1 ro quiet\n"), (BOOT, "one\n")]);
        let system = LiveSystem::open(root.directory()).expect("a root");
        let journals = JournalStore::of(root.directory()).expect("a place for journals");
        let store = RebootStore::of(root.directory());
        let before = configuration(&root);
        Some(Machine { root, system, journals, store, before })
    }

    fn access<'a>(&'a self, allowed: &'a AllowedRefusals) -> MachineAccess<'a> {
        MachineAccess { system: &self.system, store: &self.journals, allowed, watchdog: &[] }
    }

    /// The next boot, with the parameters that the boot loader passes.
    fn boots(&self, number: &str) {
        let entry = self.root.text(ENTRY).expect("an entry");
        let options = entry.lines().find_map(|line| line.strip_prefix("options ")).expect("options");
        std::fs::write(self.root.path("/proc/cmdline"), format!("{options}\n")).expect("written");
        std::fs::write(self.root.path(BOOT), format!("{number}\n")).expect("written");
    }
}

/// All files but what whylate keeps for itself and the running kernel's.
fn configuration(root: &TestRoot) -> Vec<(PathBuf, Vec<u8>)> {
    let own = [root.path("/var"), root.path("/proc")];
    root.everything().into_iter().filter(|(path, _)| !own.iter().any(|own| path.starts_with(own))).collect()
}

fn desired(_: &FsRoot, host: &Snapshot) -> Result<DesiredState, String> {
    let set = vec![ParameterAction { parameter: "skew_tick".to_owned(), value: Some("1".to_owned()) }];
    let fix = NumberedFix {
        number: 1,
        code: "t".to_owned(),
        title: "t".to_owned(),
        text: "t".to_owned(),
        action: Some(Action::KernelParameter { set }),
        risk: None,
        finding: 0,
        is_minor: false,
    };
    let fixes = Fixes { name: "a test".to_owned(), each: vec![fix], ..Fixes::default() };
    fixes.choose(&[1], host).map(|chosen| chosen.desired).map_err(|error| error.to_string())
}

fn options() -> ProveOptions {
    ProveOptions {
        subject: Subject::Threads { threads: Vec::new(), deadline: None },
        command: None,
        command_name: None,
        throughput: None,
        round: Ns::from_ms(1),
        rounds: 8,
        limit: Ns::from_secs(1),
        settle: Ns::ZERO,
        keep: false,
        checked_cpus: None,
    }
}

fn proof(machine: &Machine) -> RebootProof {
    let tree = machine.system.tree();
    let change =
        KeptChange { name: "skew_tick".to_owned(), now: None, then: Some("1".to_owned()), why: None };
    let desired = desired(&tree, &Snapshot::read(&tree)).expect("a change");
    let new = RebootProof::new(Vec::new(), "/".to_owned(), desired, vec![change]);
    RebootProof { most_rounds: 8, ..new }
}

/// Lets a step be made by a process that then ends; what it leaves on the disk is what the next one has.
fn process<T>(machine: &Machine, proof: RebootProof, step: impl FnOnce(&mut RebootRun<'_>) -> T) -> T {
    process_with(machine, proof, options(), step)
}

fn process_with<T>(
    machine: &Machine,
    proof: RebootProof,
    options: ProveOptions,
    step: impl FnOnce(&mut RebootRun<'_>) -> T,
) -> T {
    let (allowed, stop) = (AllowedRefusals::default(), Arc::new(AtomicBool::new(false)));
    let tuned =
        TunedMachine::reopen(machine.access(&allowed), &desired, &proof.own_applies()).expect("the right");
    let mut run = RebootRun { options: &options, machine: &tuned, store: &machine.store, stop: &stop, proof };
    step(&mut run)
}

#[test]
fn the_boot_loader_has_the_change_and_then_its_old_files() {
    let Some(machine) = Machine::new() else { return };
    process(&machine, proof(&machine), |run| run.change(true).expect("configured"));
    assert_eq!(machine.root.text(ENTRY).as_deref(), Some(NEW));
    let kept = machine.store.load().expect("read").expect("a proof");
    assert_eq!(kept.phase, RebootPhase::Measure { with_change: true });
    machine.boots("two");
    // Another boot of the same state changes nothing.
    process(&machine, kept.clone(), |run| run.change(true).expect("configured"));
    assert_eq!(machine.store.load().expect("read"), Some(kept.clone()));
    process(&machine, kept, |run| run.change(false).expect("put back"));
    assert_eq!(configuration(&machine.root), machine.before);
}

#[test]
fn whatever_a_power_cut_leaves_the_next_boot_puts_the_old_parameters_back() {
    let restore = RebootPhase::Restore { why: "w".to_owned(), is_done: false };
    let change = |to_change| RebootPhase::Change { to_change };
    for (phase, is_made, boots_with) in [
        (change(true), false, false),
        (change(true), true, true),
        (change(false), true, true),
        (restore.clone(), true, true),
        (restore, false, false),
        // Another entry of the menu was chosen.
        (RebootPhase::Measure { with_change: true }, true, false),
        (RebootPhase::Measure { with_change: false }, true, true),
    ] {
        let Some(machine) = Machine::new() else { return };
        let mut cut = proof(&machine);
        if is_made {
            process(&machine, cut.clone(), |run| run.change(true).expect("configured"));
            cut = machine.store.load().expect("read").expect("a proof");
        } else {
            cut.applied = Some(machine.journals.next_id().expect("a number"));
        }
        machine.boots("two");
        if !boots_with {
            std::fs::write(machine.root.path("/proc/cmdline"), "root=1 ro quiet\n").expect("written");
        }
        cut.phase = phase.clone();
        machine.store.save(&cut).expect("written");
        let (allowed, stop) = (AllowedRefusals::default(), Arc::new(AtomicBool::new(false)));
        let tuned =
            TunedMachine::reopen(machine.access(&allowed), &desired, &cut.own_applies()).expect("the right");
        let ended = go_on(&options(), &tuned, &machine.store, &stop, &mut |_| {}).expect("put back");
        let ended = ended.expect("a proof");
        assert!(ended.proof.has_ended() && ended.report.is_none(), "{phase:?}: {ended:?}");
        assert_eq!(ended.needs_reboot, boots_with, "{phase:?}: the running kernel has the change until then");
        assert_eq!(configuration(&machine.root), machine.before, "{phase:?}");
        assert_eq!(machine.store.load().expect("read"), Some(ended.proof));
    }
}

#[test]
fn only_a_better_change_stays_and_only_where_that_was_asked_for() {
    for (keep, verdict, stays) in [
        (true, ProveVerdict::Better, true),
        (true, ProveVerdict::Worse, false),
        (false, ProveVerdict::Better, false),
    ] {
        // The last round may be one with the change: the running kernel has it then.
        for last_with_change in [false, true] {
            let Some(machine) = Machine::new() else { return };
            let judgement = ProveJudgement { verdict, why: Vec::new(), pair: None };
            process(&machine, proof(&machine), |run| run.change(true).expect("configured"));
            if last_with_change {
                machine.boots("two");
            }
            let kept = machine.store.load().expect("read").expect("a proof");
            let options = ProveOptions { keep, ..options() };
            let ended =
                process_with(&machine, kept, options, |run| run.finish(judgement, &[]).expect("ended"));
            let expected = if stays { NEW } else { OLD };
            let case = format!("{keep} {verdict:?} {last_with_change}");
            assert_eq!(machine.root.text(ENTRY).as_deref(), Some(expected), "{case}");
            assert_eq!(ended.needs_reboot, stays || last_with_change, "{case}");
            assert!(machine.store.load().expect("read").is_some_and(|proof| proof.has_ended()), "{case}");
        }
    }
}
