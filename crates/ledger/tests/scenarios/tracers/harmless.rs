//! Critical sections that delay no thread, and those that only look like them.

use super::latency::{latency_trace, named, section_of};
use super::{event, frame, function};
use whylate_base::{Ns, Severity, Tid};
use whylate_events::{Event, LatencyTracer, TraceInfo};
use whylate_ledger::{CpuContext, CriticalSection};

fn of(info: TraceInfo, events: Vec<Event>) -> (Severity, CriticalSection) {
    let code = match info.latency.as_ref().expect("of a tracer").tracer {
        LatencyTracer::Irqsoff => "irqs-disabled",
        _ => "preemption-disabled",
    };
    let (explained, section) = section_of(info, events);
    (explained.finding(code).expect("a finding").severity, section)
}

#[test]
fn an_idle_cpu_delays_no_thread() {
    let info = || {
        let info = latency_trace(LatencyTracer::Irqsoff, 9_000_000, "swapper/5", 0, 0);
        named(info, "tick_nohz_idle_enter", "default_idle_call")
    };
    let asleep = vec![
        event(0, 0, "d", function("tick_nohz_idle_enter")),
        event(20_000, 0, "d", function("cpuidle_enter_state")),
        event(8_990_000, 0, "d", function("default_idle_call")),
        event(9_000_000, 0, "d", function("trace_hardirqs_on")),
    ];
    let (severity, section) = of(info(), asleep.clone());
    assert!(!section.delays && severity == Severity::Info, "{section:#?}");
    assert!(section.why.contains("idle") && section.why.contains("no thread was delayed"), "{}", section.why);
    assert!(!section.fix.join(" ").contains("maintainers"), "{:?}", section.fix);
    // Only its ends were traced.
    let ends = [asleep[0], event(9_000_000, 0, "d", function("default_idle_call"))].to_vec();
    assert!(!of(info(), ends).1.delays);
    // An interrupt came upon the idle CPU: its handlers took the time.
    for entry in ["el1_irq", "__irq_svc"] {
        let info = || {
            let info = latency_trace(LatencyTracer::Irqsoff, 300_000, "swapper/5", 0, 0);
            named(info, "arch_cpu_idle", "arch_cpu_idle")
        };
        let handled =
            vec![event(0, 0, "d", function(entry)), event(300_000, 0, "dN", function("arch_cpu_idle"))];
        let (severity, section) = of(info(), handled);
        assert!(section.delays && severity == Severity::Warning, "{section:#?}");
        assert_eq!(section.context, CpuContext::Irq);
        let advice = section.fix.join("; ");
        assert!(!advice.contains("maintainers") && advice.contains("find the handler"), "{advice}");
    }
    // The idle task works in a softirq, or another thread has such a function in its stack.
    let softirq = |flags| {
        vec![
            event(0, 0, flags, function("_raw_spin_lock_irq")),
            event(10_000, 0, flags, function("run_timer_softirq")),
            event(9_000_000, 0, flags, function("_raw_spin_unlock_irq")),
        ]
    };
    let named = named(
        latency_trace(LatencyTracer::Irqsoff, 9_000_000, "swapper/5", 0, 0),
        "run_timer_softirq",
        "run_timer_softirq",
    );
    assert!(of(named, softirq("ds")).1.delays);
    let threads: Vec<Event> = asleep
        .into_iter()
        .map(|mut event| {
            event.context.tid = Tid(7);
            event
        })
        .collect();
    assert!(of(info(), threads).1.delays);
}

#[test]
fn a_spin_for_a_lock_ends_when_another_thread_is_to_run() {
    let info = || {
        let info = latency_trace(LatencyTracer::Preemptoff, 3_000_000, "git", 811, 0);
        named(info, "mutex_spin_on_owner", "mutex_spin_on_owner")
    };
    let spin = |flags| {
        vec![
            event(0, 811, ".", function("mutex_spin_on_owner")),
            event(1_500_000, 811, flags, function("mutex_spin_on_owner")),
            event(2_990_000, 811, flags, function("mutex_spin_on_owner")),
            event(3_000_000, 811, flags, function("__mutex_lock")),
            frame(3_010_000, 811, "__mutex_lock"),
        ]
    };
    let (severity, section) = of(info(), spin("."));
    assert!(!section.delays && severity == Severity::Info, "{section:#?}");
    assert!(section.why.contains("git:811 spun for a lock"), "{}", section.why);
    // It went on though another thread was to run.
    let (severity, section) =
        of(info(), (0..300).map(|i| event(i * 10_000, 811, "N", function("mutex_spin_on_owner"))).collect());
    assert!(section.delays && severity == Severity::Warning, "{section:#?}");
}

#[test]
fn of_an_excerpt_a_spin_shows_by_the_functions_at_its_ends() {
    let of = |ends: &str, flags: &str| {
        let info = latency_trace(LatencyTracer::Preemptoff, 37_000_000, "kworker/1:1H", 117, 0);
        let mut info = named(info, ends, ends);
        info.latency.as_mut().expect("of a tracer").entries = Some(1_084);
        let mut lines = vec![
            event(0, 117, ".", function(ends)),
            event(5_000, 117, flags, function("osq_lock")),
            event(9_000, 117, flags, function("mutex_spin_on_owner")),
            event(426_000, 117, "d", function("el1_irq")),
            event(427_000, 117, if flags == "N" { "dNh" } else { "dh" }, function("handle_domain_irq")),
            event(37_000_000, 117, ".", function(ends)),
        ];
        let flagged = if flags == "N" { "." } else { flags };
        for line in &mut lines[1..3] {
            *line = event(line.ts.0, 117, flagged, line.kind);
        }
        self::of(info, lines).1
    };
    let spun = of("__mutex_lock.isra.10", ".");
    assert!(!spun.delays && spun.why.contains("none of the 6 lines here, of 1084"), "{}", spun.why);
    // A thread was to run, and it went on for long all the same.
    assert!(of("__mutex_lock.isra.10", "N").delays);
    // It spins in an interrupt, or has preemption disabled for something else.
    assert!(of("__mutex_lock.isra.10", "h").delays);
    assert!(of("drain_all", ".").delays);
}

#[test]
fn of_an_excerpt_a_sleep_of_the_idle_task_shows_by_the_functions_at_its_ends() {
    let of = |task: i32, ends: [&str; 2], flags: &'static str| {
        let info = latency_trace(LatencyTracer::Irqsoff, 1_703_000, "swapper/3", task, 0);
        let mut info = named(info, ends[0], ends[1]);
        info.latency.as_mut().expect("of a tracer").entries = Some(184);
        let lines = ["psci_enter_sleep", "_raw_spin_lock", "preempt_count_add"];
        let lines =
            lines.iter().zip(0..).map(|(name, at)| event(3_000 + at * 3_000, task, flags, function(name)));
        self::of(info, lines.collect()).1
    };
    let idles = ["lpm_cpuidle_enter", "cpuidle_enter_state"];
    assert!(!of(0, idles, "d").delays);
    assert!(of(0, ["lpm_cpuidle_enter", "handle_irq_event"], "d").delays);
    assert!(of(9, idles, "d").delays);
    // A thread is to run from the first line on: the way out of the idle state is what it waits for.
    let awaited = of(0, idles, "dN");
    assert!(awaited.delays);
    assert!(awaited.fix[0].contains("deep idle states"), "{:?}", awaited.fix);
    assert!(!awaited.fix.iter().any(|fix| fix.contains("PREEMPT_RT")), "{:?}", awaited.fix);
}

#[test]
fn softirqs_disabled_by_a_thread_are_no_interrupt() {
    let section = |release: &str, comm: &str, opener: &str, flags: &str| {
        let mut info = named(latency_trace(LatencyTracer::Preemptoff, 900_000, comm, 9, 0), opener, "x");
        info.kernel_release = Some(release.to_owned());
        let events = vec![
            event(0, 9, flags, function(opener)),
            event(100_000, 9, flags, function("driver_submit")),
            event(900_000, 9, flags, function("x")),
        ];
        of(info, events).1
    };
    for (release, comm, opener, flags, expected) in [
        // Before 4.7 the flag means disabled softirqs as well.
        ("3.14.19", "init", "ip_finish_output", "s", CpuContext::Thread),
        ("3.14.19", "init", "__do_softirq", "s", CpuContext::Softirq),
        ("3.14.19", "init", "do_IRQ", "h", CpuContext::Irq),
        ("6.1.0", "init", "net_rx_action", "s", CpuContext::Softirq),
        ("6.1.0", "init", "ip_finish_output", ".", CpuContext::Thread),
        ("6.1.0", "ksoftirqd/5", "handle_softirqs", "s", CpuContext::Thread),
        ("6.1.0-rt5", "ktimers/5", "__do_softirq", "s", CpuContext::Thread),
        ("6.1.0", "ksoftirqd/5", "common_interrupt", "h", CpuContext::Irq),
        ("6.1.0", "ksoftirqd/5", "sysvec_apic_timer_interrupt", "h", CpuContext::Irq),
    ] {
        let section = section(release, comm, opener, flags);
        assert_eq!(section.context, expected, "{release} {comm} {opener}");
        let is_of_thread = section.why.contains(&format!("by {comm}:9"));
        assert_eq!(is_of_thread, expected == CpuContext::Thread, "{}", section.why);
        // No setting sends the CPU's own timer elsewhere.
        let is_own_timer = opener == "sysvec_apic_timer_interrupt";
        let fix = section.fix.join(" ");
        assert_eq!(fix.contains("smp_affinity"), expected != CpuContext::Thread && !is_own_timer, "{fix}");
        assert_eq!(fix.contains("cannot be moved"), is_own_timer, "{fix}");
    }
}

#[test]
fn an_excerpt_with_functions_names_them_and_asks_for_none() {
    let mut info = named(
        latency_trace(LatencyTracer::Irqsoff, 5_000_000, "dd", 812, 0),
        "take_pages",
        "_raw_spin_unlock_irqrestore",
    );
    info.latency.as_mut().expect("of a tracer").entries = Some(900);
    let names = ["take_pages", "find_block", "find_block", "claim_block", "find_block"];
    let events = (0..).zip(names).map(|(i, name)| event(i * 2_000, 812, "d", function(name))).collect();
    let (explained, section) = section_of(info, events);
    assert!(section.why.contains("5 of the 900 lines"), "{}", section.why);
    assert!(section.why.contains("find_block (3)"), "{}", section.why);
    assert!(!section.fix.join(" ").contains("function-trace"), "{:?}", section.fix);
    assert!(explained.0.missing.is_empty(), "{:?}", explained.0.missing);
}

#[test]
fn without_its_header_a_section_is_as_long_as_its_lines() {
    let info = latency_trace(LatencyTracer::Irqsoff, 0, "dd", 812, 0);
    let events = vec![
        event(5_000, 812, "d", function("a")),
        event(65_000, 812, "d", function("b")),
        frame(900_000, 812, "c"),
    ];
    assert_eq!(section_of(info, events).1.latency.0, 60_000);
}

#[test]
fn of_the_end_of_a_section_alone_the_beginning_is_not_known() {
    let mut info = latency_trace(LatencyTracer::Irqsoff, 1_533_000, "sh", 65, 0);
    info.latency.as_mut().expect("of a tracer").ended_at = Some("uart_write".to_owned());
    let lines = vec![
        event(1_491_000, 65, "d", function("rpm_suspend")),
        event(1_529_000, 65, "d", function("_raw_spin_unlock_irqrestore")),
        event(1_533_000, 65, "d", function("tracer_hardirqs_on")),
    ];
    let section = of(info, lines).1;
    assert_eq!((section.opened_by.as_deref(), section.closed_by.as_deref()), (None, Some("uart_write")));
    assert!(section.unexplained >= Ns(1_491_000) && section.why.contains(", to uart_write"), "{section:#?}");
    assert!(!section.fix.join(" ").contains("rpm_suspend"), "{:?}", section.fix);
}
