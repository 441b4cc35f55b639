//! Calls of the function_graph tracer, without a latency tracer's header.

use whylate_base::{Cpu, Ns, Tid};
use whylate_events::{Context, ContextFlags, Event, EventKind, LeftOut, TraceInfo, VecSource};
use whylate_ledger::{Options, explain};

/// A line of function_graph as events: its name, depth and duration; a duration of 0 opens a call, and a name of `}` ends it.
fn calls(lines: &[(&'static str, u32, i64)]) -> Vec<Event> {
    let mut now = 1_000;
    let mut events = Vec::new();
    for &(name, depth, us) in lines {
        // The return of a call has no name, unless its line has one.
        let name_at_exit = if name == "}" { "" } else { name };
        let exit = EventKind::FunctionExit { name: name_at_exit.into(), depth, duration: Ns::from_us(us) };
        let kinds = match (name, us) {
            ("}", _) => vec![exit],
            // The return of a call that has its name: `} /* name */`.
            _ if name.starts_with("} ") => {
                let name = name.trim_start_matches("} ").into();
                vec![EventKind::FunctionExit { name, depth, duration: Ns::from_us(us) }]
            }
            (_, 0) => vec![EventKind::FunctionEntry { name: name.into(), depth }],
            _ => vec![EventKind::FunctionEntry { name: name.into(), depth }, exit],
        };
        for kind in kinds {
            now += us;
            let context = Context { tid: Tid(7), flags: ContextFlags::default(), preempt_depth: None };
            events.push(Event { ts: Ns::from_us(now), cpu: Cpu(1), context, kind });
        }
    }
    events
}

fn longest(lines: &[(&'static str, u32, i64)]) -> Option<String> {
    let explanation = explain(VecSource::new(calls(lines), TraceInfo::default(), true), &Options::default());
    assert_ne!(explanation.concludes(), explanation.findings.is_empty());
    explanation.findings.first().map(|finding| format!("{}: {}", finding.code, finding.title))
}

#[test]
fn the_function_in_which_the_time_of_the_longest_call_went_is_named() {
    let short = [("short", 0, 40)];
    let long =
        [("read", 0, 0), ("lock", 1, 3), ("copy", 1, 0), ("slow", 2, 250), ("}", 1, 260), ("}", 0, 300)];
    let title = longest(&[&short[..], &long[..]].concat());
    assert_eq!(title.as_deref(), Some("longest-call: slow took 250.0 us of the 300.0 us of read, on CPU 1"));
    // Its return is missing: the longest that is whole is within.
    let title = longest(&long[..5]);
    assert_eq!(title.as_deref(), Some("longest-call: slow took 250.0 us of the 260.0 us of copy, on CPU 1"));
    let even: Vec<_> = [("all", 0, 0)]
        .into_iter()
        .chain(["a", "b", "c", "d", "e", "f"].map(|name| (name, 1, 10)))
        .chain([("}", 0, 61)])
        .collect();
    let title = longest(&even).expect("a finding");
    assert!(title.ends_with("all took 61.00 us on CPU 1; no single function took most of it"), "{title}");
}

#[test]
fn a_call_that_gives_the_cpu_away_is_not_the_longest() {
    let sleeps = [("wait", 0, 0), ("__schedule", 1, 5_000), ("}", 0, 5_010), ("work", 0, 20)];
    assert_eq!(longest(&sleeps).as_deref(), Some("longest-call: work took 20.00 us on CPU 1"));
    assert_eq!(longest(&sleeps[..3]), None);
    assert_eq!(longest(&[("}", 2, 90)]), None, "its entry is missing");
    // Functions of that name that queue work, and the tick's.
    for name in ["schedule_work", "schedule_delayed_work", "scheduler_tick"] {
        let title = longest(&[("handler", 0, 0), (name, 1, 5), ("}", 0, 90)]).unwrap_or_default();
        assert!(title.contains("handler took 85.00 us of its 90.00 us itself"), "{name}: {title}");
    }
    for name in ["schedule_timeout.part.0", "schedule.isra.0", "schedule_hrtimeout_range"] {
        assert_eq!(longest(&[("wait", 0, 0), (name, 1, 5), ("}", 0, 90)]), None, "{name}");
    }
}

#[test]
fn a_call_that_waits_is_named_as_that() {
    let evidence = |lines: &[(&'static str, u32, i64)]| {
        let explanation =
            explain(VecSource::new(calls(lines), TraceInfo::default(), true), &Options::default());
        let finding = explanation.findings.first().expect("a finding");
        let shown: Vec<&str> = finding.evidence.iter().map(|evidence| evidence.what.as_str()).collect();
        (finding.title.clone(), shown.join("; "))
    };
    let work = ("work", 0, 20);
    for scheduler in [
        // The function that goes to sleep is not traced.
        &[("dequeue", 3, 2), ("finish_task_switch.isra.0", 3, 4)][..],
        &[("schedule_timeout", 3, 0), ("schedule", 4, 9_980), ("}", 3, 9_990)],
    ] {
        let before = [work, ("read", 0, 0), ("receive", 1, 0), ("wait_for_more", 2, 0)];
        let after = [("}", 2, 10_000), ("}", 1, 10_010), ("}", 0, 10_030)];
        let (title, shown) = evidence(&[&before[..], scheduler, &after].concat());
        assert_eq!(title, "work took 20.00 us on CPU 1");
        let waits =
            "read took 10.03 ms, and waited in wait_for_more, which took 10.00 ms: other threads had the CPU";
        assert!(shown.contains(waits), "{shown}");
    }
    // A wait that is shorter than the work.
    let short = [("work", 0, 200), ("read", 0, 0), ("schedule", 1, 50), ("}", 0, 60)];
    assert!(!evidence(&short).1.contains("waited"));
    // The idle task of a CPU is no thread that waits.
    let idle = [work, ("cpu_startup_entry", 0, 0), ("do_idle", 1, 5_000), ("}", 0, 5_010)];
    assert!(!evidence(&idle).1.contains("waited"));
}

#[test]
fn with_lines_missing_within_only_the_length_of_a_call_is_known() {
    // What is entered at depth 3 has no caller here: lines are missing.
    let gap = [("drain", 1, 0), ("move", 2, 0), ("add", 4, 20), ("} move", 2, 580), ("} drain", 1, 614)];
    let explanation = explain(VecSource::new(calls(&gap), TraceInfo::default(), true), &Options::default());
    let finding = explanation.findings.first().expect("a finding");
    assert_eq!(finding.title, "drain took 614.0 us on CPU 1");
    assert!(finding.why.contains("lines within it are missing"), "{}", finding.why);
    // The return may be that of a later call of this depth, whose entry is missing.
    for (end, call) in [("}", "a call"), ("} other", "other")] {
        let title = longest(&[("drain", 1, 0), ("add", 3, 20), (end, 1, 614)]);
        let whole = "its entry is missing; of the whole calls add took 20.00 us on CPU 1";
        assert_eq!(title, Some(format!("longest-call: {call} took 614.0 us, and {whole}")));
    }
}

#[test]
fn with_calls_left_out_no_function_took_most_of_it() {
    let lines = [("drain", 0, 0), ("move", 1, 0), ("add", 2, 20), ("}", 1, 580), ("}", 0, 614)];
    let of = |at: i64| {
        let left_out = vec![LeftOut { at: Ns::from_us(at), line: 2, ends_piece: false }];
        let info = TraceInfo { left_out, ..TraceInfo::default() };
        explain(VecSource::new(calls(&lines), info, true), &Options::default()).findings.remove(0).title
    };
    assert_eq!(of(1_010), "drain took 614.0 us on CPU 1");
    assert_eq!(of(3_000), "move took 560.0 us of the 614.0 us of drain, on CPU 1");
}

#[test]
fn with_a_threshold_the_trace_has_returns_alone() {
    let title = longest(&[("} purge", 1, 50_000), ("} drain", 0, 50_012), ("} purge", 1, 70)]);
    assert_eq!(title.as_deref(), Some("longest-call: drain took 50.01 ms on CPU 1"));
    // What waits for something else has the time of other threads.
    let sleeps = [("} schedule", 2, 50_000), ("} wait_for", 1, 50_001), ("} nanosleep", 0, 50_002)];
    assert_eq!(longest(&sleeps), None);
    let title = longest(&[&sleeps[..], &[("} work", 0, 900)]].concat());
    assert_eq!(title.as_deref(), Some("longest-call: work took 900.0 us on CPU 1"));
}

#[test]
fn a_longer_call_of_which_only_the_return_was_seen_is_told() {
    let evidence = |lines: &[(&'static str, u32, i64)]| {
        let explanation =
            explain(VecSource::new(calls(lines), TraceInfo::default(), true), &Options::default());
        let finding = explanation.findings.into_iter().next().expect("a finding");
        finding.evidence.into_iter().map(|seen| seen.what).collect::<Vec<_>>().join("; ")
    };
    let told = evidence(&[("short", 1, 40), ("}", 0, 614)]);
    assert!(told.contains("another call returned after 614.0 us"), "{told}");
    let told = evidence(&[("short", 1, 40), ("} drain", 0, 614)]);
    assert!(told.contains("drain returned after 614.0 us; the line of its entry is missing"), "{told}");
    let slept = [("short", 3, 40), ("} schedule", 2, 600), ("check", 2, 1), ("} wait_for", 1, 614)];
    let told = evidence(&slept);
    assert!(
        told.contains(
            "wait_for returned after 614.0 us, of which schedule took 600.0 us: there the CPU goes"
        ),
        "{told}"
    );
    assert_eq!(longest(&slept).as_deref(), Some("longest-call: short took 40.00 us on CPU 1"));
    for lines in [[("short", 1, 40), ("}", 0, 30)], [("short", 1, 40), ("} schedule", 0, 614)]] {
        assert!(!evidence(&lines).contains("another call"), "{lines:?}");
    }
}

#[test]
fn a_driver_that_sleeps_for_a_time_of_its_own_is_the_headline_also_without_its_entry() {
    let lines = [
        ("} schedule_timeout", 4, 90_000),
        ("} msleep", 3, 90_001),
        ("} acme_wait_link", 2, 90_003),
        ("notify", 2, 3),
        ("} acme_resume", 1, 90_020),
    ];
    let title =
        "acme_resume took 90.02 ms, of which acme_wait_link slept 90.00 ms (msleep); its entry is missing";
    assert_eq!(longest(&lines), Some(format!("longest-call: {title}")));
    // What waits for others is not named so.
    let waits = [("} schedule", 2, 600), ("} wait_for", 1, 614), ("short", 1, 40)];
    assert_eq!(longest(&waits).as_deref(), Some("longest-call: short took 40.00 us on CPU 1"));
}

#[test]
fn a_call_is_its_threads_also_where_that_moves_or_sleeps_in_it() {
    let at = |us: i64, cpu: u32, tid: i32, kind: EventKind| {
        let context = Context { tid: Tid(tid), flags: ContextFlags::default(), preempt_depth: None };
        Event { ts: Ns::from_us(us), cpu: Cpu(cpu), context, kind }
    };
    let enters = |name: &'static str| EventKind::FunctionEntry { name: name.into(), depth: 0 };
    let leaves = |us| EventKind::FunctionExit { name: "".into(), depth: 0, duration: Ns::from_us(us) };
    let finding = |events: Vec<Event>| {
        explain(VecSource::new(events, TraceInfo::default(), true), &Options::default()).findings.remove(0)
    };
    let slept = || vec![at(0, 1, 7, enters("probe")), at(10, 1, 8, enters("copy")), at(60, 1, 8, leaves(50))];
    let moved = || vec![at(70, 2, 9, enters("write")), at(90, 3, 9, leaves(20)), at(500, 3, 7, leaves(500))];
    let both = finding([slept(), moved()].concat());
    assert_eq!(both.title, "copy took 50.00 us on CPU 1");
    let away =
        "probe took 500.0 us, and waited: other threads had the CPU meanwhile, so it slept, or was preempted";
    assert!(both.evidence.iter().any(|seen| seen.what == away && seen.cpu == Some(Cpu(1))), "{both:?}");
    let alone = finding([slept()[..2].to_vec(), moved()[2..].to_vec()].concat());
    assert_eq!(alone.title, "probe took 500.0 us on CPU 1, and other threads ran there meanwhile");
    // The idle task of each CPU is another one.
    let idle = finding(vec![at(0, 1, 0, enters("poll")), at(5, 2, 0, leaves(90)), at(10, 1, 0, leaves(10))]);
    assert_eq!(
        idle.title,
        "a call took 90.00 us, and its entry is missing; of the whole calls poll took 10.00 us on CPU 1"
    );
}

#[test]
fn a_call_that_returns_on_another_cpu_was_off_the_cpu() {
    let moved = |returns_on: u32| -> String {
        let mut events = calls(&[("thaw", 0, 0), ("} thaw", 0, 3_000)]);
        if let Some(last) = events.last_mut() {
            last.cpu = Cpu(returns_on);
        }
        let explanation = explain(VecSource::new(events, TraceInfo::default(), true), &Options::default());
        let finding = explanation.findings.first().expect("a finding");
        assert_eq!(finding.title, "thaw took 3.00 ms on CPU 1");
        finding.evidence.iter().map(|seen| seen.what.to_string()).collect::<Vec<String>>().join("; ")
    };
    assert_eq!(moved(1), "thaw was entered, and returned after 3.00 ms");
    assert!(
        moved(4)
            .starts_with("thaw was entered, and returned after 3.00 ms on CPU 4: its thread was moved there")
    );
}
