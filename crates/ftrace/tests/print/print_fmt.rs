//! Lines by the `print fmt` of an event's format file: a table of expressions, and those that are not understood.

use crate::common::{Machine, Value};
use crate::{KALLSYMS, parsed, recording, text};
use whylate_ftrace::dat::TraceFile;
use whylate_ftrace::print::{Lines, Mode};

/// The fields of an event of each type that formats have.
pub(super) const FIELDS: [&str; 11] = [
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

/// What is printed behind the name of an event with the fields of `FIELDS`.
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
