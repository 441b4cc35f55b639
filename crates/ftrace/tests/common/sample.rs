//! A recording of two CPUs that switch, made up for any machine.

use super::{Dat, Machine, Value};
use whylate_ftrace::format::EventFormat;

/// Bytes of its pages.
pub(crate) const PAGE: usize = 1024;
const FLAGS: &str = r#""...", __print_flags(REC->prev_state & 255, "|", { 0x1, "S" }, { 0x2, "D" }, { 0x80, "I" }) : "R", REC->prev_state & 0x100 ? "+" : "", REC->next_comm"#;

fn switch_format(machine: Machine) -> String {
    let fields = [
        "char prev_comm[16]",
        "pid_t prev_pid",
        "int prev_prio",
        "long prev_state",
        "char next_comm[16]",
        "pid_t next_pid",
        "int next_prio",
    ];
    machine.format("sched_switch", 300, &fields, FLAGS)
}

fn print_format(machine: Machine) -> String {
    machine.format("print", 5, &["unsigned long ip", "char buf[]"], "\"%ps: %s\"")
}

/// Two CPUs that each switch 60 times, over several pages, with losses before the second
/// page of CPU 1 and a line of text at the end of CPU 0.
pub(crate) fn dat(machine: Machine) -> Dat {
    let (switch, print) = (switch_format(machine), print_format(machine));
    let format = EventFormat::parse("sched", &switch).expect("a format");
    let print_parsed = EventFormat::parse("ftrace", &print).expect("a format");
    let cpus = (0..2u64).map(|cpu| {
        let events: Vec<Vec<u8>> = (0..60)
            .map(|n| {
                let next = format!("task/{cpu} {n}");
                let values = [
                    ("common_pid", Value::Int(n)),
                    ("common_flags", Value::Int(1)),
                    ("common_preempt_count", Value::Int(0x12)),
                    ("prev_comm", Value::Text("a name of 15 ch")),
                    ("prev_pid", Value::Int(n)),
                    ("prev_prio", Value::Int(-1)),
                    ("prev_state", Value::Int(if n % 2 == 0 { 0x100 } else { 2 })),
                    ("next_comm", Value::Text(&next)),
                    ("next_pid", Value::Int(n + 1)),
                    ("next_prio", Value::Int(120)),
                ];
                machine.record(&format, &values)
            })
            .collect();
        let text = machine.record(&print_parsed, &[("buf", Value::Text("hello, late world\n"))]);
        let (mut pages, mut time) = (Vec::new(), 1_000_000 + cpu * 7);
        for (index, chunk) in events.chunks(10).enumerate() {
            let mut data = Vec::new();
            let first = time;
            for (n, event) in chunk.iter().enumerate() {
                let delta = if n == 0 { 0 } else { 1000 };
                time += delta;
                data.extend(machine.event(delta, event));
            }
            if index == 5 && cpu == 0 {
                data.extend(machine.event(10, &text));
            }
            let lost = (cpu == 1 && index == 1).then_some(Some(77));
            pages.extend(machine.page(PAGE, first, &data, lost));
            time += 200_000_000;
        }
        pages
    });
    Dat {
        machine,
        page_size: PAGE,
        ftrace: vec![print],
        systems: vec![("sched".into(), vec![switch.clone()])],
        kallsyms: "ffff0000 T start\n".into(),
        comms: "1 init\n7 a name\n".into(),
        clock: "mono".into(),
        cpus: cpus.collect(),
        counts: Vec::new(),
        options: Vec::new(),
        instances: Vec::new(),
    }
}
