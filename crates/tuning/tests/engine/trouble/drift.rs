//! Settings that another program changed after the apply: drift, or none, and what a rollback does with them.

use super::{OWN, SWAPPINESS, entry, no_faults, nothing, verified};
use crate::machine::{Machine, applied, content, file, knob, rolled_back, set, update_grub, value};
use std::fs;
use whylate_tuning::{RollbackResult, SessionOutcome};

#[test]
fn what_another_program_changed_is_left_unless_forced() {
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
fn where_irqbalance_moved_an_interrupt_within_its_cpus_no_decision_was_made() {
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
