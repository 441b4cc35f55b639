//! Delays that are each short, of an activation of which it is not known what is usual.

use super::support::{IDLE, Scene, Thread, fair, rt};
use whylate_base::{Confidence, Ns};
use whylate_events::{ContextFlags, KindSet, TaskState};
use whylate_ledger::{Activation, Cause, Verdict};

const VICTIM: Thread = fair("victim", 10);
const MOVER: Thread = rt("mover", 20, 99);
const OTHER: Thread = fair("other", 30);

/// The victim works for 60 us, between which two threads have the CPU for `mover` and `other` us.
fn verdict(mover: i64, other: i64) -> Verdict {
    let scene = Scene::new().cpu(1).at(0).wake(VICTIM, 1).at(1).run(VICTIM).at(41).run(MOVER);
    let scene = scene.at(41 + mover).sleep(OTHER).at(41 + mover + other).run(VICTIM);
    let explained = scene.at(61 + mover + other).sleep(IDLE).explain("victim");
    explained.only().verdict.clone()
}

#[test]
fn others_that_had_the_cpu_for_a_fifth_of_the_time_delayed_it() {
    let late = verdict(9, 14);
    assert_eq!((late.cause, late.charged), (Cause::FairQueue, Ns::from_us(14)));
    assert!(!late.why.contains("nothing delayed"), "{}", late.why);
}

/// All of it, and still little: the words name the thread, and contradict nothing.
#[test]
fn a_short_time_that_a_thread_of_higher_priority_had_is_named() {
    let scene = Scene::new().cpu(1).at(0).run(rt("irq/9", 20, 50)).at(10).wake(rt("victim", 10, 40), 1);
    let explained = scene.at(29).sleep(rt("victim", 10, 40)).explain("victim");
    let why = &explained.only().verdict.why;
    assert!(why.contains("nothing delayed victim (rt 40) notably: irq/9:20 (rt 50) ran before it"), "{why}");
}

/// Below 20 us in all, or of a much longer work, they are no matter.
#[test]
fn less_than_that_is_no_delay() {
    let in_time = verdict(4, 11);
    assert_eq!(in_time.cause, Cause::OwnWork);
    assert!(in_time.why.contains("nothing delayed"), "{}", in_time.why);
}

/// A SCHED_OTHER thread is woken behind another one, which leaves the CPU so much later, in that state.
fn turn_after(us: i64, state: TaskState) -> Activation {
    let (late, other) = (fair("late", 10), fair("other", 20));
    let scene = Scene::new().cpu(1).at(0).run(other).at(1_000).wake(late, 1).at(1_000 + us);
    scene.switch_as(state, late).at(2_000 + us).sleep(IDLE).explain("late").only().clone()
}

#[test]
fn a_thread_that_preempts_the_other_at_once_waited_for_no_turn() {
    let of = |us, state| turn_after(us, state).ledger[0].cause;
    assert_eq!(of(14, TaskState::Runnable), Cause::Dispatch);
    // The way through the scheduler is not that long: the other one, which woke it, kept the CPU, and why is not shown.
    let kept = turn_after(34, TaskState::Runnable).ledger[0];
    assert_eq!((kept.cause, kept.confidence), (Cause::FairQueue, Confidence::Low));
    assert!(kept.by.is_some_and(|by| by.to_string().contains("other:20")), "{:?}", kept.by);
    let by_interrupt =
        Scene::new().cpu(1).at(0).run(OTHER).at(1_000).irq(7, "eth0").wake(VICTIM, 1).irq_exit(7);
    let by_interrupt = by_interrupt.at(1_034).switch_as(TaskState::Runnable, VICTIM).at(2_000).sleep(IDLE);
    assert!(by_interrupt.explain("victim").only().ledger.iter().all(|one| one.cause != Cause::FairQueue));
    // The other one went to sleep, or had some of its slice.
    assert_eq!(of(34, TaskState::Interruptible), Cause::FairQueue);
    assert_eq!(of(2_000, TaskState::Runnable), Cause::FairQueue);
}

/// A SCHED_OTHER thread that is woken preempts another one, again and again: those that are not kept are charged as the others are.
#[test]
fn each_of_many_threads_that_gave_way_is_charged_alike() {
    let mut scene = Scene::new().cpu(1).at(0).run(OTHER);
    for n in 0..40 {
        let due = 1_000 + n * 1_000;
        scene = scene.at(due).waking(VICTIM, 1).at(due + 2).wakeup(VICTIM, 1).at(due + 3).run(VICTIM);
        scene = scene.at(due + 100 - n).sleep(OTHER);
    }
    let explained = scene.explain("victim");
    let [task] = &explained.0.tasks[..] else { panic!("one thread") };
    let kinds: Vec<Cause> = task.causes.iter().map(|(cause, _)| *cause).collect();
    assert_eq!(task.activations, 40);
    let time = |of: Cause| task.causes.iter().find(|(cause, _)| *cause == of).map(|(_, time)| *time);
    let waited = [Cause::Dispatch, Cause::FairQueue].into_iter().filter_map(time).sum::<Ns>();
    assert_eq!(waited, Ns::from_us(40 * 3), "{kinds:?}");
    let each = explained.in_order();
    let dispatched = |one: &&&Activation| one.ledger.iter().any(|segment| segment.cause == Cause::Dispatch);
    assert_eq!(each.iter().filter(dispatched).count(), each.len());
    assert_eq!(time(Cause::Dispatch), Some(Ns::from_us(40)), "{kinds:?}");
}

#[test]
fn a_recording_that_ends_behind_a_wake_up_shows_no_wait_for_a_turn() {
    let (late, other) = (fair("late", 10), fair("other", 20));
    let of = |us: i64| {
        let scene = Scene::new().file_with(KindSet::ALL).cpu(1).at(0).run(other).at(1_000).wake(late, 1);
        let scene = scene.at(1_000 + us).sign(ContextFlags::default());
        scene.explain("late").only().ledger.iter().map(|segment| segment.cause).collect::<Vec<_>>()
    };
    assert_eq!(of(30), [Cause::Dispatch]);
    assert_eq!(of(3_000), [Cause::FairQueue]);
}
