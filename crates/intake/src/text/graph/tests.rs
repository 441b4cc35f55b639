//! Lines of the function_graph tracer, in a table.

use super::*;

fn name_of(line: &str) -> (String, u32, CallPart) {
    match parse(line).unwrap_or_else(|| panic!("{line}")).what {
        What::Call(call) => (call.name.to_string(), call.depth, call.part),
        other => panic!("{line}: {other:?}"),
    }
}

#[test]
fn calls_in_every_layout() {
    use CallPart::*;
    for (line, name, depth, part) in [
        ("0)               |  f() {", "f", 0, Entry),
        ("0)   1.532 us    |    get_timespec64();", "get_timespec64", 1, Leaf(Ns(1_532))),
        ("0) + 16.556 us   |          }", "", 4, Exit(Ns(16_556))),
        ("0) # 1094.268 us |          } /* schedule */", "schedule", 4, Exit(Ns(1_094_268))),
        ("1) $ 12345678 us |  }", "", 0, Exit(Ns(12_345_678_000))),
        ("1) 123456.7 us |  }", "", 0, Exit(Ns(123_456_700))),
        // Functions of modules.
        ("0)   0.2 us    |  f.isra.0 [ext4]();", "f.isra.0 [ext4]", 0, Leaf(Ns(200))),
        ("0)               |    f [drv-x]() {", "f [drv-x]", 1, Entry),
        ("0)               |    f [drv_x](a=1) {", "f [drv_x]", 1, Entry),
        ("0)   3.2 us    |    } /* f [drv_x] ret=0x1 */", "f [drv_x]", 1, Exit(Ns(3_200))),
        ("1)   0.470 us    |          +-->f [drv]();", "f [drv]", 6, Leaf(Ns(470))),
        ("0)   0.253 us    |  f(); /* ret=0x0 */", "f", 0, Leaf(Ns(253))),
        ("0)   0.253 us    |  f(a=1, b={2}); /* <-g+0x5 ret=-22 */", "f", 0, Leaf(Ns(253))),
        ("0)               |  f(a=1) { /* <-g+0x5/0x10 */", "f", 0, Entry),
        ("0)   0.253 us    |    } /* f ret=0x1 */", "f", 1, Exit(Ns(253))),
        ("0)               |  f();", "f", 0, Entry),
        // Remarks that are drawn into the lines leave the calls in their columns.
        ("1)   0.470 us    |              +---->ktime_get();", "ktime_get", 9, Leaf(Ns(470))),
        ("1)   0.394 us    |     |     hrtimer_forward();", "hrtimer_forward", 4, Leaf(Ns(394))),
        ("1)               |   (~7.5us)   |  lock_base.isra.0() {", "lock_base.isra.0", 7, Entry),
        ("1)   0.382 us    | the new part      preempt_count_sub();", "preempt_count_sub", 8, Leaf(Ns(382))),
        ("1)   7.505 us    |      │     +---->}", "", 8, Exit(Ns(7_505))),
        ("1)   7.505 us    |   |  } /* f */", "f", 2, Exit(Ns(7_505))),
    ] {
        assert_eq!(name_of(line), (name.to_owned(), depth, part), "{line}");
    }
}

#[test]
fn a_mark_in_place_of_calls_is_none() {
    for (line, left_out) in [
        ("1)               |      ...", true),
        ("1)               |  [...]", true),
        ("1)               |  ...->f();", false),
        ("1)               |  a remark of the author", false),
        ("1)               |  a remark [1](of the author) {", false),
    ] {
        assert_eq!(parse(line).is_some_and(|line| line.what == What::LeftOut), left_out, "{line}");
    }
}

#[test]
fn columns_before_the_duration() {
    let state = interrupt_state("d..2.");
    for (line, ts, thread, expected) in [
        ("0)   1.0 us |  f();", None, None, None),
        ("0)  busybox-130   |   1.0 us |  f();", None, Some(("busybox", Tid(130))), None),
        ("30.797932 |   0)   1.0 us |  f();", Some(Ns(30_797_932_000)), None, None),
        (
            "30.797932 |   0)  rcuc/0-23   |  d..2. |   1.0 us |  f();",
            Some(Ns(30_797_932_000)),
            Some(("rcuc/0", Tid(23))),
            state,
        ),
        ("17 us |   0)  d..2. |   1.0 us |  f();", Some(Ns(17_000)), None, state),
        (
            "17 us |   0)    <idle>-0    |  d..2. | + 1.0 us |  f();",
            Some(Ns(17_000)),
            Some(("<idle>", Tid(0))),
            state,
        ),
    ] {
        let found = parse(line).unwrap_or_else(|| panic!("{line}"));
        assert_eq!(
            (found.ts, found.cpu, found.thread, found.state),
            (ts, Cpu(0), thread, expected),
            "{line}"
        );
    }
    assert_eq!(
        parse("3)   cpuhp/0-28   =>  busybox-130").map(|line| line.what),
        Some(What::Switch("busybox", Tid(130)))
    );
    assert_eq!(parse("3)   ==========> |").map(|line| line.what), Some(What::Ornament));
    let comment = "0)               |  /* sched_waking: comm=a pid=1 */";
    assert_eq!(parse(comment).map(|line| line.what), Some(What::Comment("sched_waking: comm=a pid=1")));
}

#[test]
fn prose_is_no_call() {
    for line in [
        "",
        "1) first, do this",
        "1) first | second",
        "1) first | second (third)",
        "99999) | f() {",
        "x) | f() {",
        "0) 1.5 ms | f();",
        "0) x us | f();",
        "0) | }",
        "0) | (f)();",
    ] {
        assert_eq!(parse(line), None, "{line}");
    }
}

#[test]
fn trace_cmd_prints_the_same() {
    let entry = |part| Call { name: "f".into(), depth: 1, is_indented: true, part };
    assert_eq!(reported("|    f() {"), Some(entry(CallPart::Entry)));
    assert_eq!(reported("0.253 us   |    f();"), Some(entry(CallPart::Leaf(Ns(253)))));
    assert_eq!(reported("func=f depth=0x1"), Some(entry(CallPart::Entry)));
    let raw = "func=0xffffffff81 calltime=0x10 rettime=0x20 overrun=0 depth=1";
    assert_eq!(
        reported(raw),
        Some(Call { name: "".into(), depth: 1, is_indented: true, part: CallPart::Exit(Ns(16)) })
    );
    assert_eq!(reported("func=f"), None);
}

#[test]
fn the_clock_runs_by_durations_and_never_back() {
    let mut clock = Clock::default();
    let mut at = |line| clock.at(&parse(line).unwrap_or_else(|| panic!("{line}"))).0;
    assert_eq!(at("0) | a() {"), 0);
    assert_eq!(at("0) 1.000 us |    b();"), 0);
    assert_eq!(at("1) 5.000 us |  z();"), 0);
    assert_eq!(at("0) 2.000 us |    c();"), 1_000);
    assert_eq!(at("1) 1.000 us |  z();"), 5_000);
    assert_eq!(at("0) 9.000 us |  }"), 9_000);
    assert_eq!(at("0) 1.000 us |  }"), 9_000);
    assert_eq!(at("1) | x() {"), 9_000);
}

#[test]
fn a_call_that_returns_on_another_cpu_took_its_time() {
    let at = |switch: &str| {
        let mut clock = Clock::default();
        let mut last = Ns::ZERO;
        for line in [
            " 7) app-5 => app-6",
            "  7)               |  thaw() {",
            switch,
            " 11) $ 3000.000 us |  } /* thaw */",
        ] {
            let Some(line) = parse(line.trim()) else { panic!("{line}") };
            match line.what {
                What::Switch(_, tid) => clock.switch(line.cpu, tid),
                _ => last = clock.at(&line),
            }
        }
        last
    };
    assert_eq!(at(" 11) app-4 => app-6"), Ns::from_ms(3));
    // Of another thread the entry is not known.
    assert_eq!(at(" 11) app-4 => app-9"), Ns::ZERO);
}

#[test]
fn a_brace_alone_returns_from_the_call_that_was_entered_as_long_ago() {
    let mut clock = Clock::default();
    let mut returning = |line: &str| {
        let line = parse(line).unwrap_or_else(|| panic!("{line}"));
        let What::Call(Call { depth, part, .. }) = line.what else { panic!("{line:?}") };
        let name = match part {
            CallPart::Exit(duration) => clock.returning(&line, depth, duration).to_string(),
            _ => String::new(),
        };
        clock.at(&line);
        name
    };
    assert_eq!(returning("100 us |   0)  sh-20   |  d..1. |               |  outer() {"), "");
    assert_eq!(returning("110 us |   0)  sh-20   |  d..1. |               |    inner() {"), "");
    // Lines are missing here: of the calls of this depth, which returned before?
    assert_eq!(returning("700 us |   0)  sh-20   |  d..1. | ! 300.000 us  |    }"), "");
    assert_eq!(returning("714 us |   0)  sh-20   |  d..1. | ! 612.500 us  |  }"), "outer");
    // Without times a line does not show it.
    assert_eq!(returning("0)               |  outer() {"), "");
    assert_eq!(returning("0)   9.000 us    |  }"), "");
}

fn depths(lines: &[&str]) -> Vec<u32> {
    let mut clock = Clock::default();
    let mut depths = Vec::new();
    for text in lines {
        let line = clock.nested(parse(text).unwrap_or_else(|| panic!("{text}")));
        if let What::Switch(_, tid) = line.what {
            clock.switch(line.cpu, tid);
        }
        if let What::Call(call) = line.what {
            depths.push(call.depth);
        }
    }
    depths
}

#[test]
fn braces_show_the_depth_where_blanks_were_lost() {
    let lost = [
        "0) 1.0 us | } /* up */",
        "0) | f() {",
        "0) 1.0 us | g();",
        "0) | h() {",
        "0) 2.0 us | }",
        "0) 9.0 us | }",
    ];
    assert_eq!(depths(&lost), [127, 127, 128, 128, 128, 127]);
    // Another name than that of the call which is open, another thread, and a mark: nothing is matched.
    for gap in ["0) 9.0 us | } /* other */", "0) app-7 => mill-8", "0) | ..."] {
        let all = depths(&["0) | f() {", gap, "0) 9.0 us | }"]);
        assert!(all.last().is_some_and(|&depth| depth < 128), "{gap}: {all:?}");
    }
    let own = ["0)   1.0 us    |    }", "0) | f() {", "0)               |  g() {"];
    assert_eq!(depths(&own), [1, 0, 0], "the first has its blanks");
}
