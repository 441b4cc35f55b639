//! A wake-up's trace that is cut behind its first lines.

use super::latency::latency_trace;
use super::{CPU, charged, check_tiling, event, explained, frame, function};
use whylate_base::{Confidence, Priority, Tid};
use whylate_events::{Event, EventKind, LatencyTracer, Wake};
use whylate_ledger::{Activation, Cause, Culprit};

const VICTIM: i32 = 200;
const DESKTOP: i32 = 77;
const US: i64 = 1_000;

/// Of a latency of 20 ms in 9000 lines, these are all that the file has.
fn of(events: Vec<Event>) -> Activation {
    let mut info = latency_trace(LatencyTracer::WakeupRt, 20_000 * US, "control", VICTIM, 80);
    info.latency.as_mut().expect("of a tracer").entries = Some(9_000);
    let activation = explained(info, events).only().clone();
    check_tiling(&activation);
    activation
}

fn wake(by: i32, flags: &str) -> Event {
    let wake = Wake { comm: "control".into(), tid: Tid(VICTIM), prio: Priority(19), target_cpu: CPU };
    event(0, by, flags, EventKind::Wakeup { wake, new: false })
}

fn with_stack(by: i32, flags: &str) -> Vec<Event> {
    let stack =
        ["hrtimer_interrupt", "asm_sysvec_apic_timer_interrupt", "readw", "bus_set_line", "screen_detect"];
    let mut events = vec![wake(by, flags)];
    events.extend(stack.map(|name| frame(20 * US, by, name)));
    events
}

#[test]
fn the_thread_on_the_cpu_is_named_with_the_place_where_it_was() {
    let found = of(with_stack(DESKTOP, "dNh"));
    let verdict = &found.verdict;
    assert_eq!((verdict.cause, verdict.confidence), (Cause::PreemptionDisabled, Confidence::Low));
    assert!(matches!(verdict.by, Some(Culprit::Task { tid: Tid(DESKTOP), .. })), "{verdict:#?}");
    assert!(verdict.why.contains("in readw; what followed was cut"), "{}", verdict.why);
    let seen = |words: &str| verdict.evidence.iter().any(|seen| seen.what.contains(words));
    assert!(seen("the stack at the wake-up: readw <- bus_set_line <- screen_detect"), "{verdict:#?}");
    assert!(seen("may have had the CPU for") && !seen("7 had the CPU for"), "{verdict:#?}");
    // What the lines do not show is charged from the last one on.
    assert_eq!(charged(&found)[1], (Cause::PreemptionDisabled, 19_980 * US));
}

/// Nothing shows that the thread should have given way.
#[test]
fn without_a_request_to_give_way_it_is_not_known_which_comes_first() {
    let found = of(with_stack(DESKTOP, "dh"));
    assert_eq!((found.verdict.cause, found.verdict.confidence), (Cause::OtherTask, Confidence::Low));
    assert!(found.verdict.why.contains("what followed was cut"), "{}", found.verdict.why);
}

#[test]
fn an_idle_cpu_and_lines_of_several_threads_show_no_culprit() {
    assert_eq!(of(with_stack(0, "dNh")).verdict.cause, Cause::Unexplained);
    let mut two = with_stack(DESKTOP, "dNh");
    two.push(event(90 * US, 78, "N", function("do_work")));
    assert_eq!(of(two).verdict.cause, Cause::Unexplained);
    // Lines in the middle of it show that more happened than the first ones do.
    let mut later = with_stack(DESKTOP, "dNh");
    later.push(event(9_000 * US, DESKTOP, "N", function("do_work")));
    assert!(!of(later).verdict.why.contains("what followed was cut"));
}
