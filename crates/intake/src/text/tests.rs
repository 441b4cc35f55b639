//! Each line shape, in a table, and the shapes of whole files.

use super::*;
use proptest::prelude::*;
use whylate_base::{Comm, Cpu, Ns, Policy, Priority, Tid};
use whylate_events::EventKind::{self, *};
use whylate_events::{
    ContentionFlags, Context, ContextFlags, Fact, HrtimerExpiry, Kind, KindSet, Quality, Syscall,
    SyscallReturn, TaskState, Wake, drain,
};

mod current;
mod hardware;
mod lttng;
mod old;
mod priorities;
mod shortened;
mod spellings;
mod statistics;
mod streams;
mod switch_heads;
mod timehist;
mod tracers;
mod two_recordings;

fn read(text: &[u8], wanted: KindSet) -> Result<TextSource<io::Empty>, TextError> {
    open(text.to_vec(), io::empty(), wanted)
}

fn all(text: &str) -> (Vec<Event>, TraceInfo) {
    let mut source =
        read(text.as_bytes(), KindSet::ALL).unwrap_or_else(|error| panic!("{error:?} in {text}"));
    let events = drain(&mut source).collect();
    (events, source.info().clone())
}

fn one(line: &str) -> Event {
    let (events, info) = all(line);
    assert_eq!(info.damage, [], "{line}");
    assert_eq!(events.len(), 1, "{line}");
    events[0]
}

#[test]
fn heads_in_every_layout() {
    let unknown = (ContextFlags::IRQS_UNKNOWN, None);
    let (irqs, resched) = (ContextFlags::IRQS_OFF, ContextFlags::NEED_RESCHED);
    let (hard, soft) = (ContextFlags::HARDIRQ, ContextFlags::SOFTIRQ);
    let (lazy, bh_off) = (ContextFlags::NEED_RESCHED_LAZY, ContextFlags::SOFTIRQS_OFF);
    for (head, comm, tid, cpu, state, ns) in [
        ("ls-4734 [002] 106439.675571", "ls", 4734, 2, unknown, 106_439_675_571_000),
        ("(4)       ls-4734 [002] 106439.675571", "ls", 4734, 2, unknown, 106_439_675_571_000),
        ("12) ls-4734 [002] 106439.675571", "ls", 4734, 2, unknown, 106_439_675_571_000),
        ("(sd-pam)-4734 [002] 106439.675571", "(sd-pam)", 4734, 2, unknown, 106_439_675_571_000),
        ("  ls-4734  [002] 106439.675570920", "ls", 4734, 2, unknown, 106_439_675_570_920),
        ("          <idle>-0     [000] d..2.  1.000001", "<idle>", 0, 0, (irqs, Some(2)), 1_000_001_000),
        ("<...>-1297 [011] .... 3843.7", "<...>", 1297, 11, (ContextFlags(0), Some(0)), 3_843_700_000_000),
        ("bash-12 (-------) [001] .Ns1. 1.5", "bash", 12, 1, (resched | soft, Some(1)), 1_500_000_000),
        ("bash-12 (     12) [001] d.Hb 1.5", "bash", 12, 1, (irqs | hard | soft, Some(11)), 1_500_000_000),
        (
            "opt 8rnbqw-20077   [001] Dnh2. 1.5",
            "opt 8rnbqw",
            20077,
            1,
            (irqs | bh_off | resched | hard, Some(2)),
            1_500_000_000,
        ),
        (
            "kworker/5:2-1497 [005] X... 1.5",
            "kworker/5:2",
            1497,
            5,
            (ContextFlags::IRQS_UNKNOWN, Some(0)),
            1_500_000_000,
        ),
        ("a-b [1] 2: c-7 [003] 4.5", "a-b [1] 2: c", 7, 3, unknown, 4_500_000_000),
        ("threads:             rtload-7 [003] 4.5", "rtload", 7, 3, unknown, 4_500_000_000),
        ("threads: a name of 15 ch-7 [003] 4.5", "a name of 15 ch", 7, 3, unknown, 4_500_000_000),
        ("tick: tock-7 [003] 4.5", "tick: tock", 7, 3, unknown, 4_500_000_000),
        (
            "stress-n-12898     1dN.h4..    1us ",
            "stress-n",
            12898,
            1,
            (irqs | resched | hard, Some(4)),
            1_000,
        ),
        ("multipat-1456      1d...3..   57us+", "multipat", 1456, 1, (irqs, Some(3)), 57_000),
        (
            "  <idle>-0        12d.h1. 1310796038us!",
            "<idle>",
            0,
            12,
            (irqs | hard, Some(1)),
            1_310_796_038_000,
        ),
        (
            "trace-cm-107     0dNh1.     6.335499",
            "trace-cm",
            107,
            0,
            (irqs | resched | hard, Some(1)),
            6_335_499_000,
        ),
        ("x-1 [000] *.~. 1.5", "x", 1, 0, (irqs, Some(0)), 1_500_000_000),
        ("x-1 [000] d..1.. 1.5", "x", 1, 0, (irqs, Some(1)), 1_500_000_000),
        ("x-1 [000] dNLh1. 1.5", "x", 1, 0, (irqs | resched | lazy | hard, Some(1)), 1_500_000_000),
        ("x-1 [000] dLs1. 1.5", "x", 1, 0, (irqs | lazy | soft, Some(1)), 1_500_000_000),
        (
            "x-1 [000] DLz.. 1.5",
            "x",
            1,
            0,
            (irqs | bh_off | lazy | ContextFlags::NMI, Some(0)),
            1_500_000_000,
        ),
        (
            "x-1 [000] bbZ1. 1.5",
            "x",
            1,
            0,
            (bh_off | resched | lazy | hard | ContextFlags::NMI, Some(1)),
            1_500_000_000,
        ),
        (
            "x-1 [000] dpH1. 1.5",
            "x",
            1,
            0,
            (irqs | ContextFlags::PREEMPT_RESCHED | hard | soft, Some(1)),
            1_500_000_000,
        ),
        ("x-1 [000] d..1. 123456789", "x", 1, 0, (irqs, Some(1)), 123_456_789),
    ] {
        let line = format!("{head}: some_event: a=1");
        let (found, body) = line::split(&line).unwrap_or_else(|| panic!("{line}"));
        let context = Context { tid: Tid(tid), flags: state.0, preempt_depth: state.1 };
        let buffer = if head.starts_with("threads:") { "threads" } else { "" };
        assert_eq!(
            found,
            line::Head { comm, context, cpu: Cpu(cpu), ts: Ns(ns), by_perf: false, buffer },
            "{line}"
        );
        assert_eq!(body, "some_event: a=1");
    }
}

#[test]
fn prose_is_no_head() {
    for line in [
        "",
        ":",
        "At 12.5: the well-known 3 [001] CPU",
        "version = 6",
        "a-1 [001] 1.5",
        "a-1 [001] 1.5:x",
        "a-1 [9999] 1.5: x: y",
        "a-1 [-1] 1.5: x: y",
        "a-x [001] 1.5: x: y",
        "a-1 [001] 1.1234567890: x: y",
        "a-1 [001] 99999999999999999999.5: x: y",
        "a-1 [001] what 1.5: x: y",
        "a-1 1q... 5us : x: y",
        "a-99999999999 [001] 1.5: x: y",
    ] {
        assert_eq!(line::split(line), None, "{line}");
    }
}

#[test]
fn quoting_is_taken_off_and_prose_is_counted() {
    let text = "Here is what I saw:\n\n> > a-1 [000] 1.5: one: x\n>>> then it switched\n>a-1 [000] 2.5: two: x\r\n...\n";
    let (events, info) = all(text);
    assert_eq!(events.iter().map(|event| event.ts.0).collect::<Vec<_>>(), [1_500_000_000, 2_500_000_000]);
    assert_eq!(info.damage.len(), 1);
    assert_eq!(info.damage[0].offset, Some(1));
    assert!(
        info.damage[0].what.starts_with("skipped lines that are no trace lines: 3, the first is line 1: "),
        "{:?}",
        info.damage
    );
    assert!(info.damage[0].what.ends_with("`Here is what I saw:`"), "{:?}", info.damage);
}

/// The same events with what a page, a terminal, a logger or an editor put around them.
#[test]
fn what_others_put_around_lines_changes_no_event() {
    let text = include_str!("../../tests/fixtures/throttled_excerpt.txt");
    let (events, plain) = all(text);
    assert!(events.len() > 20 && plain.quality() == Quality::Whole, "{plain:?}");
    type Dress = fn(usize, &str) -> String;
    let dressings: [(&str, Dress); 7] = [
        ("a page", |_, line| format!("{line}<br>")),
        ("a terminal", |_, line| format!("\x1b[32m{line}\x1b[0m\r")),
        ("a logger", |_, line| format!("Nov 22 10:11:12 box logger[12]: {line}")),
        ("a container", |_, line| format!("2026-11-22T10:11:12.123456789Z {line}")),
        ("grep -n", |number, line| format!("{number}:{line}")),
        ("cat -n", |number, line| format!("{number:6}\t{line}")),
        (
            "a crash",
            |number, line| if number == 9 { format!("{}{line}", "\0".repeat(5000)) } else { line.to_owned() },
        ),
    ];
    for (by, dress) in dressings {
        let dressed: Vec<String> = text.lines().enumerate().map(|(at, line)| dress(at + 1, line)).collect();
        let (same, info) = all(&dressed.join("\n"));
        assert!(same == events, "{by}: {} events of {}", same.len(), events.len());
        assert_eq!(info.quality(), Quality::Whole, "{by}: {:?}", info.damage);
    }
    let (same, info) = all(&format!("Hello, this is what I see at load 2.5:\n\n```\n{text}\n```\nWhy?\n"));
    assert!(same == events && info.quality() == Quality::Whole, "{:?}", info.damage);
    // A line that lost its beginning may be an event.
    let (_, info) = all(&text.replacen("sched_switch: prev_comm", "prev_comm", 1).replacen(" [0", " (0", 1));
    assert_eq!(info.quality(), Quality::Damaged, "{:?}", info.damage);
}

#[test]
fn damage_shows_no_control_characters() {
    let (_, info) = all("\x07[2Jboo\na-1 [000] 1.5: one: x\n\0\0\0");
    assert_eq!(info.damage.len(), 1);
    assert!(info.damage[0].what.ends_with("1, the first is line 1: ` [2Jboo`"), "{:?}", info.damage);
}

#[test]
fn text_that_goes_on_in_the_next_line_is_no_damage() {
    let text = "cpus=6\nversion = 6\nCPU 3 is empty\n##### CPU 2 buffer started ####\n\
         a-1 [000] 1.5: bprint: f: cpu=0\n gid=4\n\
         a-1 [000] 2.5: kernel_stack: <stack trace >\n=> schedule (ffffffff)\n => do_nanosleep";
    let (events, info) = all(text);
    let frames: Vec<_> = events.iter().map(|event| event.kind).collect();
    // A page put a blank into the title.
    let damaged = all(&text.replace("<stack trace >", "< stack trace>")).0;
    assert_eq!(damaged.iter().map(|event| event.kind).collect::<Vec<_>>(), frames);
    assert_eq!(
        frames,
        [Other, StackFrame { name: "schedule".into() }, StackFrame { name: "do_nanosleep".into() }]
    );
    assert_eq!(info.events, 2);
    assert_eq!(info.damage, []);
    assert_eq!(info.cpus, 6);
    assert_eq!(info.format, "trace-cmd report text");
}

/// A loss of one buffer began at its own last event, although another buffer has later ones.
#[test]
fn a_loss_begins_at_the_last_event_of_its_buffer() {
    let (events, _) = all("\
         threads:          a-1 [000] 1.0: sys_exit: NR 0 = 0\n\
         \u{20}                 a-1 [000] 2.0: sched_switch: a:1 [120] S ==> swapper/0:0 [120]\n\
         threads:          b-2 [001] 3.0: sys_exit: NR 0 = 0\n\
         threads: CPU:0 [7 EVENTS DROPPED]\n\
         threads:          a-1 [000] 4.0: sys_exit: NR 0 = 0\n\
         CPU:0 [EVENTS DROPPED]\n\
         \u{20}                 a-1 [000] 5.0: x: y\n");
    let losses: Vec<_> =
        events.iter().map(|event| event.kind).filter(|kind| matches!(kind, Lost { .. })).collect();
    let of_calls = KindSet::of(&[Kind::Syscall]);
    let of_switches = KindSet::of(&[Kind::Switch]);
    assert_eq!(
        losses,
        [
            Lost { count: Some(7), since: Some(Ns(1_000_000_000)), kinds: of_calls },
            Lost { count: None, since: Some(Ns(2_000_000_000)), kinds: of_switches },
        ]
    );
}

#[test]
fn losses_stand_before_their_cpus_next_event() {
    let (events, info) =
        all("a-1 [000] 1.0: x: y\nCPU:1 [LOST 123 EVENTS]\nb-2 [000] 2.0: x: y\nc-3 [001] 3.0: x: y\n\
         threads: CPU:0 [EVENTS DROPPED]\nCPU:2 [7 EVENTS DROPPED]\nd-4 [000] 4.0: x: y\n");
    let losses: Vec<_> = events
        .iter()
        .enumerate()
        .filter(|(_, event)| matches!(event.kind, Lost { .. }))
        .map(|(at, event)| (at, event.ts.0 / 1_000_000_000, event.cpu.0, event.kind))
        .collect();
    assert_eq!(
        losses,
        [
            (2, 3, 1, Lost { count: Some(123), since: None, kinds: KindSet::NONE }),
            (4, 4, 0, Lost { count: None, since: None, kinds: KindSet::NONE }),
            (6, 4, 2, Lost { count: Some(7), since: None, kinds: KindSet::NONE })
        ]
    );
    assert_eq!(info.lost_events, 130);
    assert_eq!(info.events, 4);
    assert_eq!(info.damage, []);
    for no_loss in [
        "CPU:1 [LOST EVENTS",
        "CPU:x [LOST EVENTS]",
        "CPU:1 [LOST 5]",
        "CPU:1",
        "CPU:1 [some EVENTS LOST]",
        "see a: CPU:1 [LOST EVENTS]",
    ] {
        assert!(header::loss(no_loss).is_none(), "{no_loss}");
    }
}

#[test]
fn only_wanted_kinds_come_out_and_all_are_counted() {
    let text =
        b"a-1 [000] 1.0: softirq_raise: vec=1\na-1 [000] 2.0: irq_handler_exit: irq=1\na-1 [000] 3.0: x: y";
    let mut source = read(text, KindSet::of(&[Kind::Irq])).expect("events");
    assert_eq!(source.next_event().map(|event| event.kind), Some(IrqExit { irq: 1 }));
    assert_eq!(source.next_event(), None);
    assert_eq!(source.info().events, 3);
}

#[test]
fn a_latency_header_tells_kernel_and_victim() {
    let header = "# wakeup_rt latency trace v1.1.5 on 5.4.140-rt64\n\
        # latency: 400 us, #345/345, CPU#1 | (M:preempt_rt VP:0, KP:0, SP:0 HP:0 #P:4)\n\
        #    | task: cyclic-test-12905 (uid:0 nice:0 policy:1 rt_prio:80)\n";
    let line = "a-7  1dN.h4..    1us : f <-g\n";
    let (events, info) = all(&format!("{header}{line}"));
    assert_eq!(info.format, "wakeup_rt latency trace v1.1.5");
    assert_eq!(info.kernel_release.as_deref(), Some("5.4.140-rt64"));
    assert_eq!(info.cpus, 4);
    let facts: Vec<_> = events
        .iter()
        .filter_map(|event| match event.kind {
            Marker(text) => Fact::parse(text.as_str()),
            _ => None,
        })
        .collect();
    let policy =
        Fact::Policy { tid: Tid(12905), policy: Policy::Fifo, priority: 80, comm: "cyclic-test".into() };
    assert_eq!(facts, [Fact::PreemptRt(true), policy]);
    assert!(events.iter().all(|event| event.context.tid == Tid(7) && event.ts == Ns(1_000)));

    for (task, facts) in [
        ("a-1 (uid:0 nice:0 policy:0 rt_prio:0)", 0),
        ("-0 (uid:0 nice:0 policy:0 rt_prio:0)", 0),
        ("a-1 (uid:0 nice:0 policy:2 rt_prio:99)", 1),
        ("a-1 (uid:0 nice:0 policy:4 rt_prio:99)", 0),
        ("a-1", 0),
    ] {
        let (events, _) = all(&format!("#    | task: {task}\n{line}"));
        assert_eq!(events.len(), facts + 1, "{task}");
    }
}

#[test]
fn the_model_of_a_latency_header_tells_a_preempt_rt_kernel() {
    for (model, release, is_rt) in [
        ("preempt_rt", "6.1.0", true),
        ("PREEMPT_{RT,(full)}", "6.18.1", true),
        ("PREEMPT(lazy)", "6.18.1", false),
        // A kernel of the patches, configured without.
        ("preempt", "6.6.7-rt18-00175-gd8aaa9fda659", false),
        ("preempt", "3.18.11-rt7", true),
        ("preempt", "6.13.0-rt5", true),
        ("preempt", "6.6.7", false),
    ] {
        let text = format!(
            "# irqsoff latency trace v1.1.5 on {release}\n\
             # latency: 400 us, #1/1, CPU#0 | (M:{model} VP:0, KP:0, SP:0 HP:0 #P:4)\na-7  0d.h4..    1us : f <-g\n"
        );
        let (events, _) = all(&text);
        let fact = |event: &Event| match event.kind {
            Marker(text) => Fact::parse(text.as_str()),
            _ => None,
        };
        assert_eq!(events.iter().find_map(fact), Some(Fact::PreemptRt(is_rt)), "{model} {release}");
    }
}

#[test]
fn a_probe_with_the_name_of_an_event_is_neither_it_nor_damage() {
    let (events, info) =
        all("a-1 [000] 2.0: sched_switch: (__probestub_sched_switch+0x4/0x10) preempt=0 prev=0xff\n");
    assert_eq!((events.len(), events[0].kind, info.damage), (1, Other, vec![]));
}

#[test]
fn a_leaf_returns_before_the_next_line_of_its_thread() {
    let text = "a-1 [000] 7.000384: funcgraph_entry:      ! 100.088 us |  read();\n\
                a-1 [000] 7.000484: funcgraph_entry:        1.958 us   |  read();\n";
    let (events, _) = all(text);
    let is_return = |event: &Event| matches!(event.kind, FunctionExit { .. });
    assert_eq!(events.iter().map(is_return).collect::<Vec<_>>(), [false, true, false, true]);
    assert_eq!(events[1].ts, Ns::from_us(7_000_484));
}

#[test]
fn time_that_runs_backwards_is_sorted_and_noted() {
    let (events, info) = all("a-1 [000] 2.0: x: y\na-1 [000] 1.0: x: y\n");
    assert!(events[0].ts < events[1].ts);
    assert_eq!(info.damage.len(), 1);
    assert_eq!(info.span, Some((Ns(1_000_000_000), Ns(2_000_000_000))));
}

#[test]
fn parts_that_an_author_put_into_another_order_lack_nothing() {
    let row = |us: u32| format!("a-1 [000] 2.{us:06}: x: y\n");
    let text = |between: &str| format!("{}{}{between}{}{}", row(50), row(60), row(10), row(20));
    for (between, quality) in [("\nbefore that:\n", Quality::Whole), ("", Quality::Damaged)] {
        let (events, info) = all(&text(between));
        assert!(events.is_sorted_by_key(|event| event.ts));
        let damages: Vec<_> = info.damage.iter().map(|damage| damage.what.as_str()).collect();
        assert_eq!(info.quality(), quality, "{damages:?}");
        assert!(damages.iter().any(|what| what.ends_with("the events were sorted")), "{damages:?}");
    }
}

#[test]
fn text_without_an_event_is_refused() {
    for (text, expected, utf8) in [
        (&b""[..], 0, true),
        (b"hello\n# tracer: nop\n", 2, true),
        (b"CPU:1 [LOST EVENTS]", 1, true),
        (b"\xff\xfe\n", 1, false),
    ] {
        match read(text, KindSet::ALL).err() {
            Some(TextError::NoEvents { lines, is_utf8, .. }) => {
                assert_eq!((lines, is_utf8), (expected, utf8), "{text:?}")
            }
            other => panic!("{other:?} for {text:?}"),
        }
    }
}

const FIXTURES: [&str; 3] = [
    include_str!("../../tests/fixtures/throttled_excerpt.txt"),
    include_str!("../../tests/fixtures/wakeup_rt_excerpt.txt"),
    include_str!("../../tests/fixtures/tracefs_naps.txt"),
];

proptest! {
    #[test]
    fn arbitrary_text_never_panics(text in "(?s).{0,400}", shape in "[0-9a-f:=> \\[\\]().+*<-]{0,120}") {
        let _ = read(text.as_bytes(), KindSet::ALL);
        let _ = read(shape.as_bytes(), KindSet::ALL);
        for name in ["sched_switch", "sched_wakeup", "sys_enter", "contention_begin", "hrtimer_start", "nmi_handler"] {
            let line = format!("a-1 [000] 1.5: {name}: {shape}\na-1 0d..1 5us : {shape}");
            prop_assert!(read(line.as_bytes(), KindSet::ALL).is_ok());
        }
    }

    #[test]
    fn mutated_traces_never_panic(
        fixture in prop::sample::select(&FIXTURES[..]),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0usize..9), 0..40),
    ) {
        let mut bytes = fixture.as_bytes().to_vec();
        for (at, byte, cut) in changes {
            let at = at.index(bytes.len());
            if cut == 0 {
                bytes.insert(at, byte);
            } else {
                let end = (at + cut).min(bytes.len());
                bytes.splice(at..end, [byte]);
            }
        }
        if let Ok(source) = read(&bytes, KindSet::ALL) {
            prop_assert!(source.info().cpus <= 8192);
        }
    }
}
