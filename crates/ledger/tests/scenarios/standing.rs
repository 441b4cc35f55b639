//! A thread that is to yield and goes on, as the interrupts upon it show.

use super::support::{Explained, IDLE, MS, Scene, Thread, assert_blames, fair, rt};
use whylate_base::Confidence;
use whylate_events::{ContextFlags, EventKind, Fact, Work, WorkStep};
use whylate_ledger::Cause;

const VICTIM: Thread = rt("control", 10, 70);
const KWORKER: Thread = fair("kworker/u2:1", 20);

/// A tick at `at` that finds the current thread to yield, with these flags besides.
fn tick(scene: Scene, at: i64, besides: ContextFlags) -> Scene {
    let flags = ContextFlags::NEED_RESCHED | besides;
    let scene = scene.at(at).vector("local_timer").at(at + 3).event_with(flags, EventKind::Other);
    scene.at(at + 5).vector_exit("local_timer")
}

/// On a guest a kworker has the CPU from 0 on, at a work item. The victim is woken at 1 ms; `ticks` come upon the kworker, which gives
/// way at 25 ms.
fn kept(ticks: &[i64], besides: ContextFlags) -> Explained {
    let work = |step| EventKind::Work(Work { work: 0xd0, function: "btrfs_work_helper".into(), step });
    let scene = Scene::new().cpu(1).at(0).fact(Fact::Hypervisor(true)).run(fair("app", 30));
    let scene = scene.at(10).event(work(WorkStep::Queued)).wake(KWORKER, 1).at(20).sleep(KWORKER);
    let mut scene = scene.at(25).event(work(WorkStep::Started)).at(MS).timer_wakes(VICTIM);
    for &at in ticks {
        scene = tick(scene, at, besides);
    }
    scene.at(25 * MS).run(VICTIM).at(25 * MS + 100).sleep(IDLE).explain("control")
}

const TICKS: [i64; 6] = [4 * MS, 8 * MS, 12 * MS, 16 * MS, 20 * MS, 24 * MS];

#[test]
fn a_thread_that_goes_on_at_each_tick_is_not_preempted_by_this_kernel() {
    let explained = kept(&TICKS, ContextFlags::default());
    let activation = explained.only();
    assert_blames(activation, Cause::PreemptionDisabled, Some(KWORKER));
    let verdict = &activation.verdict;
    assert_eq!(verdict.confidence, Confidence::High);
    assert!(
        verdict.why.contains("6 interrupts found it to yield, with preemption enabled"),
        "{}",
        verdict.why
    );
    assert!(verdict.why.contains("at its work item btrfs_work_helper"), "{}", verdict.why);
    assert!(verdict.fix[0].text.contains("preempts that thread there: preempt=full"), "{:?}", verdict.fix);
    assert!(verdict.fix.iter().all(|fix| !fix.text.contains("taskset")), "{:?}", verdict.fix);
    let finding = explained.finding("preemption-disabled").expect("a finding");
    assert!(finding.evidence[0].what.contains("delayed by 23.9"), "{:?}", finding.evidence[0]);
}

#[test]
fn without_that_it_is_in_doubt_on_a_guest() {
    // Two interrupts may be the first and the last before it gives way, and where softirqs are off no kernel preempts.
    for (ticks, besides) in [
        (&TICKS[4..], ContextFlags::default()),
        (&TICKS[..], ContextFlags::SOFTIRQS_OFF),
        (&TICKS[..], ContextFlags::SOFTIRQ),
    ] {
        let explained = kept(ticks, besides);
        let verdict = &explained.only().verdict;
        assert_eq!((verdict.cause, verdict.confidence), (Cause::PreemptionDisabled, Confidence::Low));
        assert!(!verdict.why.contains("this kernel"), "{}", verdict.why);
    }
}
