//! Call stacks in Perfetto traces, put together again by what each sequence of packets interned.

use crate::perfetto::Fields;
use std::collections::BTreeMap;
use std::sync::Arc;
use whylate_base::{Comm, Cpu, CpuSet, Ns, Tid};
use whylate_events::{
    AddressId, CodeAddress, CodeLocation, CodeModule, Context, Event, EventKind, ModuleId, ModuleKind,
    SampleKind, StackId, StackSample, Stacks, TraceInfo, VecSource,
};
use whylate_export::{Cut, Written, perfetto};
use whylate_ledger::{Options, Scope, Select};

fn location(function: &str, line: u32) -> CodeLocation {
    CodeLocation {
        function: Some(function.to_owned()),
        file: Some("/src/control.c".to_owned()),
        line: Some(line),
    }
}

/// In `control`: `step` inlines `filter`; below it `main`, and code without a name. In the kernel: `schedule`.
fn stacks() -> Stacks {
    let address = |module: Option<u32>, offset, locations| CodeAddress {
        module: module.map(ModuleId),
        offset,
        locations,
    };
    let sample = |time, tid, cpu, kind, stack| StackSample {
        time: Ns(time),
        tid: Tid(tid),
        pid: Tid(10),
        cpu: Cpu(cpu),
        kind,
        stack: StackId(stack),
    };
    let kernel = CodeLocation { function: Some("schedule".to_owned()), ..CodeLocation::default() };
    Stacks {
        modules: vec![
            CodeModule {
                path: "/opt/bin/control".to_owned(),
                build_id: Some("00ffa1".to_owned()),
                kind: ModuleKind::Program,
            },
            CodeModule { path: "[kernel]".to_owned(), build_id: None, kind: ModuleKind::Kernel },
        ],
        addresses: vec![
            address(Some(0), 0x1100, vec![location("filter", 7), location("step", 20)]),
            address(Some(0), 0x1200, vec![location("main", 30)]),
            address(Some(0), 0x1300, Vec::new()),
            address(Some(1), 0xffff_ffff_8000_0000, vec![kernel]),
            address(None, 0x77, Vec::new()),
        ],
        stacks: vec![
            vec![AddressId(0), AddressId(1), AddressId(2)],
            vec![AddressId(3), AddressId(1), AddressId(4)],
            Vec::new(),
        ],
        samples: vec![
            sample(100, 11, 0, SampleKind::CpuClock, 0),
            sample(150, 12, 1, SampleKind::SwitchOut, 1),
            sample(200, 11, 0, SampleKind::CpuClock, 1),
            sample(300, 11, 1, SampleKind::CpuClock, 0),
            sample(350, 11, 1, SampleKind::Wake { woken: Tid(12) }, 2),
        ],
        period: Ns::from_ms(1),
        ..Stacks::default()
    }
}

/// A trace with a fork at its begin, so that the thread 12 has a name, and another event at its end.
fn written(cut: &Cut) -> (Vec<u8>, Written) {
    let fork = EventKind::Fork { parent: Tid(10), child: Tid(12), comm: Comm::from("logger") };
    let context = Context { tid: Tid(10), ..Context::default() };
    let event = |ts, kind| Event { ts: Ns(ts), cpu: Cpu(0), context, kind };
    let events = vec![event(50, fork), event(400, EventKind::Exit { tid: Tid(12) })];
    let info = TraceInfo { stacks: Some(Arc::new(stacks())), ..TraceInfo::default() };
    let mut out = Vec::new();
    let mut source = VecSource::new(events, info, true);
    let (written, _) = perfetto::write(&mut source, cut, &Options::default(), &mut out).expect("written");
    (out, written)
}

/// A frame as a reader of the trace has it: file, build id, offset, function, source and line, kind.
type SeenFrame = (String, Vec<u8>, u64, String, String, u64);

#[derive(Debug, PartialEq)]
struct Seen {
    time: u64,
    pid: u64,
    tid: u64,
    cpu: u64,
    event: String,
    is_kernel: bool,
    /// The outermost first.
    frames: Vec<SeenFrame>,
}

/// What one sequence has interned: by field of `InternedData` and number.
type Tables<'a> = BTreeMap<(u64, u64), Fields<'a>>;

fn seen(trace: &[u8]) -> Vec<Seen> {
    let mut sequences: BTreeMap<u64, (Tables<'_>, String)> = BTreeMap::new();
    let mut seen = Vec::new();
    for packet in Fields::of(trace).messages(1) {
        let Some(sample) = packet.messages(66).next() else { continue };
        let (tables, event) = sequences.entry(packet.one(10).number()).or_default();
        assert_eq!(
            packet.one(13).number() & 1 != 0,
            tables.is_empty(),
            "cleared at the start, and only there"
        );
        for defaults in packet.messages(59) {
            let timebase = Fields::of(defaults.one(12).bytes());
            *event = Fields::of(timebase.one(1).bytes()).one(10).text().to_owned();
        }
        for interned in packet.messages(12) {
            for (&field, values) in &interned.0 {
                for value in values {
                    let entry = Fields::of(value.bytes());
                    let before = tables.insert((field, entry.one(1).number()), entry);
                    assert!(before.is_none(), "interned once");
                }
            }
        }
        let string = |table: u64, fields: &Fields<'_>, field: u64| {
            let id = fields.all(field).first().map_or(0, |id| id.number());
            tables.get(&(table, id)).map(|entry| entry.one(2).bytes().to_vec()).unwrap_or_default()
        };
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
        let frame = |id: u64| {
            let frame = &tables[&(6, id)];
            let mapping = frame.all(3).first().map(|id| &tables[&(19, id.number())]);
            let path = mapping.map_or_else(String::new, |mapping| {
                let part = |id: &crate::perfetto::Value<'_>| {
                    format!("/{}", tables[&(17, id.number())].one(2).text())
                };
                mapping.all(7).iter().map(part).collect()
            });
            let build_id = mapping.map_or_else(Vec::new, |mapping| string(16, mapping, 2));
            let offset = frame.all(4).first().map_or(0, |offset| offset.number());
            let line = frame.all(6).first().map_or(0, |line| line.number());
            (path, build_id, offset, text(string(5, frame, 2)), text(string(18, frame, 5)), line)
        };
        let callstack = &tables[&(7, sample.one(4).number())];
        seen.push(Seen {
            time: packet.one(8).number(),
            pid: sample.one(2).number(),
            tid: sample.one(3).number(),
            cpu: sample.one(1).number(),
            event: event.clone(),
            is_kernel: sample.one(5).number() == 1,
            frames: callstack.all(2).iter().map(|id| frame(id.number())).collect(),
        });
    }
    seen
}

#[test]
fn samples_have_their_stacks_with_files_functions_and_lines() {
    let (trace, counted) = written(&Cut::default());
    let program = |offset, function: &str, line| {
        let source = if function.is_empty() { "" } else { "/src/control.c" };
        let id = vec![0x00, 0xff, 0xa1];
        ("/opt/bin/control".to_owned(), id, offset, function.to_owned(), source.to_owned(), line)
    };
    let kernel =
        ("/[kernel]".to_owned(), vec![], 0xffff_ffff_8000_0000, "schedule".to_owned(), String::new(), 0);
    let nowhere = (String::new(), vec![], 0, String::new(), String::new(), 0);
    let work = || {
        vec![
            program(0x1300, "", 0),
            program(0x1200, "main", 30),
            program(0x1100, "step", 20),
            program(0x1100, "filter", 7),
        ]
    };
    let blocked = || vec![nowhere.clone(), program(0x1200, "main", 30), kernel.clone()];
    let expected = |time, tid, cpu, event: &str, is_kernel, frames| Seen {
        time,
        pid: 10,
        tid,
        cpu,
        event: event.to_owned(),
        is_kernel,
        frames,
    };
    assert_eq!(
        seen(&trace),
        [
            expected(100, 11, 0, "cpu-clock", false, work()),
            expected(150, 12, 1, "context-switches", true, blocked()),
            expected(200, 11, 0, "cpu-clock", true, blocked()),
            expected(300, 11, 1, "cpu-clock", false, work()),
            expected(350, 11, 1, "sched:sched_waking", false, vec![]),
        ]
    );
    assert_eq!(counted.samples, 5);
}

#[test]
fn a_cut_leaves_out_samples_of_other_times_cpus_and_threads() {
    let cpus: CpuSet = "1".parse().expect("a CPU");
    let time = |ns| Some(whylate_ledger::Instant::Clock(Ns(ns)));
    let scope = Scope { from: time(140), to: time(300), ..Scope::default() };
    let cpu = Scope { cpus: Some(cpus), ..Scope::default() };
    let task = |tasks| Cut { tasks, ..Cut::default() };
    for (what, cut, times) in [
        ("time", Cut { scope, ..Cut::default() }, vec![150, 200, 300]),
        ("CPU", Cut { scope: cpu, ..Cut::default() }, vec![150, 300, 350]),
        ("thread", task(vec![Select::Tid(Tid(11))]), vec![100, 200, 300, 350]),
        ("name", task(vec![Select::Comm("logger".to_owned())]), vec![150]),
    ] {
        let (trace, counted) = written(&cut);
        assert_eq!(seen(&trace).iter().map(|seen| seen.time).collect::<Vec<_>>(), times, "{what}");
        assert_eq!(counted.samples, times.len() as u64, "{what}");
    }
}
