//! What may go wrong: refusals, other people, torn journals, reboots.

use crate::machine::{
    Machine, applied, applied_with, content, every_kind, file, knob, plan, refused_kinds, refusing, resumed,
    rolled_back, run, set, thread, update_grub, value,
};
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::path::Path;
use std::time::Duration;
use whylate_testing::{Need, skip};
use whylate_tuning::{
    ApplyStep, BootInstant, ClockReading, FailurePolicy, FaultInjector, JournalEntry, JournalError,
    PlannedStep, RevertDue, RollbackResult, RunContext, SessionKind, SessionOutcome, Status, StepProgress,
    System, Target, TargetState, Timestamp, Verification, apply, arm, confirm, due, history, rollback,
    rollback_targets, verify,
};

const SWAPPINESS: &str = "/proc/sys/vm/swappiness";
const KSM: &str = "/sys/kernel/mm/ksm/run";
const OWN: &str = "/etc/sysctl.d/10-own.conf";

fn no_faults() -> FaultInjector {
    FaultInjector::default()
}

fn entry(machine: &Machine, id: u64) -> JournalEntry {
    machine.store(&no_faults()).load(id).expect("the journal can be read")
}

fn verified(machine: &Machine) -> Verification {
    verify(&machine.store(&no_faults()), &machine.system(&no_faults())).expect("the journals can be read")
}

fn nothing() -> Vec<String> {
    Vec::new()
}

#[test]
fn a_knob_that_refuses_stops_it_and_says_so() {
    let machine = Machine::new();
    let before = machine.everything();
    machine.kernel.borrow_mut().refusing.push(KSM.to_owned());
    let steps = [value(knob(SWAPPINESS), "5"), value(knob(KSM), "0"), set(file(OWN), content("x\n", 0o600))];
    assert_eq!(applied(&machine, &no_faults(), &steps).expect("room"), SessionOutcome::Failed);
    let stopped = entry(&machine, 1);
    assert_eq!(stopped.status(), Status::Failed);
    let steps = &stopped.sessions[0].steps;
    let progress: Vec<_> = steps.iter().map(|step| step.progress).collect();
    assert_eq!(progress, [StepProgress::Done, StepProgress::Failed, StepProgress::Waiting]);
    assert!(steps[1].why.as_deref().is_some_and(|why| why.contains("rejected 0: EINVAL")), "{steps:?}");
    assert_eq!(stopped.remaining().len(), 2);
    // Mended, it goes on; and it can be undone from there.
    machine.kernel.borrow_mut().refusing.clear();
    assert_eq!(resumed(&machine, &no_faults()).expect("room"), SessionOutcome::Complete);
    assert_eq!((machine.text(KSM).trim(), machine.text(OWN).as_str()), ("0", "x\n"));
    assert_eq!(entry(&machine, 1).status(), Status::Applied);
    assert_eq!(rolled_back(&machine, &no_faults(), false).expect("room").outcome, SessionOutcome::Complete);
    assert_eq!(machine.differs_from(&before), nothing());
}

#[test]
fn optional_settings_that_are_refused_are_skipped_and_remembered() {
    let machine = refusing();
    let before = machine.everything();
    let steps = refused_kinds();
    assert_eq!(applied(&machine, &no_faults(), &steps).expect("room"), SessionOutcome::Complete);
    let entry = entry(&machine, 1);
    assert_eq!((entry.status(), entry.remaining().len()), (Status::Applied, 0));
    let taken = &entry.sessions[0].steps;
    let made: Vec<_> = taken.iter().filter(|step| step.progress == StepProgress::Done).collect();
    assert_eq!(made.len(), 2, "swappiness and a file: {taken:?}");
    assert!(taken.iter().all(|step| matches!(step.progress, StepProgress::Done | StepProgress::Skipped)));
    // Nothing of a setting is in effect of which one step was refused.
    let differs = machine.differs_from(&before);
    assert!(
        differs.len() == 2 && differs.iter().all(|one| one.contains("swappiness") || one.contains("10-own")),
        "{differs:?}"
    );
    let why = |what: &str| {
        let step = taken.iter().find(|step| step.planned.target.to_string().ends_with(what)).expect("a step");
        step.why.clone().unwrap_or_default()
    };
    assert!(why("ksm/run").contains("EINVAL"), "{}", why("ksm/run"));
    assert!(why("sched_rt_runtime_us").contains("it reads 2147483647"), "{taken:?}");
    assert!(why("cpu0/runtime").contains("cpu0/period was refused"), "{taken:?}");
    let verified = verified(&machine);
    assert_eq!((verified.drifts, verified.unknown), (vec![], vec![]));
    let named: Vec<_> = verified.skipped.iter().map(|one| one.what.as_str()).collect();
    assert!(named.contains(&KSM) && named.contains(&"/sys/fs/cgroup/rt"), "{named:?}");
    let lines = history(&[Ok(entry)], &[1]);
    assert_eq!((lines[0].sessions[0].failures, lines[0].sessions[0].made), (0, 2));
    assert!(lines[0].sessions[0].skipped.iter().any(|one| one.what == KSM && one.why.contains("EINVAL")));
    assert_eq!(rolled_back(&machine, &no_faults(), false).expect("room").outcome, SessionOutcome::Complete);
    assert_eq!(machine.differs_from(&before), nothing());
}

#[test]
fn an_apply_that_continues_makes_everything_else_and_can_be_resumed() {
    let machine = refusing();
    let before = machine.everything();
    let required = |step| ApplyStep { optional: false, ..step };
    let steps: Vec<_> = refused_kinds().into_iter().map(required).collect();
    let outcome = applied_with(&machine, &no_faults(), &steps, FailurePolicy::Continue).expect("room");
    assert_eq!(outcome, SessionOutcome::Failed);
    let failed = entry(&machine, 1);
    assert_eq!(failed.status(), Status::Failed);
    let count = |progress| failed.sessions[0].steps.iter().filter(|step| step.progress == progress).count();
    assert_eq!(count(StepProgress::Failed), 4, "{failed:?}");
    assert_eq!(machine.differs_from(&before).len(), 2, "swappiness and a file");
    // Once the kernel allows it, a resume makes each setting whole.
    machine.kernel.borrow_mut().refusing.clear();
    machine.kernel.borrow_mut().bending.clear();
    assert_eq!(resumed(&machine, &no_faults()).expect("room"), SessionOutcome::Complete);
    let whole = Machine::new();
    assert_eq!(applied(&whole, &no_faults(), &steps).expect("room"), SessionOutcome::Complete);
    assert_eq!(machine.differs_from(&whole.everything()), nothing());
    assert_eq!(rolled_back(&machine, &no_faults(), false).expect("room").outcome, SessionOutcome::Complete);
    assert_eq!(machine.differs_from(&before), nothing());
}

#[test]
fn a_file_is_never_skipped() {
    let machine = Machine::new();
    let before = machine.everything();
    // No file can be made below a file.
    let optional = |step| ApplyStep { optional: true, ..step };
    let steps = [optional(set(file("/etc/real.conf/x"), content("x\n", 0o600)))];
    assert_eq!(applied(&machine, &no_faults(), &steps).expect("room"), SessionOutcome::Failed);
    assert_eq!(rolled_back(&machine, &no_faults(), false).expect("room").outcome, SessionOutcome::Complete);
    assert_eq!(machine.differs_from(&before), nothing());
}

#[test]
fn a_file_that_is_gone_fails_clearly_and_undone_it_is_not_forgotten() {
    let machine = Machine::new();
    // As those of a CPU that goes offline in the middle.
    let governor = "/sys/devices/system/cpu/cpu3/cpufreq/scaling_governor";
    assert_eq!(
        applied(&machine, &no_faults(), &[value(knob(governor), "performance")]).expect("room"),
        SessionOutcome::Failed
    );
    let failed = entry(&machine, 1);
    assert!(failed.sessions[0].steps[0].why.as_deref().is_some_and(|why| why.contains("CPU")), "{failed:?}");
    assert_eq!(rolled_back(&machine, &no_faults(), false).expect("room").outcome, SessionOutcome::Complete);

    machine.put(governor, "powersave\n", 0o644);
    assert_eq!(
        applied(&machine, &no_faults(), &[value(knob(governor), "performance")]).expect("room"),
        SessionOutcome::Complete
    );
    fs::rename(machine.path(governor), machine.path("/sys/aside")).expect("it goes offline");
    assert_eq!(rolled_back(&machine, &no_faults(), false).expect("room").outcome, SessionOutcome::Failed);
    assert_eq!(entry(&machine, 2).status(), Status::PartlyBack);
    fs::rename(machine.path("/sys/aside"), machine.path(governor)).expect("it comes back");
    assert_eq!(rolled_back(&machine, &no_faults(), false).expect("room").outcome, SessionOutcome::Complete);
    assert_eq!(machine.text(governor).trim(), "powersave");
}

#[test]
fn a_thread_that_ended_is_no_failure() {
    let machine = Machine::new();
    let policy = |tid| Target::ThreadPolicy { thread: thread(tid) };
    let steps = [value(policy(41), "fifo 1"), value(policy(99), "fifo 1"), value(policy(42), "rr 2")];
    assert_eq!(applied(&machine, &no_faults(), &steps).expect("room"), SessionOutcome::Complete);
    assert_eq!(entry(&machine, 1).sessions[0].steps[1].progress, StepProgress::Gone);
    machine.kernel.borrow_mut().threads.remove(&41);
    assert_eq!(verified(&machine).ended, 1);
    assert_eq!(rolled_back(&machine, &no_faults(), false).expect("room").outcome, SessionOutcome::Complete);
    assert_eq!(machine.kernel.borrow().threads[&42].0, "other 0");
}

#[test]
fn what_somebody_else_changed_is_left_unless_forced() {
    let machine = Machine::new();
    let before = machine.everything();
    let steps = [value(knob(SWAPPINESS), "5"), set(file(OWN), content("ours\n", 0o640))];
    assert_eq!(applied(&machine, &no_faults(), &steps).expect("room"), SessionOutcome::Complete);
    assert_eq!(verified(&machine).drifts, []);
    machine.put(OWN, "theirs\n", 0o640);
    machine.put(SWAPPINESS, "33\n", 0o644);
    machine.put("/etc/sysctl.d/99-their.conf", "vm.swappiness=33\n", 0o644);
    machine.put("/proc/77/comm", "tuned\n", 0o644);
    let drifts = verified(&machine).drifts;
    let seen: Vec<_> = drifts.iter().map(|drift| (drift.what.as_str(), drift.made.as_str())).collect();
    assert_eq!(seen[0], (SWAPPINESS, "5"));
    assert_eq!(drifts[0].now, "33");
    assert!(drifts[0].who.iter().any(|who| who.contains("99-their.conf")), "{drifts:?}");
    assert!(drifts[0].who.iter().any(|who| who.contains("TuneD")), "{drifts:?}");
    assert!(drifts[1].who[0].starts_with("changed at 20"), "{drifts:?}");

    assert_eq!(rolled_back(&machine, &no_faults(), false).expect("room").outcome, SessionOutcome::Failed);
    assert_eq!((machine.text(OWN).as_str(), machine.text(SWAPPINESS).trim()), ("theirs\n", "33"));
    let left = entry(&machine, 1);
    assert!(
        left.sessions[0]
            .steps
            .iter()
            .all(|taken| matches!(&taken.back, Some((RollbackResult::Changed, Some(_))))),
        "{left:?}"
    );
    assert_eq!(rolled_back(&machine, &no_faults(), true).expect("room").outcome, SessionOutcome::Complete);
    fs::remove_file(machine.path("/etc/sysctl.d/99-their.conf")).expect("theirs");
    fs::remove_dir_all(machine.path("/proc/77")).expect("theirs");
    assert_eq!(machine.differs_from(&before), nothing());
}

#[test]
fn a_menu_that_was_made_anew_since_is_made_anew_without_our_parameters() {
    let machine = Machine::new();
    let grub = set(file("/etc/default/grub"), content("isolcpus=2-3\n", 0o600));
    assert_eq!(
        applied(&machine, &no_faults(), &[grub, update_grub()]).expect("room"),
        SessionOutcome::Complete
    );
    let menu = "/boot/grub/grub.cfg";
    assert!(machine.text(menu).contains("isolcpus"));
    // A new kernel.
    machine.put(menu, "menu of a new kernel, isolcpus=2-3\n", 0o600);
    assert_eq!(verified(&machine).drifts, []);
    assert_eq!(rolled_back(&machine, &no_faults(), false).expect("room").outcome, SessionOutcome::Complete);
    let text = machine.text(menu);
    assert!(text.starts_with("menu of GRUB_CMDLINE") && !text.contains("isolcpus"), "{text}");
    assert!(matches!(entry(&machine, 1).sessions[0].steps[1].back, Some((RollbackResult::Remade, _))));
}

#[test]
fn one_at_a_time() {
    let machine = Machine::new();
    let store = machine.store(&no_faults());
    let lock = store.lock("whylate apply").expect("free");
    let error = machine.store(&no_faults()).lock("whylate rollback").expect_err("taken");
    let JournalError::Locked { holder, .. } = &error else { panic!("{error}") };
    assert_eq!(*holder, format!("whylate apply, process {}", std::process::id()));
    drop(lock);
    store.lock("whylate rollback").expect("free again");
}

#[test]
fn a_stop_is_between_two_steps() {
    let machine = Machine::new();
    let before = machine.everything();
    let (system, store) = (machine.system(&no_faults()), machine.store(&no_faults()));
    let lock = store.lock("whylate apply").expect("free");
    let mut journal = store.create(&lock, &plan()).expect("room");
    let notified = std::cell::Cell::new(0);
    let notify = |_: &PlannedStep| notified.set(notified.get() + 1);
    let stopping =
        RunContext { system: &system, now: &|| Timestamp(0), stop: &|| notified.get() == 5, notify: &notify };
    assert_eq!(
        apply(&mut journal, SessionKind::Apply, &every_kind(), FailurePolicy::Stop, &stopping).expect("room"),
        SessionOutcome::Stopped
    );
    assert_eq!(journal.entry().status(), Status::Stopped);
    let begun =
        journal.entry().sessions[0].steps.iter().filter(|taken| taken.progress != StepProgress::Waiting);
    assert_eq!(begun.count(), 5);
    assert_eq!(run(&system, |run| rollback(&mut journal, false, run)).outcome, SessionOutcome::Complete);
    assert_eq!(machine.differs_from(&before), nothing());
}

#[test]
fn a_torn_last_record_does_not_count_and_a_damaged_one_is_reported() {
    let machine = Machine::new();
    let before = machine.everything();
    let steps = [value(knob(SWAPPINESS), "5"), value(knob(KSM), "0")];
    assert_eq!(applied(&machine, &no_faults(), &steps).expect("room"), SessionOutcome::Complete);
    let path = machine.path("/var/lib/whylate/tuning/1/journal.jsonl");
    let whole = fs::read(&path).expect("the journal");
    // Cut anywhere, it reads as what is whole; and what was done is undone.
    for length in 0..whole.len() {
        fs::write(&path, &whole[..length]).expect("a torn journal");
        let read = machine.store(&no_faults()).load(1).expect("a torn end is no damage");
        assert!(read.sessions.len() <= 1);
    }
    let mut torn = whole.clone();
    torn.truncate(whole.len() - 3);
    torn.extend_from_slice(&[0; 40]);
    fs::write(&path, torn).expect("a torn journal");
    assert_eq!(entry(&machine, 1).status(), Status::Interrupted);
    assert_eq!(rolled_back(&machine, &no_faults(), false).expect("room").outcome, SessionOutcome::Complete);
    assert_eq!(entry(&machine, 1).status(), Status::RolledBack);
    assert_eq!(machine.differs_from(&before), nothing());

    let text = String::from_utf8(whole).expect("text");
    let damaged = text.replacen("\"record\":\"begin\"", "\"record\":\"b\"", 1);
    fs::write(&path, damaged).expect("a damaged journal");
    let error = machine.store(&no_faults()).load(1).expect_err("it is damaged");
    assert!(matches!(error, JournalError::Damaged { line: 2, .. }), "{error}");
    let store = machine.store(&no_faults());
    let ids = store.ids().expect("readable");
    let entries: Vec<_> = ids.iter().map(|&id| store.load(id)).collect();
    let lines = history(&entries, &ids);
    assert!(lines[0].unreadable.as_ref().is_some_and(|why| why.contains("line 2")), "{lines:?}");
}

#[test]
fn of_an_apply_that_was_undone_only_the_rollback_must_be_readable() {
    let machine = Machine::new();
    let steps = [value(knob(SWAPPINESS), "5"), value(knob(KSM), "0")];
    assert_eq!(applied(&machine, &no_faults(), &steps).expect("room"), SessionOutcome::Complete);
    assert_eq!(rolled_back(&machine, &no_faults(), false).expect("room").outcome, SessionOutcome::Complete);
    let path = machine.path("/var/lib/whylate/tuning/1/journal.jsonl");
    let whole = fs::read_to_string(&path).expect("the journal");
    let lines: Vec<&str> = whole.lines().collect();
    let rollback = lines.iter().position(|line| line.contains("\"kind\":\"rollback\"")).expect("it is there");
    for damaged in 0..lines.len() - 1 {
        let flip = |(at, line): (usize, &&str)| match at == damaged {
            true => line.replacen(':', ";", 1) + "\n",
            false => format!("{line}\n"),
        };
        fs::write(&path, lines.iter().enumerate().map(flip).collect::<String>()).expect("a damaged journal");
        let store = machine.store(&no_faults());
        match damaged < rollback {
            true => {
                assert_eq!(store.load(1).expect("undone").status(), Status::RolledBack);
                assert_eq!(whylate_tuning::unfinished(&store).expect("none"), None);
                assert!(verified(&machine).unknown.is_empty());
            }
            false => assert!(store.load(1).is_err(), "line {damaged}"),
        }
    }
}

#[test]
fn a_bit_that_flipped_in_a_saved_value_is_damage() {
    let machine = Machine::new();
    let steps = [value(knob(SWAPPINESS), "5")];
    assert_eq!(applied(&machine, &no_faults(), &steps).expect("room"), SessionOutcome::Complete);
    let path = machine.path("/var/lib/whylate/tuning/1/journal.jsonl");
    let text = fs::read_to_string(&path).expect("the journal");
    fs::write(&path, text.replacen("\"value\":\"60\"", "\"value\":\"61\"", 1)).expect("a damaged journal");
    let error = machine.store(&no_faults()).load(1).expect_err("it is damaged");
    assert!(error.to_string().contains("its checksum is wrong"), "{error}");
}

#[test]
fn another_users_store_is_refused_and_the_own_is_closed_to_others() {
    let machine = Machine::new();
    let store = machine.store(&no_faults());
    let [whylate, tuning] = ["/var/lib/whylate", "/var/lib/whylate/tuning"].map(|path| machine.path(path));
    fs::create_dir_all(&tuning).expect("directories");
    fs::write(tuning.join("lock"), "").expect("a lock");
    let chmod =
        |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("a mode");
    chmod(&tuning.join("lock"), 0o666);
    for open in [&whylate, &tuning] {
        chmod(&whylate, 0o755);
        chmod(&tuning, 0o755);
        chmod(open, 0o777);
        let error = store.lock("whylate apply").expect_err("open to all");
        assert!(matches!(&error, JournalError::Unsafe { path, .. } if path == open), "{error}");
        assert!(
            matches!(store.readable(), Err(JournalError::Unsafe { .. })),
            "what is in it is not believed"
        );
        assert!(error.to_string().contains("mode 0777"), "{error}");
    }
    chmod(&tuning, 0o755);
    chmod(&whylate, 0o755);
    let steps = [value(knob(SWAPPINESS), "5"), set(file(OWN), content("ours\n", 0o640))];
    assert_eq!(applied(&machine, &no_faults(), &steps).expect("room"), SessionOutcome::Complete);
    let mut open = Vec::new();
    let mut left = vec![tuning.clone()];
    while let Some(path) = left.pop() {
        let metadata = path.metadata().expect("there");
        if metadata.mode() & 0o077 != 0 {
            open.push(path.clone());
        }
        if metadata.is_dir() {
            left.extend(
                fs::read_dir(&path).expect("a directory").map(|entry| entry.expect("an entry").path()),
            );
        }
    }
    assert!(open.is_empty(), "{open:?}");
    if !rustix::process::geteuid().is_root() {
        skip(Need::Root, "to give a directory to another user");
        return;
    }
    chown(&tuning, Some(65_534), None).expect("given away");
    let error = store.lock("whylate rollback").expect_err("another user's");
    assert!(error.to_string().contains("belongs to user 65534"), "{error}");
}

#[test]
fn a_lock_that_another_program_has_is_waited_for_within_limits() {
    let machine = Machine::new();
    let store = machine.store(&no_faults());
    let held = store.lock("whylate apply").expect("free");
    let error = store.lock_within("whylate apply --boot", Duration::from_millis(1)).expect_err("taken");
    assert!(matches!(error, JournalError::Locked { .. }), "{error}");
    let released = std::thread::spawn(move || drop(held));
    store.lock_within("whylate apply --boot", Duration::from_secs(3600)).expect("free again");
    released.join().expect("no panic");
}

#[test]
fn a_damaged_journal_keeps_no_other_from_being_confirmed_verified_or_undone() {
    let machine = Machine::new();
    for value_now in ["5", "6", "7"] {
        let steps = [value(knob(SWAPPINESS), value_now)];
        assert_eq!(applied(&machine, &no_faults(), &steps).expect("room"), SessionOutcome::Complete);
    }
    let damage = |id: u64| {
        let path = machine.path(&format!("/var/lib/whylate/tuning/{id}/journal.jsonl"));
        let text = fs::read_to_string(&path).expect("a journal");
        fs::write(&path, text.replacen("\"record\":\"begin\"", "\"record\":\"cegin\"", 1)).expect("a bit");
    };
    damage(1);
    let store = machine.store(&no_faults());
    let journals = store.readable().expect("the others are");
    assert_eq!(journals.entries.iter().map(|entry| entry.id).collect::<Vec<_>>(), [2, 3]);
    assert!(matches!(&journals.unreadable[..], [(1, JournalError::Damaged { .. })]));
    let verified = verified(&machine);
    assert_eq!((verified.applies, verified.drifts.len()), (vec![2, 3], 0));
    assert!(verified.unknown.iter().any(|unknown| unknown.what == "apply 1"), "{:?}", verified.unknown);
    assert_eq!(rollback_targets(&store, None).expect("the last one").ids, [3]);
    assert!(rollback_targets(&store, Some(1)).is_err(), "asked for itself");
    // One that is later is no reason to leave a machine as it must not stay.
    damage(3);
    let targets = rollback_targets(&store, Some(2)).expect("readable");
    assert_eq!((targets.ids, targets.unreadable[0].0), (vec![2], 3));
    assert!(rollback_targets(&store, None).is_err(), "it cannot be told which is the last in effect");
}

#[test]
fn a_reboot_ends_what_is_of_a_boot_and_each_boot_has_its_own_old_values() {
    let machine = Machine::new();
    let steps = [value(knob(SWAPPINESS), "5"), set(file(OWN), content("ours\n", 0o640))];
    assert_eq!(applied(&machine, &no_faults(), &steps).expect("room"), SessionOutcome::Complete);
    // Another kernel, with another default.
    machine.put(SWAPPINESS, "70\n", 0o644);
    machine.put("/proc/sys/kernel/random/boot_id", "b1\n", 0o444);
    let drifts = verified(&machine).drifts;
    assert!(matches!(drifts.as_slice(), [drift] if drift.now == "not set in this boot"), "{drifts:?}");
    {
        let store = machine.store(&no_faults());
        let lock = store.lock("whylate apply --boot").expect("free");
        let mut journal = store.open(&lock, 1).expect("it is there");
        let outcome = run(&machine.system(&no_faults()), |run| {
            apply(&mut journal, SessionKind::Boot, &steps[..1], FailurePolicy::Stop, run)
        });
        assert_eq!(outcome.expect("room"), SessionOutcome::Complete);
    }
    assert_eq!((machine.text(SWAPPINESS).trim(), verified(&machine).drifts), ("5", vec![]));
    assert_eq!(rolled_back(&machine, &no_faults(), false).expect("room").outcome, SessionOutcome::Complete);
    assert_eq!(machine.text(SWAPPINESS).trim(), "70");
    assert_eq!(machine.text(OWN), "vm.swappiness = 60\n");
    let backs: Vec<_> = entry(&machine, 1)
        .sessions
        .iter()
        .flat_map(|session| session.steps.clone())
        .filter_map(|taken| taken.back.map(|(back, _)| back))
        .collect();
    assert_eq!(backs, [RollbackResult::Rebooted, RollbackResult::PutBack, RollbackResult::PutBack]);
}

#[test]
fn unconfirmed_it_is_due_when_its_time_has_come_or_at_the_next_boot() {
    let machine = Machine::new();
    let store = machine.store(&no_faults());
    let lock = store.lock("whylate apply").expect("free");
    let mut journal = store.create(&lock, &plan()).expect("room");
    let clocks = |wall, boot: &str, ms| ClockReading {
        wall: Timestamp(wall),
        boot: Some(BootInstant { boot_id: boot.to_owned(), ms }),
    };
    arm(&mut journal, clocks(100, "k0", 5_000), Duration::from_secs(200)).expect("room");
    let system = machine.system(&no_faults());
    let outcome = run(&system, |run| {
        apply(&mut journal, SessionKind::Apply, &[value(knob(SWAPPINESS), "5")], FailurePolicy::Stop, run)
    });
    assert_eq!(outcome.expect("room"), SessionOutcome::Complete);
    let at = RevertDue::At(Timestamp(300));
    // The wall clock may be set back or forward: the kernel's own clock counts.
    for (wall, boot, ms, expected) in [
        (299, "k0", 204_999, at),
        (9_999_999, "k0", 204_999, at),
        (-9_999_999, "k0", 205_000, RevertDue::Now),
        (100, "k1", 1, RevertDue::Now),
    ] {
        assert_eq!(due(journal.entry(), &clocks(wall, boot, ms), Some("b0")), expected, "{wall} {boot} {ms}");
    }
    assert_eq!(due(journal.entry(), &clocks(100, "k0", 5_000), Some("b1")), RevertDue::Now);
    // An earlier version wrote the wall clock's time alone.
    let earlier = JournalEntry { deadline: None, ..journal.entry().clone() };
    assert_eq!(due(&earlier, &clocks(299, "k0", 0), Some("b0")), at);
    assert_eq!(due(&earlier, &clocks(300, "k0", 0), Some("b0")), RevertDue::Now);
    confirm(&mut journal, Timestamp(20)).expect("room");
    assert_eq!(due(journal.entry(), &clocks(400, "k1", 0), Some("b1")), RevertDue::Settled);
    drop(journal);
    assert_eq!(entry(&machine, 1).confirmed, Some(Timestamp(20)));
}

#[test]
fn links_of_a_directory_lead_within_it() {
    let machine = Machine::new();
    // Made by a path of this machine, which has no such directory.
    symlink("/etc/sysctl.d", machine.path("/etc/drop-ins")).expect("a link");
    let system = machine.system(&no_faults());
    let path = file("/etc/drop-ins/20-x.conf");
    system.write(&path, &content("x\n", 0o644)).expect("within the root");
    assert_eq!(machine.text("/etc/sysctl.d/20-x.conf"), "x\n");
    // A link is a state of its own: it is not what it leads to that is replaced.
    assert_eq!(system.read(&file("/etc/linked.conf")), Ok(TargetState::Link { target: "real.conf".into() }));
    for bad in ["/", "relative", "/etc/..", ""] {
        assert!(system.read(&file(bad)).is_err(), "{bad}");
    }
}

#[test]
fn an_apply_that_was_cut_off_at_once_stays_visible() {
    let machine = Machine::new();
    fs::create_dir_all(machine.path("/var/lib/whylate/tuning/1")).expect("what a kill leaves");
    let read = entry(&machine, 1);
    assert_eq!((read.status(), read.is_in_effect()), (Status::Empty, false));
    assert_eq!(
        applied(&machine, &no_faults(), &[value(knob(SWAPPINESS), "5")]).expect("room"),
        SessionOutcome::Complete
    );
    assert_eq!(machine.store(&no_faults()).ids().expect("readable"), [1, 2]);
}

#[test]
fn where_irqbalance_moved_an_interrupt_within_its_cpus_nobody_decided_anything() {
    const IRQ: &str = "/proc/irq/24/smp_affinity_list";
    for (comm, moved, is_as_made) in
        [("irqbalance", "1", true), ("irqbalance", "3", false), ("sh", "1", false)]
    {
        let machine = Machine::new();
        machine.put(IRQ, "0-3\n", 0o644);
        machine.put("/proc/7/comm", &format!("{comm}\n"), 0o444);
        let before = machine.everything();
        assert_eq!(
            applied(&machine, &no_faults(), &[value(knob(IRQ), "0-1")]).expect("room"),
            SessionOutcome::Complete
        );
        machine.put(IRQ, &format!("{moved}\n"), 0o644);
        assert_eq!(verified(&machine).drifts.is_empty(), is_as_made, "{comm} {moved}");
        let outcome = rolled_back(&machine, &no_faults(), false).expect("room").outcome;
        assert_eq!(outcome == SessionOutcome::Complete, is_as_made, "{comm} {moved}");
        if is_as_made {
            assert_eq!(machine.differs_from(&before), nothing());
        } else {
            assert_eq!(machine.text(IRQ).trim(), moved);
            assert!(verified(&machine).drifts.iter().all(|drift| drift.what != "runtime settings"));
        }
    }
}

#[test]
fn a_feature_of_the_scheduler_is_one_word_among_others() {
    const FEATURES: &str = "/sys/kernel/debug/sched/features";
    let machine = Machine::new();
    machine.put(FEATURES, "TTWU_QUEUE RT_RUNTIME_SHARE NO_HRTICK\n", 0o644);
    let before = machine.everything();
    let feature = |name: &str| knob(&format!("{FEATURES}/{name}"));
    let steps =
        [value(feature("RT_RUNTIME_SHARE"), "NO_RT_RUNTIME_SHARE"), value(feature("HRTICK"), "HRTICK")];
    assert_eq!(applied(&machine, &no_faults(), &steps).expect("room"), SessionOutcome::Complete);
    assert_eq!(machine.text(FEATURES), "TTWU_QUEUE NO_RT_RUNTIME_SHARE HRTICK\n");
    assert_eq!(verified(&machine).drifts, []);
    // One that another program switches meanwhile is left unchanged.
    machine.put(FEATURES, "NO_TTWU_QUEUE NO_RT_RUNTIME_SHARE HRTICK\n", 0o644);
    assert_eq!(rolled_back(&machine, &no_faults(), false).expect("room").outcome, SessionOutcome::Complete);
    assert_eq!(machine.text(FEATURES), "NO_TTWU_QUEUE RT_RUNTIME_SHARE NO_HRTICK\n");
    machine.put(FEATURES, "TTWU_QUEUE RT_RUNTIME_SHARE NO_HRTICK\n", 0o644);
    assert_eq!(machine.differs_from(&before), nothing());
    let none = applied(&machine, &no_faults(), &[value(feature("NO_SUCH"), "NO_NO_SUCH")]).expect("room");
    assert_eq!(none, SessionOutcome::Failed);
    assert_eq!(machine.differs_from(&before), nothing());
}

/// The first program that needs the directories of the journals makes them.
#[test]
fn of_many_at_once_each_has_the_right_or_is_told_who_has() {
    for _ in 0..50 {
        let machine = Machine::new();
        let root = machine.directory.path();
        let take = || {
            let store = whylate_tuning::JournalStore::of(root).expect("a root");
            store.lock("whylate apply").map(drop)
        };
        std::thread::scope(|scope| {
            let all: Vec<_> = (0..6).map(|_| scope.spawn(take)).collect();
            for one in all {
                match one.join().expect("no panic") {
                    Ok(()) | Err(JournalError::Locked { .. }) => {}
                    Err(error) => panic!("{error}"),
                }
            }
        });
    }
}
