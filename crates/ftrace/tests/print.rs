//! Events as text: whole lines compared with `trace-cmd report`, and forms of every kind by table.

mod common;

use common::{Dat, Instance, Machine, Value, cases};
use proptest::prelude::*;
use std::path::Path;
use std::process::Command;
use whylate_ftrace::dat::TraceFile;
use whylate_ftrace::format::EventFormat;
use whylate_ftrace::print::{Lines, Mode, Printer};
use whylate_testing::Need;

const KALLSYMS: &str = "ffffffff81000000 T first\nffffffff81000100 T second\nffffffff81000200 T third\n\
    ffffffff81000300 T _end\n";

fn text(file: &TraceFile, mode: Mode) -> String {
    all(Lines::new(file, mode))
}

fn all(mut lines: Lines<'_>) -> String {
    let mut out = Vec::new();
    while lines.next_line(&mut out) {}
    String::from_utf8_lossy(&out).into_owned()
}

/// What `trace-cmd report` prints; `None` where it is not installed.
fn report(path: &Path, options: &[&str]) -> Option<String> {
    let version = Command::new("trace-cmd").arg("--version").output();
    let version =
        version.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    let number = version.split_once("version ").map_or("", |(_, number)| number);
    if !["2.", "3.0", "3.1", "3.2"].iter().any(|known| number.starts_with(known)) {
        let reason = format!("no trace-cmd before 3.3, whose lines have a column more (`{}`)", number.trim());
        let need = if number.is_empty() { Need::Program } else { Need::Machine };
        whylate_testing::skip(need, reason);
        return None;
    }
    common::ask::trace_cmd_report(path, options)
}

/// Where the two are known to differ, and ours is right: see the module `print`.
fn explained(theirs: &str, ours: &str) -> bool {
    // A negative priority, which trace-cmd reads as unsigned.
    theirs.replace("[4294967295]", "[-1]") == ours
        // States in the letters of kernels before 4.14; libtraceevent 1.8 has the kernel's own.
        || theirs.contains(" sched_switch: ") && old_states(ours) == theirs.replace("[4294967295]", "[-1]")
        // `flags & (a | b)`, which trace-cmd reads as `(flags & a) | b`.
        || theirs.contains(" timer_start: ") && theirs.split(" flags=").next() == ours.split(" flags=").next()
}

/// The line with the states as libtraceevent before 1.8 has them.
fn old_states(line: &str) -> String {
    let Some((before, after)) = line.split_once(" ==> ") else { return line.to_owned() };
    let Some((before, states)) = before.rsplit_once(' ') else { return line.to_owned() };
    let old = |letter| match letter {
        'X' => 'Z',
        'Z' => 'X',
        'P' => 'x',
        'I' => 'W',
        other => other,
    };
    format!("{before} {} ==> {after}", states.chars().map(old).collect::<String>())
}

fn compare(name: &str, theirs: &str, ours: &str) -> usize {
    let (mut lines, mut differ) = (0, 0);
    for (theirs, ours) in theirs.lines().zip(ours.lines()) {
        lines += 1;
        if theirs != ours {
            differ += 1;
            assert!(explained(theirs, ours), "{name}, line {lines}:\n{theirs}\n{ours}");
        }
    }
    assert_eq!(theirs.lines().count(), ours.lines().count(), "{name}");
    println!("{name}: {lines} lines, {differ} of them differ where ours is right");
    lines
}

#[test]
fn every_line_is_as_trace_cmd_prints_it() {
    for path in common::recordings() {
        let Some(theirs) = report(&path, &[]) else { return };
        let file = TraceFile::open(&path).expect("a trace.dat");
        let name = path.display().to_string();
        assert!(compare(&name, &theirs, &text(&file, Mode::TraceCmd)) > 1, "{name}");
        // Once more with all columns: the first of the recordings are enough.
        if name.contains("higher") {
            let Some(theirs) = report(&path, &["-l", "-t"]) else { return };
            let printer = Printer::new(&file, Mode::TraceCmd).with_flags().with_nanoseconds();
            compare(&name, &theirs, &all(Lines::with(&file, printer)));
        }
    }
}

/// A file with one CPU's records of one event after the other.
fn recording(machine: Machine, formats: &[(&str, String)], records: &[Vec<u8>]) -> Dat {
    let data: Vec<u8> = records.iter().flat_map(|record| machine.event(1500, record)).collect();
    let mut systems: Vec<(String, Vec<String>)> = Vec::new();
    let of = |system: &str| -> Vec<String> {
        formats.iter().filter(|(name, _)| *name == system).map(|(_, text)| text.clone()).collect()
    };
    for (system, _) in formats.iter().filter(|(system, _)| *system != "ftrace") {
        if !systems.iter().any(|(name, _)| name == system) {
            systems.push(((*system).to_owned(), of(system)));
        }
    }
    Dat {
        machine,
        page_size: 4096,
        ftrace: of("ftrace"),
        systems,
        kallsyms: KALLSYMS.to_owned(),
        comms: "7 worker\n".to_owned(),
        clock: "mono".to_owned(),
        cpus: vec![machine.page(4096, 5_000_000_000, &data, None)],
        counts: vec![],
        options: vec![],
        instances: vec![],
    }
}

fn parsed(text: &str) -> EventFormat {
    EventFormat::parse("made", text).expect("a format")
}

/// What is printed behind the name of an event with the fields of `FIELDS`.
const FIELDS: [&str; 11] = [
    "int a",
    "unsigned int b",
    "unsigned char c",
    "u64 d",
    "char comm[16]",
    "unsigned char mac[6]",
    "unsigned char ip[16]",
    "__data_loc char[] name",
    "__rel_loc char[] other",
    "unsigned int many[3]",
    "void * ptr",
];

fn printed(machine: Machine, mode: Mode, print_fmt: &str) -> String {
    let format = machine.format("event", 900, &FIELDS, print_fmt);
    let record = machine.record(
        &parsed(&format),
        &[
            ("common_pid", Value::Int(7)),
            ("a", Value::Int(-3)),
            ("b", Value::Int(10)),
            ("c", Value::Int(65)),
            ("d", Value::Int(0x1_0000_0002)),
            ("comm", Value::Text("worker/1")),
            ("mac", Value::Text("\x01\x02\x03\x04\x05\x06")),
            ("ip", Value::Text("\x0a\x01\x02\x03\0\0\0\0\0\0\0\0\0\0\0\x01")),
            ("name", Value::Text("eth0")),
            ("other", Value::Text("lo")),
            ("many", Value::Longs(&[1, 2, 0xffff_ffff])),
            ("ptr", Value::Int(0xffff_ffff_8100_0110_u64 as i64)),
        ],
    );
    let mut dat = recording(machine, &[("made", format)], &[record]);
    if machine.long == 4 {
        dat.kallsyms = KALLSYMS.replace("ffffffff81", "81");
    }
    let file = TraceFile::from_bytes(dat.v6()).expect("a trace.dat");
    let text = text(&file, mode);
    text.lines()
        .nth(if mode == Mode::Kernel { 2 } else { 1 })
        .expect("a line")
        .split("event: ")
        .nth(1)
        .expect("text")
        .trim_start()
        .to_owned()
}

#[test]
fn what_format_files_say() {
    let table = [
        (r#""a=%d b=%u c=%c %x", REC->a, REC->b, REC->c, REC->a"#, "a=-3 b=10 c=A fffffffd"),
        (
            r#""%llu %#llx %08x|%-6d|%6d", REC->d, REC->d, REC->b, REC->b, REC->a"#,
            "4294967298 0x100000002 0000000a|10    |    -3",
        ),
        (r#""%s %-10s|%.3s", REC->comm, REC->comm, REC->comm"#, "worker/1 worker/1  |wor"),
        (r#""%s %s %.*s", __get_str(name), __get_rel_str(other), 2, __get_str(name)"#, "eth0 lo et"),
        (r#""%d", REC->a > 0 ? 1 : REC->b == 10 && !(REC->c & 2) ? 2 : 3"#, "2"),
        (r#""%d %d", REC->a < REC->b, (int)REC->a < (int)REC->b"#, "0 1"),
        (r#""%d", REC->b & (0x4 | 0x8)"#, "8"),
        (r#""%d %u", (REC->b + 2) * 3 - 4 / 2 % 2, ~REC->b >> 28"#, "36 15"),
        (r#""%s", REC->a ? "yes" : "no""#, "yes"),
        (
            r#""%s", __print_flags(REC->b, "|", { 0x2, "TWO" }, { 1 << 3, "EIGHT" }, { 16, "NO" })"#,
            "TWO|EIGHT",
        ),
        (r#""%s", __print_flags(REC->b & 0xc, "|", { 0x4, "FOUR" }, { -1, ((void *)0) })"#, "0x8"),
        (
            r#""%s,%s", __print_symbolic(REC->a, { -3, "minus" }), __print_symbolic(REC->b, { 1, "one" })"#,
            "minus,0xa",
        ),
        (r#""%s", __print_symbolic(REC->b, { LEFT_IN, "lost" }, { 10, "ten" })"#, "ten"),
        (
            r#""%s|%s", __print_hex(REC->mac, 3), __print_hex_str(__get_dynamic_array(name), __get_dynamic_array_len(name))"#,
            "01 02 03|6574683000",
        ),
        (r#""%pM %pMR", REC->mac, REC->mac"#, "01:02:03:04:05:06 06:05:04:03:02:01"),
        (r#""%pI4 %pI6c", REC->ip, REC->ip"#, "10.1.2.3 a01:203::1"),
        (r#""%*phN %*ph", 3, REC->mac, 2, REC->mac"#, "010203 01 02"),
        (r#""%u %u %zu", REC->many[1], ((u32 *)REC->many)[2], sizeof(REC->many)"#, "2 4294967295 12"),
        (r#""%ps %ld", REC->ptr, sizeof(REC->a) + sizeof(u64)"#, "second 12"),
        (r#""%s" " and\t%d%%", "text", 5"#, "text and\t5%"),
        (r#""%d %d", jiffies - REC->a, REC->a"#, "? -3"),
        (r#""%d%s", ({ int x = REC->a, y; x; }), __print_symbolic(REC->b, { })"#, "?0xa"),
        (r#""%d", (REC)->a"#, "-3"),
        (
            r#""%llu.%03lu", __print_ns_to_secs(2500000000ULL), __print_ns_without_secs(2000000007ULL)"#,
            "2.007",
        ),
        (r#""%u", *(u32 *)&REC->b"#, "10"),
        (r#""%d %d", (bool)REC->b, !!REC->b"#, "1 1"),
    ];
    for machine in Machine::ALL {
        for (print_fmt, expected) in table {
            for mode in [Mode::Kernel, Mode::TraceCmd] {
                assert_eq!(printed(machine, mode, print_fmt), expected, "{machine:?} {mode:?}: {print_fmt}");
            }
        }
    }
}

#[test]
fn what_the_two_modes_print_differently() {
    for (print_fmt, kernel, trace_cmd) in [
        (r#""%p", REC->ptr"#, "ffffffff81000110", "0xffffffff81000110"),
        (r#""%pS", REC->ptr"#, "second+0x10/0x100", "second+0x10"),
        (r#""%s", __print_array(REC->many, 3, 4)"#, "{0x1,0x2,0xffffffff}", "1 2 4294967295"),
        (r#""%#x", REC->a + 3"#, "0x0", "0"),
        (r#""%s", __get_cpumask(name)"#, "00,30687465", "0,2,5-6,10,12-14,19,21-22,28-29"),
    ] {
        assert_eq!(printed(Machine::PC, Mode::Kernel, print_fmt), kernel, "{print_fmt}");
        assert_eq!(printed(Machine::PC, Mode::TraceCmd, print_fmt), trace_cmd, "{print_fmt}");
    }
}

#[test]
fn what_is_not_understood_is_shown_field_by_field_and_counted() {
    let machine = Machine::PC;
    let broken =
        [r#""%d", ({ x; })"#, r#""%k", REC->a"#, r#""%d""#, r#"REC->a"#, r#""%d", REC->none"#, "\"open"];
    for print_fmt in broken {
        let format =
            machine.format("event", 900, &["int a", "char comm[4]", "unsigned int few[2]"], print_fmt);
        let record = machine.record(
            &parsed(&format),
            &[("a", Value::Int(-3)), ("comm", Value::Text("abc")), ("few", Value::Longs(&[1, 2]))],
        );
        let file =
            TraceFile::from_bytes(recording(machine, &[("made", format)], &[record]).v6()).expect("file");
        let mut lines = Lines::new(&file, Mode::TraceCmd);
        let mut out = Vec::new();
        while lines.next_line(&mut out) {}
        let text = String::from_utf8(out).expect("UTF-8");
        assert!(
            text.ends_with("[FAILED TO PARSE] a=-3 comm=abc few=ARRAY[01, 00, 00, 00, 02, 00, 00, 00]\n"),
            "{text}"
        );
        assert_eq!(lines.printer().failed().get(&900), Some(&1), "{print_fmt}");
        assert_eq!(lines.printer().not_understood().count(), 1);
    }
}

#[test]
fn a_format_may_be_as_long_and_deep_as_it_likes() {
    let machine = Machine::PC;
    let text =
        |expression: String| printed(machine, Mode::Kernel, &format!("\"%d %d\", {expression}, REC->b"));
    assert_eq!(text(format!("0{}", " + 1".repeat(100))), "100 10");
    assert_eq!(text(format!("{}7{}", "(".repeat(30), ")".repeat(30))), "7 10");
    for expression in [
        format!("0{}", " + 1".repeat(100_000)),
        format!("{}7{}", "(".repeat(100_000), ")".repeat(100_000)),
        format!("{}7", "!".repeat(100_000)),
        format!("0{}", " ? 1 : 0".repeat(100_000)),
    ] {
        assert_eq!(text(expression), "? 10");
    }
}

/// Events with a form of their own, in a file that trace-cmd reads as well.
fn own_forms(machine: Machine) -> Dat {
    let long = "unsigned long ip";
    let formats = vec![
        (
            "ftrace",
            machine.format(
                "function",
                1,
                &[long, "unsigned long parent_ip"],
                r#"" %ps <-- %ps", (void *)REC->ip, (void *)REC->parent_ip"#,
            ),
        ),
        (
            "ftrace",
            machine.format(
                "funcgraph_entry",
                11,
                &["unsigned long func", "int depth"],
                r#""--> %ps (%d)", (void *)REC->func, REC->depth"#,
            ),
        ),
        (
            "ftrace",
            machine.format(
                "funcgraph_exit",
                10,
                &["unsigned long func", "int depth", "u64 calltime", "u64 rettime"],
                r#""<-- %ps (%d)", (void *)REC->func, REC->depth"#,
            ),
        ),
        (
            "ftrace",
            machine.format("kernel_stack", 4, &["int size", "unsigned long caller[8]"], r#""%d", REC->size"#),
        ),
        (
            "ftrace",
            machine.format("print", 5, &[long, "char buf[]"], r#""%ps: %s", (void *)REC->ip, REC->buf"#),
        ),
        (
            "sched",
            machine.format(
                "sched_switch",
                300,
                &[
                    "char prev_comm[16]",
                    "int prev_pid",
                    "int prev_prio",
                    "long prev_state",
                    "char next_comm[16]",
                    "int next_pid",
                    "int next_prio",
                ],
                r#""prev_comm=%s", REC->prev_comm"#,
            ),
        ),
        (
            "sched",
            machine.format(
                "sched_wakeup",
                301,
                &["char comm[16]", "int pid", "int prio", "int target_cpu"],
                r#""comm=%s", REC->comm"#,
            ),
        ),
        (
            "timer",
            machine.format(
                "hrtimer_start",
                302,
                &["void * hrtimer", "void * function", "s64 expires", "s64 softexpires"],
                r#""hrtimer=%p", REC->hrtimer"#,
            ),
        ),
        (
            "timer",
            machine.format(
                "hrtimer_expire_entry",
                303,
                &["void * hrtimer", "s64 now", "void * function"],
                r#""hrtimer=%p", REC->hrtimer"#,
            ),
        ),
        (
            "kmem",
            machine.format("kfree", 304, &["unsigned long call_site", "void * ptr"], r#""ptr=%p", REC->ptr"#),
        ),
        (
            "syscalls",
            machine.format(
                "sys_enter_futex",
                305,
                &["u64 uaddr", "u64 op", "u64 val", "u64 utime", "u64 uaddr2", "u64 val3"],
                r#""uaddr: 0x%08lx", REC->uaddr"#,
            ),
        ),
    ];
    // trace-cmd takes all fields before an empty line for common ones.
    let formats: Vec<(&str, String)> = formats
        .into_iter()
        .map(|(system, text)| {
            let end =
                text.find("common_pid").and_then(|at| Some(at + text[at..].find('\n')?)).expect("common_pid");
            (system, format!("{}\n{}", &text[..end], &text[end..]))
        })
        .collect();
    let format = |name: &str| {
        let text =
            formats.iter().map(|(_, text)| text).find(|text| text.starts_with(&format!("name: {name}\n")));
        parsed(text.expect(name))
    };
    let record = |name: &str, pid: i64, values: &[(&str, Value<'_>)]| {
        let mut record = machine.record(&format(name), values);
        let pid_at = format(name).field("common_pid").expect("common_pid").offset;
        record[pid_at..pid_at + 4].copy_from_slice(&machine.number(pid as u64, 4));
        record
    };
    let base: i64 = if machine.long == 8 { 0xffff_ffff_8100_0000_u64 as i64 } else { 0x8100_0000 };
    let call = |at: i64, from: i64| {
        record("function", 7, &[("ip", Value::Int(base + at)), ("parent_ip", Value::Int(base + from))])
    };
    let entry = |at: i64, depth| {
        record("funcgraph_entry", 7, &[("func", Value::Int(base + at)), ("depth", Value::Int(depth))])
    };
    let exit = |at: i64, depth: i64, took: i64| {
        let times = [("calltime", Value::Int(1000)), ("rettime", Value::Int(1000 + took))];
        let [called, returned] = times;
        record(
            "funcgraph_exit",
            7,
            &[("func", Value::Int(base + at)), ("depth", Value::Int(depth)), called, returned],
        )
    };
    let switch = |from: &str, pid, state, to: &str, next| {
        record(
            "sched_switch",
            pid,
            &[
                ("prev_comm", Value::Text(from)),
                ("prev_pid", Value::Int(pid)),
                ("prev_prio", Value::Int(120)),
                ("prev_state", Value::Int(state)),
                ("next_comm", Value::Text(to)),
                ("next_pid", Value::Int(next)),
                ("next_prio", Value::Int(-1)),
            ],
        )
    };
    let futex = |op, val| {
        record(
            "sys_enter_futex",
            7,
            &[("uaddr", Value::Int(0x7f00)), ("op", Value::Int(op)), ("val", Value::Int(val))],
        )
    };
    let stack = [
        base as u64 + 0x110,
        base as u64 + 0x200,
        0x1234,
        u64::MAX >> if machine.long == 8 { 0 } else { 32 },
        0,
        0,
        0,
        0,
    ];
    let records = vec![
        call(0x100, 0x10),
        call(0x200, 0x110),
        call(0x200, 0x110),
        call(0x0, 0x220),
        call(0x100, 0x220),
        call(0x100, 0x1_0000),
        entry(0x0, 0),
        entry(0x100, 1),
        exit(0x100, 1, 1_234),
        entry(0x200, 1),
        exit(0x200, 1, 12_000),
        exit(0x0, 0, 2_000_000),
        entry(0x100, 0),
        exit(0x200, 0, 1_500_000_000),
        entry(0x0, 3),
        exit(0x0, 3, 123_456_789),
        record("kernel_stack", 7, &[("size", Value::Int(3)), ("caller", Value::Longs(&stack))]),
        record("print", 9, &[("ip", Value::Int(base)), ("buf", Value::Text("said\n"))]),
        switch("swapper/0", 0, 0, "fresh", 9),
        switch("fresh", 9, 0x81, "worker", 7),
        switch("worker", 7, 0x100, "swapper/0", 0),
        record(
            "sched_wakeup",
            9,
            &[
                ("comm", Value::Text("late")),
                ("pid", Value::Int(11)),
                ("prio", Value::Int(49)),
                ("target_cpu", Value::Int(1)),
            ],
        ),
        record(
            "hrtimer_start",
            11,
            &[
                ("hrtimer", Value::Int(0x77)),
                ("function", Value::Int(base + 0x100)),
                ("expires", Value::Int(5)),
                ("softexpires", Value::Int(4)),
            ],
        ),
        record(
            "hrtimer_expire_entry",
            0,
            &[("hrtimer", Value::Int(0x77)), ("now", Value::Int(5)), ("function", Value::Int(0x88))],
        ),
        record("kfree", 7, &[("call_site", Value::Int(base + 0x104)), ("ptr", Value::Int(0x99))]),
        futex(0, 2),
        futex(128 + 1, 1),
        futex(256 + 9, 3),
        futex(64, 3),
    ];
    recording(machine, &formats, &records)
}

#[test]
fn events_with_forms_of_their_own() {
    let file = TraceFile::from_bytes(own_forms(Machine::PC).v6()).expect("a trace.dat");
    let text = text(&file, Mode::TraceCmd);
    let expected = [
        "cpus=1\n",
        "          worker-7     [000]     5.000002: function:             second\n",
        "          worker-7     [000]     5.000003: function:                third\n",
        "          worker-7     [000]     5.000011: funcgraph_entry:                   |  first() {\n",
        "          worker-7     [000]     5.000012: funcgraph_entry:        1.234 us   |    second();\n",
        "          worker-7     [000]     5.000015: funcgraph_entry:      + 12.000 us  |    third();\n",
        "          worker-7     [000]     5.000018: funcgraph_exit:       # 2000.000 us |  }\n",
        "<stack trace >\n=> second (ffffffff81000110)\n=> third (ffffffff81000200)\n=> 1234\n",
        "           <...>-9     [000]     5.000027: print:                first: said\n",
        "sched_switch:         swapper/0:0 [120] R ==> fresh:9 [-1]\n",
        "           fresh-9     [000]     5.000030: sched_switch:         fresh:9 [120] S|I ==> worker:7 [-1]\n",
        "sched_wakeup:         late:11 [49] CPU:001\n",
        "            late-11    [000]     5.000035: hrtimer_start:        hrtimer=0x77 function=second/0x0 expires=5 softexpires=4\n",
        "hrtimer=0x77 now=5 function=0x00000088\n",
        "kfree:                (second+0x4) ptr=0x99\n",
        "op=FUTEX_WAKE|FUTEX_PRIVATE_FLAG uaddr=0x00007f00 val=1\n",
    ];
    for line in expected {
        assert!(text.contains(line), "{line} is not in\n{text}");
    }
    let kernel = self::text(&file, Mode::Kernel);
    for line in [
        "          worker-7       [000] .....     5.000002: second <-first\n",
        "sched_wakeup: comm=late\n",
        "<stack trace >\n => second\n => third\n",
        ": first: said\n",
    ] {
        assert!(kernel.contains(line), "{line} is not in\n{kernel}");
    }
}

#[test]
fn forms_of_their_own_are_trace_cmds() {
    let folder = tempfile::tempdir().expect("a directory");
    for (index, machine) in Machine::ALL.into_iter().enumerate() {
        let path = folder.path().join(format!("{index}.dat"));
        let mut dat = own_forms(machine);
        if machine.long == 4 {
            dat.kallsyms = KALLSYMS.replace("ffffffff81", "81");
        }
        // An instance with the first of the events, at a later time and behind a loss.
        let (header, length) = (8 + machine.long, 4 + 8 + 2 * machine.long);
        let event = dat.cpus[0][header..header + length].to_vec();
        for (name, lost) in [("other", Some(Some(3))), ("a-third", Some(None))] {
            let cpus = vec![machine.page(4096, 6_000_000_000, &event, lost)];
            let clock = "mono".to_owned();
            dat.instances.push(Instance { name: name.to_owned(), clock, page_size: 4096, cpus });
        }
        std::fs::write(&path, dat.v6()).expect("written");
        let Some(theirs) = report(&path, &[]) else { return };
        let file = TraceFile::open(&path).expect("a trace.dat");
        assert!(compare(&format!("{machine:?}"), &theirs, &text(&file, Mode::TraceCmd)) > 30);
    }
}

proptest! {
    #![proptest_config(cases(400))]

    /// Whatever a format file has and whatever a record holds: it is printed.
    #[test]
    fn nothing_makes_it_panic(
        words in prop::collection::vec(prop::sample::select(vec![
            "REC->a", "REC->name", "REC->many", "REC->mac", "(", ")", "[", "]", "{", "}", ",", ",", "?", ":", "+", "-", "*", "/", "%",
            "<<", ">>", "&", "&&", "!", "~", "==", "<", "0", "1", "0xffffffffffffffffULL", "-1", "\"%s\"", "\"x%*pbl\"", "(u8 *)", "(long)",
            "__print_flags(", "__print_symbolic(", "__print_array(", "__print_hex(", "__get_str(name)", "__get_bitmask(name)",
            "__get_dynamic_array(other)", "__get_dynamic_array_len(name)", "sizeof(", "name", "'c'", "jiffies", "->", ";",
        ]), 0..24),
        head in prop::sample::select(vec![
            "\"%d %s %p\"", "\"%*.*d%c\"", "\"%ps %pI4 %pM\"", "\"%-*s|%.*s\"", "\"%*ph %*pbl %pUb %pISpc\"", "\"%s%s%s\"", "\"%llx\"",
        ]),
        bytes in prop::collection::vec(any::<u8>(), 0..160),
    ) {
        let machine = Machine::PC;
        let format = machine.format("event", 900, &FIELDS, &format!("{head}, {}", words.join(" ")));
        let mut record = bytes;
        record.resize(record.len().max(8), 0);
        record[..2].copy_from_slice(&900u16.to_le_bytes());
        let file = TraceFile::from_bytes(recording(machine, &[("made", format)], &[record]).v6()).expect("a file");
        for mode in [Mode::Kernel, Mode::TraceCmd] {
            prop_assert!(text(&file, mode).contains("event:"));
        }
    }

    /// Records of real formats, filled with anything.
    #[test]
    fn no_record_makes_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..120), id in prop::sample::select(vec![1u16, 4, 5, 10, 11, 300, 301, 302, 303, 304, 305])) {
        let mut dat = own_forms(Machine::PC);
        let mut record = bytes;
        record.resize(record.len().max(8), 0);
        record[..2].copy_from_slice(&id.to_le_bytes());
        let data = Machine::PC.event(0, &record);
        dat.cpus = vec![Machine::PC.page(4096, 1, &data, None)];
        let file = TraceFile::from_bytes(dat.v6()).expect("a file");
        for mode in [Mode::Kernel, Mode::TraceCmd] {
            prop_assert!(text(&file, mode).lines().count() > 1);
        }
    }
}
