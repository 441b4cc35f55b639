//! Events with a form of their own, whatever their format file has: functions, stacks, switches, timers, futexes.

use crate::common::{Dat, Instance, Machine, Value};
use crate::trace_cmd::{compare, report};
use crate::{KALLSYMS, parsed, recording, text};
use whylate_ftrace::dat::TraceFile;
use whylate_ftrace::print::Mode;

/// Events with a form of their own, in a file that trace-cmd reads as well.
pub(super) fn own_forms(machine: Machine) -> Dat {
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
