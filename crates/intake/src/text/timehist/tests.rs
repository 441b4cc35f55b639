//! Each form of a row, and the events of rows: those that they were printed of.

use super::*;
use proptest::prelude::*;
use whylate_events::{ContextFlags, Event, EventKind, Switch};

fn who(tid: i32, comm: &str) -> Who {
    Who { tid: Tid(tid), comm: Comm::from(comm) }
}

fn ran(of: Who, wait: i64, delay: i64, run: i64) -> Ran {
    let us = Ns::from_us;
    Ran {
        who: of,
        wait: us(wait),
        delay: us(delay),
        run: us(run),
        elsewhere: None,
        state: None,
        priority: None,
        next: None,
    }
}

/// Rows that perf 6.1 printed, and others after timehist_print_sample of 6.13.
#[test]
fn rows_by_every_option() {
    let rustc = who(5498, "rustc");
    let plain = ran(rustc, 2316, 0, 1003);
    let [runs, sleeps] = [TaskState::Runnable, TaskState::Interruptible].map(Some);
    let fifo = (Priority(39), Priority(39));
    for (line, cpu, what) in [
        ("   40504.092307 [0000]  rustc[5498/5496]      2.316      0.000      1.003 ", 0, What::Ran(plain)),
        ("40504.092307 [0000] rustc[5498/5496] 2.316 0.000 1.003", 0, What::Ran(plain)),
        (
            "   40504.092307 [0001]   s   rustc[5498/5496]   2.316      0.000      1.003      R  next: rcu_preempt[15]         ",
            1,
            What::Ran(Ran { state: runs, next: Some(who(15, "rcu_preempt")), ..plain }),
        ),
        (
            "   40504.092307 [0000]  rustc[5498]   39        2.316      0.000      1.003      0.711  schedule <- [unknown]",
            0,
            What::Ran(Ran { priority: Some(fifo), ..plain }),
        ),
        (
            "   40504.092307 [0000]  rustc[5498]   120->39   2.316      0.000      1.003      S ",
            0,
            What::Ran(Ran { priority: Some((Priority(120), Priority(39))), state: sleeps, ..plain }),
        ),
        (
            "   40504.092307 [0012]  i  <idle>     2.316      0.000      1.003      I  next: my [app] x[5498]",
            12,
            What::Ran(Ran {
                who: who(0, "swapper"),
                state: Some(TaskState::Idle),
                next: Some(who(5498, "my [app] x")),
                ..plain
            }),
        ),
        ("40504.092307 [0000]  m w/0: a[5498/5496] 2.316 0.000 1.003", 0, {
            What::Ran(Ran { who: who(5498, "m w/0: a"), ..plain })
        }),
        (
            "40504.092307 [0000]  :-1[-1/5365] 2.316 0.000 1.003",
            0,
            What::Ran(Ran { who: who(EXITED.0, ""), ..plain }),
        ),
        ("40504.092307 [0000]  :77[77] 2.316 0.000 1.003", 0, What::Ran(Ran { who: who(77, ""), ..plain })),
        (
            "   40504.092307 [0001]       perf[5486]                                     awakened: perf-exec[5500]",
            1,
            What::Wakes { by: who(5486, "perf"), woken: Some(who(5500, "perf-exec")) },
        ),
        (
            "   40504.092307 [0000]   m   migration/0[18]              migrated: perf[5486] cpu 0 => 1",
            0,
            What::Migrates { by: who(18, "migration/0"), moved: who(5486, "perf"), from: Cpu(0), to: Cpu(1) },
        ),
        ("40504.092307 [0000]  a b/C[77/5]    awakened: :68", 0, {
            What::Wakes { by: who(77, "a b/C"), woken: Some(who(68, "")) }
        }),
        ("40504.092307 [0000]  a[77]    awakened: kthread", 0, What::Wakes { by: who(77, "a"), woken: None }),
        // What is longer than 31 bytes perf cuts off.
        ("40504.092307 [0000]  control loop 1 [3045283/3045241     2.316      0.000      1.003", 0, {
            What::Ran(Ran { who: who(3_045_283, "control loop 1"), ..plain })
        }),
        (
            "40504.092307 [0000]  a longer name [1][3045283/30452   awakened: a longer name [1][3045284/30452",
            0,
            {
                let [by, woken] = [3_045_283, 3_045_284].map(|tid| who(tid, "a longer name [1]"));
                What::Wakes { by, woken: Some(woken) }
            },
        ),
        ("   40504.092307 lost 12 events on cpu 1", 1, What::Lost(12)),
    ] {
        let expected = Row { ts: Ns(40_504_092_307_000), cpu: Cpu(cpu), what };
        assert_eq!(parse(line), Some(expected), "{line}");
        assert!(matches!(what, What::Lost(_)) || begins(line), "{line}");
    }
}

#[test]
fn other_lines_are_no_rows() {
    for line in [
        "",
        "40504.092307",
        "40504.092307 [0000]",
        "40504.092307 [0000]  rustc[5498/5496]",
        "40504.092307 [0000]  rustc[5498/5496] 2.316 0.000",
        "40504.092307 [0000]  rustc 2.316 0.000 1.003",
        "40504.0923 [0000]  rustc[5498] 2.316 0.000 1.003",
        "40504.092307 [000]  rustc[5498] 2.316 0.000 1.003",
        "40504.092307 [0000]  rustc[5498] 2.316 0.000 1.0031",
        "           time    cpu  task name                       wait time  sch delay   run time",
        "   rcu_preempt[15]       2         22        0.214      0.007       0.009       0.013    3.12       0",
        "app-7     [001] 12.880093: sched_waking: comm=app pid=7 prio=49 target_cpu=003",
    ] {
        assert_eq!(parse(line), None, "{line}");
    }
}

fn events(text: &str) -> Vec<Event> {
    let mut slices = Slices::default();
    let mut events = Vec::new();
    for line in text.lines() {
        slices.row(parse(line).unwrap_or_else(|| panic!("{line}")));
        events.extend(std::iter::from_fn(|| slices.next(false)));
    }
    events.extend(std::iter::from_fn(|| slices.next(true)));
    events
}

/// When, and what of whom: the thread that has the CPU, and the one that gets it or is woken.
fn brief(events: &[Event]) -> Vec<(i64, &'static str, i32, i32)> {
    let of = |event: &Event| {
        let (what, other) = match event.kind {
            EventKind::Switch(Switch { prev_state: TaskState::Runnable, next_tid, .. }) => {
                ("runnable", next_tid)
            }
            EventKind::Switch(Switch { prev_state: TaskState::Interruptible, next_tid, .. }) => {
                ("asleep", next_tid)
            }
            EventKind::Switch(Switch { next_tid, .. }) => ("left", next_tid),
            EventKind::Waking(wake) => ("woken", wake.tid),
            EventKind::Lost { .. } => ("lost", Tid(-1)),
            _ => ("runs", event.context.tid),
        };
        (event.ts.0 / 1_000 % 1_000_000, what, event.context.tid.0, other.0)
    };
    events.iter().map(of).collect()
}

/// A thread sleeps, is woken while another one has the CPU, and waits for it.
#[test]
fn what_rows_state_happened_when_they_state_it() {
    let text = "\
9.000100 [0000]  app[7]      0.000      0.000      0.000
9.000300 [0000]  hog[8]      0.000      0.011      0.200
9.000400 [0000]  app[7]      0.200      0.150      0.100
9.000500 [0000]  hog[8]      0.100      0.000      0.100
9.000600 [0000]  <idle>      0.000      0.000      0.100";
    let events = events(text);
    assert_eq!(
        brief(&events),
        [
            (89, "woken", -1, 8),
            (100, "asleep", 7, 8),
            (150, "woken", 8, 7),
            (300, "runnable", 8, 7),
            (400, "left", 7, 8),
            (500, "left", 8, 0),
            (600, "runnable", 0, -1),
        ]
    );
    // By whom is not known: the thread on the CPU is a bystander.
    let bystander = |event: &Event| event.context.flags.contains(ContextFlags::BYSTANDER);
    assert_eq!(events.iter().filter(|event| bystander(event)).count(), 2);
}

/// Where the row has the waker, that is it; and what is printed of the state counts.
#[test]
fn a_row_of_a_wakeup_has_the_waker() {
    let text = "\
9.000100 [0000]  app[7]      0.000      0.000      0.000   D  next: hog[8]
9.000150 [0001]  irq/9[6]                                  awakened: app[7]
9.000160 [0001]  irq/9[6]                                  migrated: app[7] cpu 0 => 1
9.000300 [0001]  irq/9[6]    0.000      0.000      0.000   S  next: app[7]
9.000400 [0001]  app[7]      0.200      0.150      0.100   S  next: swapper/1[0]";
    let events = events(text);
    assert_eq!(
        brief(&events),
        [
            (100, "left", 7, 8),
            (150, "woken", 6, 7),
            (160, "runs", 6, 6),
            (300, "asleep", 6, 7),
            (400, "asleep", 7, 0),
        ]
    );
    assert_eq!(events[2].kind, EventKind::Migrate { tid: Tid(7), from: Cpu(0), to: Cpu(1) });
}

/// Of a thread that has no row before, the one that is as long ago as its delay is the wake-up.
#[test]
fn a_row_of_a_wakeup_before_the_first_row_of_its_thread_has_the_waker() {
    let text = |woken: &str| {
        format!(
            "{woken} [0001]  irq/9[6]                                  awakened: app[7]\n\
             9.000300 [0001]  irq/9[6]    0.000      0.000      0.000   S\n\
             9.000400 [0001]  app[7]      0.000      0.150      0.100   S"
        )
    };
    let woken = |text: &str| {
        let all = brief(&events(text));
        all.into_iter().filter(|event| event.1 == "woken").map(|event| (event.0, event.2)).collect::<Vec<_>>()
    };
    assert_eq!(woken(&text("9.000149")), [(149, 6)]);
    assert_eq!(woken(&text("9.000020")), [(20, 6), (150, -1)]);
}

/// Before a thread was moved it waited on a CPU that its row does not name, and not on the one that it ran on.
#[test]
fn what_was_before_a_move_was_on_another_cpu() {
    let text = "\
9.000100 [0000]  app[7]      0.000      0.000      0.000      0.000
9.000300 [0000]  hog[8]      0.000      0.011      0.200      0.000
9.000400 [0000]  app[7]      0.200      0.150      0.100      0.140";
    let of_app = |event: &Event| match event.kind {
        EventKind::Waking(wake) if wake.tid == Tid(7) => {
            Some((event.ts.0 / 1_000 % 1_000_000, wake.target_cpu))
        }
        EventKind::Wakeup { wake, .. } if wake.tid == Tid(7) => {
            Some((event.ts.0 / 1_000 % 1_000_000, wake.target_cpu))
        }
        EventKind::Migrate { tid: Tid(7), to, .. } => Some((event.ts.0 / 1_000 % 1_000_000, to)),
        _ => None,
    };
    let events = events(text);
    let places: Vec<_> = events.iter().filter_map(of_app).collect();
    assert_eq!(places, [(150, Cpu(0)), (150, Cpu::UNKNOWN), (290, Cpu(0))]);
    let on_cpu =
        |event: &Event| matches!(event.kind, EventKind::Wakeup { wake, .. } if wake.target_cpu == Cpu(0));
    assert_eq!(events.iter().filter(|event| on_cpu(event)).count(), 1, "of 8, which was not moved");
}

/// Of newer perf the delay of a thread that was preempted is its whole wait.
#[test]
fn a_thread_that_waits_all_the_time_did_not_sleep() {
    let text = "\
9.000100 [0000]  app[7]      0.000      0.000      0.000
9.000300 [0000]  hog[8]      0.000      0.000      0.200
9.000400 [0000]  app[7]      0.200      0.199      0.100";
    assert_eq!(brief(&events(text)), [(100, "runnable", 7, 8), (300, "left", 8, 7), (400, "left", 7, -1)]);
}

/// No row has a delay in these: no thread was woken, or wake-ups were not recorded.
#[test]
fn a_wait_without_a_delay_is_no_sleep_unless_a_thread_gets_an_idle_cpu_so() {
    let text = "\
9.000100 [0000]  app[7]      0.000      0.000      0.000
9.000300 [0000]  hog[8]      0.000      0.000      0.200
9.000400 [0000]  app[7]      0.200      0.000      0.100
9.000600 [0000]  hog[8]      0.100      0.000      0.200";
    let runnable = |text: &str| {
        let runnable = brief(&events(text)).into_iter().filter(|event| event.1 == "runnable");
        runnable.map(|(at, _, tid, _)| (at, tid)).collect::<Vec<_>>()
    };
    assert_eq!(runnable(text), [(100, 7), (300, 8)]);
    let after_idle = "\n9.000900 [0000]  app[7]      0.300      0.000      0.200";
    assert_eq!(runnable(&format!("{text}{after_idle}")), []);
    let shows_idle = "\n9.000700 [0000]  <idle>      0.000      0.000      0.100";
    let after_idle = "\n9.000900 [0000]  app[7]      0.300      0.000      0.200";
    assert_eq!(runnable(&format!("{text}{shows_idle}{after_idle}")), [(700, 0)]);
}

/// The same of a thread that left before the first row, unless its CPU is known to have run another one then.
#[test]
fn a_thread_that_waits_since_before_the_first_row_did_not_sleep() {
    let text = "\
9.000300 [0000]  hog[8]      0.000      0.000      0.200
9.000400 [0000]  app[7]      0.250      0.250      0.100
9.000500 [0001]  two[9]      0.300      0.300      0.100
9.000600 [0000]  six[6]      0.300      0.300      0.200";
    let left = brief(&events(text)).into_iter().filter(|event| event.1 == "runnable");
    let left: Vec<_> = left.map(|(at, _, tid, next)| (at, tid, next)).collect();
    assert_eq!(left, [(50, 7, -1), (100, 9, -1)], "not that of 6, which waited behind 8 and 7 elsewhere");
}

/// Rows of a CPU that do not meet: what it ran between is not known.
#[test]
fn rows_that_are_missing_are_a_loss() {
    let text = "\
9.000100 [0000]  app[7]      0.000      0.000      0.000
9.000900 [0000]  app[7]      0.600      0.050      0.200
9.001500 [0000]  app[7]      0.500      0.000      0.100   next: hog[8]
9.002000 [0000]  app[7]      0.400      0.000      0.100";
    assert_eq!(
        brief(&events(text)),
        [
            (100, "asleep", 7, -1),
            (100, "lost", -1, -1),
            (650, "woken", -1, 7),
            (700, "runs", 7, 7),
            (900, "runnable", 7, -1),
            (900, "lost", -1, -1),
            (1400, "runs", 7, 7),
            (1500, "runnable", 7, 8),
            (1900, "lost", 8, -1),
            (1900, "runs", 7, 7),
            (2000, "left", 7, -1),
        ]
    );
}

/// A thread of a schedule on one CPU.
#[derive(Clone, Debug)]
struct Slice {
    tid: i32,
    run: i64,
    /// Of its sleep before the slice, so many percent; 0: it was preempted.
    asleep: i64,
}

proptest! {
    /// Whatever ran: rows that perf would print of it give its switches and wake-ups again.
    #[test]
    fn a_schedule_survives_its_rows(
        schedule in prop::collection::vec(
            (1i32..6, 20i64..5_000, prop_oneof![Just(0i64), 10i64..90])
                .prop_map(|(tid, run, asleep)| Slice { tid, run, asleep }),
            2..60,
        ),
        is_newer in any::<bool>(),
    ) {
        let mut schedule = schedule;
        schedule.dedup_by_key(|slice| slice.tid);
        let mut now = 5_000_000;
        let mut left = std::collections::HashMap::new();
        let (mut text, mut switches, mut wakes) = (String::new(), Vec::new(), Vec::new());
        for (number, slice) in schedule.iter().enumerate() {
            let end = now + slice.run;
            let wait = left.get(&slice.tid).map_or(0, |left| now - left);
            let delay = match slice.asleep {
                0 if is_newer => wait,
                0 => 0,
                asleep => wait - wait * asleep / 100,
            };
            let is_long = wait >= 20;
            if slice.asleep > 0 && is_long && delay > 3 && delay + 3 < wait {
                wakes.push((now - delay, slice.tid));
            }
            let run = if number == 0 { 0 } else { slice.run };
            let ms = |us: i64| format!("{}.{:03}", us / 1_000, us % 1_000);
            text += &format!(
                "{}.{:06} [0000]  t[{}]  {} {} {}\n",
                end / 1_000_000, end % 1_000_000, slice.tid, ms(wait), ms(delay), ms(run)
            );
            switches.push((end, slice.tid));
            left.insert(slice.tid, end);
            now = end;
        }
        let events = events(&text);
        let us = |event: &Event| event.ts.0 / 1_000;
        let seen: Vec<(i64, i32)> = events
            .iter()
            .filter(|event| matches!(event.kind, EventKind::Switch(_)))
            .map(|event| (us(event), event.context.tid.0))
            .collect();
        prop_assert_eq!(seen, switches);
        let seen: Vec<(i64, i32)> = events
            .iter()
            .filter_map(|event| match event.kind {
                EventKind::Waking(wake) => Some((us(event), wake.tid.0)),
                _ => None,
            })
            .collect();
        wakes.sort_unstable();
        for wake in wakes {
            prop_assert!(seen.contains(&wake), "{:?} in {:?} of {}", wake, seen, text);
        }
        prop_assert!(events.windows(2).all(|pair| pair[0].ts <= pair[1].ts));
        let losses = events.iter().filter(|event| matches!(event.kind, EventKind::Lost { .. })).count();
        prop_assert_eq!(losses, 0);
    }

    /// Rows of any kind in any order: what comes out is in order of time.
    #[test]
    fn no_rows_break_the_order(
        rows in prop::collection::vec((0i64..3_000, 0u32..3, 0i32..4, 0i64..900, 0i64..900, 0i64..900), 0..700),
    ) {
        let mut slices = Slices::default();
        let mut events = Vec::new();
        for (ts, cpu, tid, wait, delay, run) in rows {
            let what = What::Ran(ran(who(tid, "t"), wait, delay, run));
            slices.row(Row { ts: Ns::from_us(ts), cpu: Cpu(cpu), what });
            events.extend(std::iter::from_fn(|| slices.next(false)));
        }
        events.extend(std::iter::from_fn(|| slices.next(true)));
        prop_assert!(events.windows(2).all(|pair| pair[0].ts <= pair[1].ts));
    }
}
