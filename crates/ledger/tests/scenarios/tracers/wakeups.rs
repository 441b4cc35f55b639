//! Wake-ups that a tracer kept: interrupts that only flags show, priorities that no line has, coarse clocks.

use super::latency::latency_trace;
use super::{CPU, charged, check_tiling, event, explained, frame, function, on};
use whylate_base::{Confidence, Cpu, Ns, Priority, Tid};
use whylate_events::{Event, EventKind, Fact, LatencyTracer, Marker, Switch, TaskState, TraceInfo, Wake};
use whylate_ledger::{Activation, Cause, Culprit};

const VICTIM: i32 = 200;
const SHELL: i32 = 77;

fn info(latency: i64) -> TraceInfo {
    latency_trace(LatencyTracer::WakeupRt, latency, "control", VICTIM, 80)
}

fn wake(ns: i64, by: i32, flags: &str) -> Event {
    let wake = Wake { comm: "control".into(), tid: Tid(VICTIM), prio: Priority(19), target_cpu: CPU };
    event(ns, by, flags, EventKind::Wakeup { wake, new: false })
}

fn switch(ns: i64, from: (&str, i32, i32)) -> Event {
    let (comm, tid, prio) = from;
    let switch = Switch {
        prev_comm: comm.into(),
        prev_tid: Tid(tid),
        prev_prio: Priority(prio),
        prev_state: TaskState::Runnable,
        next_comm: "control".into(),
        next_tid: Tid(VICTIM),
        next_prio: Priority(19),
    };
    event(ns, tid, "d", EventKind::Switch(switch))
}

fn only(info: TraceInfo, events: Vec<Event>) -> Activation {
    let explained = explained(info, events);
    let activation = explained.only().clone();
    check_tiling(&activation);
    activation
}

fn culprit(activation: &Activation) -> String {
    activation.verdict.by.as_ref().map_or_else(String::new, Culprit::to_string)
}

/// A timer's interrupt wakes the thread; a device's comes before the CPU gets to it.
fn interrupted(on: i32) -> Vec<Event> {
    let mut events = vec![wake(0, on, "dNh")];
    events.extend(
        ["hrtimer_update_next_event", "tick_program_event"]
            .map(|name| event(1_000, on, "dNh", function(name))),
    );
    events.push(event(4_000, on, "dN", function("irq_exit_rcu")));
    events.push(event(5_000, on, "dNh", function("handle_edge_irq")));
    events.push(event(6_000, on, "dNh", function("__handle_irq_event_percpu")));
    events.push(event(6_000, on, "dNh", function("nic_interrupt")));
    events.push(event(90_000, on, "dNh", function("preempt_count_add")));
    events.push(event(150_000, on, "dNh", function("note_interrupt")));
    events.push(event(152_000, on, "dN", function("irq_exit_rcu")));
    events.push(event(158_000, on, "dN", function("__schedule")));
    events
}

#[test]
fn interrupts_that_only_flags_show_are_charged() {
    for (on, comm) in [(0, "swapper/5"), (SHELL, "sh")] {
        let mut events = interrupted(on);
        events.push(switch(160_000, (comm, on, 120)));
        let activation = only(info(160_000), events);
        assert_eq!(activation.verdict.cause, Cause::Irq, "{activation:#?}");
        assert_eq!(culprit(&activation), "nic_interrupt interrupt");
        assert_eq!(activation.verdict.charged.0, 147_000);
        assert!(charged(&activation).contains(&(Cause::Irq, 4_000)), "the timer's own: {activation:#?}");
        assert!(texts(&activation.verdict.fix).contains("smp_affinity"), "{:?}", activation.verdict.fix);
        let seen = |word: &str| activation.verdict.evidence.iter().any(|seen| seen.what.contains(word));
        assert!(seen("no line for 84.00 us, between nic_interrupt and preempt_count_add"), "{activation:#?}");
        // A counter's function is not the work that took the time.
        assert!(seen(
            "no line for 60.00 us, between preempt_count_add and note_interrupt, after nic_interrupt"
        ));
    }
}

/// The interrupt that wakes the thread goes on; the tracer saves a stack in it. The switch is not among the rows.
#[test]
fn what_the_tracer_took_to_save_a_stack_is_no_interrupts_time() {
    let mut info = info(400_000);
    info.latency.as_mut().expect("of a tracer").entries = Some(90);
    let events = vec![
        wake(1_000, 0, "dNh"),
        frame(250_000, 0, "try_to_wake_up"),
        event(260_000, 0, "dNh", function("task_woken_rt")),
        event(300_000, 0, "dNh", function("_raw_spin_unlock")),
    ];
    let activation = only(info, events);
    let irq: i64 = charged(&activation).iter().filter(|one| one.0 == Cause::Irq).map(|one| one.1).sum();
    assert!(irq <= 401_000 - 250_000, "{activation:#?}");
    assert_eq!(activation.verdict.cause, Cause::Unexplained);
    let why = &activation.verdict.why;
    assert!(
        why.contains("was runnable and waited for a CPU, for ") && why.contains("does not show why"),
        "{why}"
    );
    let of_irq = activation.ledger.iter().filter(|segment| segment.cause == Cause::Irq);
    assert!(of_irq.into_iter().all(|segment| segment.confidence == Confidence::Low));
}

/// A row of an interrupt, with the function that called it.
fn called(ns: i64, name: &str, caller: &str) -> Event {
    event(ns, 0, "dNh", EventKind::Function { name: name.into(), caller: caller.into() })
}

#[test]
fn an_interrupt_behind_the_one_that_woke_is_another() {
    let scene = |entry: &[Event]| {
        let mut events = vec![wake(0, 0, "dNh"), called(1_000, "note_interrupt", "handle_level_irq")];
        events.push(called(2_000, "irq_exit", "do_IRQ"));
        events.extend_from_slice(entry);
        events.push(called(4_000, "handle_level_irq", "do_IRQ"));
        events.push(called(17_000, "irq_exit", "do_IRQ"));
        events.push(event(17_000, 0, "dN", function("__schedule")));
        events.push(switch(18_000, ("swapper/5", 0, 120)));
        only(info(18_000), events)
    };
    // The old tracer's own row of an entry, which is no function; and without it.
    for entry in [vec![event(4_000, 0, "dNh", EventKind::Other)], Vec::new()] {
        let activation = scene(&entry);
        let of_interrupts: Vec<i64> = charged(&activation)
            .into_iter()
            .filter(|(cause, _)| *cause == Cause::Irq)
            .map(|(_, ns)| ns)
            .collect();
        assert_eq!(of_interrupts, [2_000, 13_000], "{activation:#?}");
        let why = &activation.verdict.why;
        assert!(why.contains("hard interrupts") && !why.contains("woke it"), "{why}");
    }
    // Within the same microsecond.
    let at_once = vec![event(2_000, 0, "dNh", EventKind::Other)];
    let why = scene(&at_once).verdict.why;
    assert!(why.contains("hard interrupts") && !why.contains("woke it"), "{why}");
    // What the way out itself calls is of the same interrupt.
    let activation = scene(&[called(3_000, "account_time", "irq_exit")]);
    let first = activation.ledger.iter().find(|segment| segment.cause == Cause::Irq);
    assert!(first.is_some_and(|first| first.end.0 - first.start.0 == 3_000), "{activation:#?}");
}

#[test]
fn an_interrupt_within_another_does_not_end_it() {
    let mut events = vec![wake(0, 0, "dNh"), called(1_000, "irq_enter", "do_IRQ")];
    events.push(called(3_000, "irq_exit", "do_IRQ"));
    events.push(called(3_000, "handle_level_irq", "do_IRQ"));
    events.push(called(17_000, "irq_exit", "do_IRQ"));
    events.push(event(17_000, 0, "dN", function("__schedule")));
    events.push(switch(18_000, ("swapper/5", 0, 120)));
    let activation = only(info(18_000), events);
    assert!(charged(&activation).contains(&(Cause::Irq, 17_000)), "{activation:#?}");
    assert!(activation.verdict.why.contains("the interrupt that woke it"), "{}", activation.verdict.why);
}

#[test]
fn softirqs_are_charged_where_a_function_shows_them() {
    let scene = |name: &str| {
        let mut events = vec![wake(0, SHELL, "dNh"), event(3_000, SHELL, "N", function("irq_exit_rcu"))];
        events.push(event(4_000, SHELL, "Ns", function("handle_softirqs")));
        events.extend((5..300).map(|us| event(us * 1_000, SHELL, "Ns", function(name))));
        events.push(event(301_000, SHELL, "dN", function("__schedule")));
        events.push(switch(302_000, ("sh", SHELL, 120)));
        only(info(302_000), events)
    };
    let found = scene("net_rx_action");
    assert_eq!((found.verdict.cause, culprit(&found).as_str()), (Cause::Softirq, "softirq NET_RX"));
    // Of the flag alone it is not known whether softirqs ran or were disabled.
    assert_eq!(scene("ip_output").verdict.cause, Cause::PreemptionDisabled);
}

#[test]
fn events_of_interrupts_are_not_added_where_the_trace_has_them() {
    let mut events = interrupted(0);
    events.insert(4, event(5_000, 0, "dh", EventKind::IrqEntry { irq: 41, name: "eth0".into() }));
    events.insert(11, event(151_000, 0, "dh", EventKind::IrqExit { irq: 41 }));
    events.push(switch(160_000, ("swapper/5", 0, 120)));
    assert_eq!(culprit(&only(info(160_000), events)), "irq 41 eth0");
}

#[test]
fn a_thread_of_unknown_priority_is_not_called_higher() {
    // The line of the switch is cut: no line has the shell's priority.
    let cut = |flags: &str| {
        let mut events = vec![wake(0, SHELL, "dNh")];
        events.extend((1..40).map(|i| event(i * 10_000, SHELL, flags, function("fill_buffer"))));
        only(info(400_000), events)
    };
    for (flags, cause) in [
        ("dN", Cause::IrqsDisabled),
        ("N", Cause::PreemptionDisabled),
        // The scheduler did not ask it to give way, and nothing shows why.
        (".", Cause::Unexplained),
    ] {
        let activation = cut(flags);
        assert_eq!(
            (activation.verdict.cause, activation.latency()),
            (cause, Some(whylate_base::Ns(400_000))),
            "{flags}"
        );
    }
    assert_eq!(culprit(&cut("N")), "tid 77");
}

#[test]
fn an_earlier_wake_up_in_the_same_trace_is_not_the_measured_one() {
    let mut events = vec![wake(0, SHELL, "dNh"), switch(1_000, ("sh", SHELL, 120))];
    events.push(wake(2_000, SHELL, "dNh"));
    events.extend((1..30).map(|i| event(i * 10_000, SHELL, "dN", function("fill_buffer"))));
    events.push(switch(302_000, ("sh", SHELL, 120)));
    let explained = explained(info(300_000), events);
    let worst = &explained.0.activations[0];
    assert_eq!(worst.latency().map(|latency| latency.0), Some(300_000), "{worst:#?}");
    assert_ne!(worst.verdict.cause, Cause::HigherPriorityTask);
    assert_eq!(culprit(worst), "sh:77 (nice 0)");
}

#[test]
fn a_coarse_clock_is_named() {
    let scene = |step: i64| {
        let mut events = vec![wake(0, SHELL, "dNh")];
        events.extend([0, 0, 0, 0, 0, 0].map(|at| event(at, SHELL, "dN", function("fill_buffer"))));
        events.push(event(2 * step, SHELL, "dN", function("__schedule")));
        events.push(switch(2 * step, ("sh", SHELL, 120)));
        only(info(2 * step), events)
    };
    let seen = |activation: &Activation, word: &str| {
        activation.verdict.evidence.iter().any(|seen| seen.what.contains(word))
    };
    assert!(seen(&scene(1_000_000), "whole steps of 1.00 ms"));
    assert!(!seen(&scene(1_000_000), "no line for"));
    assert!(seen(&scene(4_000_000), "whole steps of 4.00 ms"));
    assert!(!seen(&scene(1_003_000), "whole steps"));
}

#[test]
fn no_realtime_kernel_is_advised_to_use_one() {
    let advice = |fact: Fact| {
        let marker = EventKind::Marker(Marker::from(fact.to_string().as_str()));
        let mut events = vec![event(0, 0, "", marker), wake(0, SHELL, "dNh")];
        events.extend((1..30).map(|i| event(i * 10_000, SHELL, "N", function("fill_buffer"))));
        events.push(switch(300_000, ("sh", SHELL, 120)));
        let explained = explained(info(300_000), events);
        let of_findings = explained.0.findings.iter().flat_map(|finding| &finding.fix);
        let all: Vec<&str> =
            explained.only().verdict.fix.iter().chain(of_findings).map(|fix| fix.text.as_str()).collect();
        all.join("; ")
    };
    assert!(advice(Fact::PreemptRt(false)).contains("PREEMPT_RT"));
    let advised = advice(Fact::PreemptRt(true));
    assert!(!advised.contains("PREEMPT_RT") && !advised.is_empty(), "{advised}");
}

/// The header has 1.9 ms on one CPU, and the lines a whole wake-up of 10 us on another.
#[test]
fn lines_that_contradict_the_header_are_reported() {
    let elsewhere = |ns: i64, tid: i32| on(Cpu(0), ns, tid, "d", function("__schedule"));
    let contradicts = |events: Vec<Event>| {
        let activation = only(info(1_900_000), events);
        assert_eq!(activation.latency(), Some(Ns(1_900_000)));
        let said = "they are of another CPU, on which control has a line 10.00 us after the first";
        activation.verdict.evidence.iter().any(|seen| seen.what.ends_with(said))
    };
    assert!(contradicts(vec![elsewhere(1_000, SHELL), elsewhere(11_000, VICTIM), elsewhere(12_000, VICTIM)]));
    assert!(!contradicts(vec![elsewhere(1_000, SHELL), elsewhere(12_000, SHELL)]));
}

/// Without function tracing there is a line at the wake-up, in the timer's interrupt, and one at the switch.
#[test]
fn where_functions_are_not_traced_an_interrupt_is_not_charged_beyond_its_lines() {
    let scene = |on: i32, comm: &str, between: usize, entries: Option<u64>| {
        let mut events = vec![wake(0, on, "dNh"), event(8_000, on, "dNh", function("ttwu_do_activate"))];
        events.extend((0..between).map(|_| event(9_000, on, "dNh", function("hrtimer_update_next_event"))));
        events.push(event(395_000, on, "d", function("__schedule")));
        events.push(switch(400_000, (comm, on, 120)));
        let mut info = info(400_000);
        info.latency.as_mut().expect("of a tracer").entries = entries;
        events.push(frame(410_000, on, "__schedule"));
        events.extend(["preempt_schedule", "spin_unlock", "walk_pages"].map(|name| frame(410_000, on, name)));
        only(info, events)
    };
    let busy = scene(SHELL, "sh", 0, None);
    assert_eq!((busy.verdict.cause, culprit(&busy).as_str()), (Cause::PreemptionDisabled, "sh:77 (nice 0)"));
    assert_eq!(busy.verdict.charged.0, 392_000);
    let seen = |word: &str| busy.verdict.evidence.iter().any(|seen| seen.what.contains(word));
    assert!(seen("the stack at the switch: preempt_schedule <- spin_unlock <- walk_pages"), "{busy:#?}");
    // The idle CPU was awake since the interrupt.
    let idle = scene(0, "swapper/5", 0, None);
    assert_eq!((idle.verdict.cause, idle.verdict.confidence), (Cause::Dispatch, Confidence::Low));
    // Lines were left out.
    assert_eq!(scene(SHELL, "sh", 4, Some(300)).verdict.cause, Cause::PreemptionDisabled);
    // All functions were traced: the last of them took the time.
    assert_eq!(scene(SHELL, "sh", 4, None).verdict.cause, Cause::Irq);
}

#[test]
fn of_an_excerpt_that_ends_early_the_rest_is_not_sure() {
    for (on, cause) in [(0, Cause::Unexplained), (SHELL, Cause::PreemptionDisabled)] {
        let scene = |entries: u64| {
            let mut info = info(150_000);
            info.latency.as_mut().expect("of a tracer").entries = Some(entries);
            only(info, vec![wake(0, on, "dN"), event(12_000, on, "dN", function("ttwu_do_activate"))])
        };
        let cut = scene(300);
        assert_eq!((cut.verdict.cause, cut.verdict.charged), (cause, Ns(138_000)), "{cut:#?}");
        assert_eq!(cut.verdict.confidence, Confidence::Low);
        // All lines are there: the last one took the time.
        let whole = scene(2);
        assert_ne!(whole.verdict.cause, Cause::Unexplained, "{whole:#?}");
    }
}

/// Not that of the lines.
const OTHER: whylate_base::Cpu = whylate_base::Cpu(1);

/// A trace of 2006: the header is of CPU 1, and its lines are of CPU 0 and of 12 us.
#[test]
fn where_no_line_is_of_the_headers_cpu_its_latency_is_unexplained() {
    let mut info = info(1_898_000);
    info.latency.as_mut().expect("of a tracer").cpu = OTHER;
    let events = vec![
        event(0, SHELL, "", function("__wake_up")),
        event(9_000, SHELL, "d", switch(9_000, ("sh", SHELL, 120)).kind),
        event(12_000, VICTIM, "d", function("thread_return")),
    ];
    let activation = only(info, events);
    assert_eq!((activation.cpu, activation.latency()), (OTHER, Some(Ns(1_898_000))));
    assert_eq!((activation.verdict.cause, activation.verdict.charged), (Cause::Unexplained, Ns(1_898_000)));
}

/// The words of fixes.
fn texts(fixes: &[whylate_base::AdvisedFix]) -> String {
    fixes.iter().map(|fix| fix.text.as_str()).collect::<Vec<_>>().join(" ")
}

#[test]
fn a_tracer_that_measured_on_until_the_switch_was_over_counts_to_its_end() {
    // As those of 2005: the switch is early, and their last line is the thread's own.
    let events = vec![
        wake(0, SHELL, "dh"),
        event(4_000, SHELL, "dN", function("__schedule")),
        event(6_000, VICTIM, "d", switch(6_000, ("sh", SHELL, 120)).kind),
        event(1_467_000, VICTIM, "", function("trace_stop_sched_switched")),
        event(1_468_000, VICTIM, "d", function("trace_stop_sched_switched")),
    ];
    let activation = only(info(1_468_000), events.clone());
    assert_eq!(activation.latency(), Some(Ns(1_468_000)));
    assert_eq!((activation.verdict.cause, activation.verdict.confidence), (Cause::Dispatch, Confidence::Low));
    assert_eq!(culprit(&activation), "", "the shell gave way after 6 us");
    // Where the lines end before it, what the tracer measured is all that is known.
    let activation = only(info(9_000_000), events);
    assert_eq!(activation.latency(), Some(Ns(9_000_000)));
    assert_eq!(
        (activation.verdict.cause, activation.verdict.confidence),
        (Cause::Unexplained, Confidence::Low)
    );
}

#[test]
fn a_cpu_that_went_on_into_an_idle_state_was_not_stolen() {
    let of = |last: &str| {
        only(
            info(2_700_000),
            vec![
                wake(0, 0, "dNh"),
                event(3_000, 0, "dN", function(last)),
                event(2_650_000, 0, "dNh", function("smp_apic_timer_interrupt")),
                event(2_660_000, 0, "dN", function("irq_exit")),
                switch(2_700_000, ("swapper/5", 0, 120)),
            ],
        )
    };
    let slept = of("acpi_hw_low_level_write");
    assert_eq!((slept.verdict.cause, slept.verdict.confidence), (Cause::IdleExit, Confidence::Low));
    assert!(slept.verdict.by.is_none() && slept.verdict.charged >= Ns(2_647_000), "{slept:#?}");
    assert_ne!(of("do_something").verdict.cause, Cause::IdleExit);
}

/// A kernel thread without a name keeps interrupts off in one function; the switch is not among the lines.
fn kept_off(flags: &str, caller: &str, cut: bool) -> Activation {
    let mut info = info(55_000_000);
    info.latency.as_mut().expect("of a tracer").entries = cut.then_some(300);
    let call = |ns, flags: &str, name: &str, caller: &str| {
        event(ns, SHELL, flags, EventKind::Function { name: name.into(), caller: caller.into() })
    };
    let events = vec![
        wake(0, SHELL, "dNh"),
        frame(8_000, SHELL, "hrtimer_wakeup"),
        frame(8_000, SHELL, "reclaimd"),
        frame(8_000, SHELL, "kthread"),
        call(9_000, "dNh", "hrtimer_interrupt", "apic_timer_interrupt"),
        call(11_000, flags, "isolate_pages", "shrink_list"),
        call(54_900_000, flags, "mod_state", caller),
        call(54_990_000, "N", "put_pages", "shrink_list"),
    ];
    only(info, events)
}

#[test]
fn between_two_lines_with_interrupts_off_they_are_off() {
    let off = kept_off("dN", "isolate_pages", false);
    assert_eq!((off.verdict.cause, off.verdict.charged), (Cause::IrqsDisabled, Ns(54_889_000)));
    assert!(off.verdict.fix.iter().all(|fix| !fix.text.contains("preempt=full")), "{:?}", off.verdict.fix);
    let seen = "by its stack tid 77 is a kernel thread, whose function is reclaimd";
    assert!(off.verdict.evidence.iter().any(|evidence| evidence.what == seen), "{:#?}", off.verdict);
    // Lines are left out: only within one function nothing was between.
    assert_eq!(kept_off("dN", "isolate_pages", true).verdict.cause, Cause::IrqsDisabled);
    assert_eq!(kept_off("dN", "another", true).verdict.cause, Cause::PreemptionDisabled);
    assert_eq!(kept_off("N", "isolate_pages", false).verdict.cause, Cause::PreemptionDisabled);
    assert_eq!(kept_off("dNh", "isolate_pages", false).verdict.cause, Cause::Irq);
}

/// The tracer of 2008 had no rows of the scheduler: the header and the functions are all.
fn by_functions_alone(rows: usize) -> Activation {
    let line = |us: i64, tid: i32, flags: &str, name: &str| event(us * 1_000, tid, flags, function(name));
    let mut events = vec![
        line(0, SHELL, "d.h", "try_to_wake_up"),
        line(9, SHELL, "dNh", "irq_exit"),
        line(10, SHELL, "dN", "do_IRQ"),
        line(14, SHELL, "dNh", "handle_IRQ_event"),
        line(15, SHELL, ".Nh", "mouse_interrupt"),
        line(319, SHELL, ".Nh", "serio_interrupt"),
        line(421, SHELL, "dNh", "irq_exit"),
        line(431, SHELL, "dN", "preempt_schedule_irq"),
        line(480, SHELL, "dN", "pick_next_task_rt"),
        line(491, VICTIM, "d", "__switch_to"),
    ];
    let entries = Some(events.len() as u64);
    events.truncate(rows);
    let mut info = info(491_000);
    if let Some(trace) = &mut info.latency {
        trace.entries = entries;
    }
    only(info, events)
}

#[test]
fn an_interrupts_rows_are_charged_where_the_scheduler_has_none() {
    let activation = by_functions_alone(10);
    assert_eq!((activation.verdict.cause, &*culprit(&activation)), (Cause::Irq, "mouse_interrupt interrupt"));
    assert_eq!(activation.verdict.charged.0, 417_000, "{activation:#?}");
}

#[test]
fn an_end_that_is_cut_off_moves_no_wake_up() {
    let activation = by_functions_alone(6);
    assert_eq!((activation.due.0, activation.running), (0, Some(Ns(491_000))), "{activation:#?}");
}
