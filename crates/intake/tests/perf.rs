//! perf.data, compared event by event with what `perf script` said of the same file.

mod formats;

use formats::{read, read_bytes, survives_harm, unpacked};
use whylate_base::{Cpu, Ns, Tid};
use whylate_events::{Event, EventKind, Kind, KindSet, TaskState};

/// `10992 [000] 25194.767792881:  sched:sched_waking: comm=...`
struct Line {
    ts: Ns,
    cpu: Cpu,
    tid: Tid,
    name: String,
    rest: String,
}

fn script(name: &str) -> Vec<Line> {
    let text = String::from_utf8(unpacked(name)).expect("text");
    let line = |line: &str| {
        let (tid, rest) = line.trim_start().split_once(" [").expect("a CPU");
        let (cpu, rest) = rest.split_once(']').expect("a CPU");
        let (time, rest) = rest.trim_start().split_once(": ").expect("a time");
        let (seconds, nanos) = time.split_once('.').expect("nanoseconds");
        let (name, rest) = rest.trim_start().split_once(": ").expect("a name");
        let number = |text: &str| text.parse::<i64>().expect("a number");
        Line {
            ts: Ns(number(seconds) * 1_000_000_000 + number(nanos)),
            cpu: Cpu(number(cpu) as u32),
            tid: Tid(number(tid) as i32),
            name: name.split_once(':').expect("a group").1.to_owned(),
            rest: rest.to_owned(),
        }
    };
    text.lines().map(line).collect()
}

fn name(event: &Event) -> &'static str {
    match event.kind {
        EventKind::Switch(_) => "sched_switch",
        EventKind::Waking(_) => "sched_waking",
        EventKind::Wakeup { new: false, .. } => "sched_wakeup",
        EventKind::IrqEntry { .. } => "irq_handler_entry",
        EventKind::IrqExit { .. } => "irq_handler_exit",
        EventKind::HrtimerExpire(_) => "hrtimer_expire_entry",
        EventKind::HrtimerExpireExit { .. } => "hrtimer_expire_exit",
        _ => "other",
    }
}

fn field<'l>(line: &'l str, name: &str) -> &'l str {
    let (_, rest) = line.split_once(&format!("{name}=")).unwrap_or_else(|| panic!("{name} in {line}"));
    // Names of threads may have blanks; what follows them is another field or the arrow.
    rest.split([' ', ']']).next().unwrap_or_default()
}

fn same(events: &[Event], lines: &[Line]) {
    assert_eq!(events.len(), lines.len());
    for (event, line) in events.iter().zip(lines) {
        let shown = &line.rest;
        // perf calls a thread that is exiting -1; its record still has its id.
        let tid = if line.tid == Tid(-1) { event.context.tid } else { line.tid };
        assert_eq!((event.ts, event.cpu, event.context.tid), (line.ts, line.cpu, tid), "{shown}");
        assert_eq!(name(event), line.name, "{shown}");
        match event.kind {
            EventKind::Switch(switch) => {
                assert!(
                    shown.contains(&format!("prev_comm={} prev_pid={} ", switch.prev_comm, switch.prev_tid))
                );
                assert!(shown.ends_with(&format!(
                    "next_comm={} next_pid={} next_prio={}",
                    switch.next_comm, switch.next_tid, switch.next_prio.0
                )));
                assert_eq!(field(shown, "prev_prio"), switch.prev_prio.0.to_string());
                let state = match field(shown, "prev_state") {
                    "R" => TaskState::Runnable,
                    "R+" => TaskState::Preempted,
                    "S" => TaskState::Interruptible,
                    "D" => TaskState::Uninterruptible,
                    "I" => TaskState::Idle,
                    "X" | "Z" => TaskState::Dead,
                    "T" => TaskState::Stopped,
                    "t" => TaskState::Traced,
                    _ => TaskState::Other,
                };
                assert_eq!(switch.prev_state, state, "{shown}");
            }
            EventKind::Waking(wake) | EventKind::Wakeup { wake, .. } => {
                let cpu = format!("{:03}", wake.target_cpu.0);
                let (comm, tid, prio) = (wake.comm, wake.tid, wake.prio.0);
                assert_eq!(*shown, format!("comm={comm} pid={tid} prio={prio} target_cpu={cpu}"));
            }
            EventKind::HrtimerExpire(expiry) => {
                assert_eq!(field(shown, "hrtimer"), format!("0x{:x}", expiry.hrtimer));
                assert_eq!(field(shown, "now"), expiry.now.0.to_string());
            }
            _ => {}
        }
    }
}

#[test]
fn a_file_is_read_as_perf_script_reads_it() {
    let (events, info) = read("perf_file.data.gz");
    same(&events, &script("perf_file.script.txt.gz"));
    assert_eq!(info.format, "perf.data in gzip");
    assert_eq!((info.events, info.cpus, info.lost_events), (201, 2, 0));
    assert_eq!(info.clock.as_deref(), Some("perf"));
    assert_eq!(info.machine.as_deref(), Some("x86_64"));
    assert_eq!(info.damage, []);
    let recorded = [Kind::Switch, Kind::Waking, Kind::Wakeup, Kind::Irq, Kind::HrtimerExpire];
    assert_eq!(info.recorded, Some(KindSet::of(&recorded)));
}

#[test]
fn a_compressed_recording_from_a_pipe_is_read_as_perf_script_reads_it() {
    let (events, info) = read_bytes(unpacked("perf_pipe_zstd.data.gz"));
    same(&events, &script("perf_pipe_zstd.script.txt.gz"));
    assert_eq!(info.format, "perf.data, piped (zstd)");
    assert_eq!((info.events, info.damage), (391, vec![]));
}

#[test]
fn a_pipe_that_was_cut_gives_what_came_before() {
    let whole = unpacked("perf_pipe_zstd.data.gz");
    let (all, _) = read_bytes(whole.clone());
    let (events, info) = read_bytes(whole[..whole.len() - 700].to_vec());
    assert!(!info.damage.is_empty());
    // Of two CPUs, whose buffers follow each other, not the same time is missing.
    assert!(events.len() < all.len() && events.len() > all.len() / 3, "{} of {}", events.len(), all.len());
    assert!(events.iter().all(|event| all.contains(event)));
}

#[test]
fn a_damaged_record_costs_itself_and_is_reported() {
    let whole = unpacked("perf_file.data.gz");
    let (all, _) = read_bytes(whole.clone());
    // A sample in the middle of the data: its size becomes 1.
    let raw =
        whole.windows(8).enumerate().filter(|(_, w)| w[..4] == 9u32.to_le_bytes() && w[6..] == [0x60, 0]);
    let at = raw.map(|(at, _)| at).filter(|at| at % 8 == 0).nth(20).expect("a sample");
    let mut harmed = whole;
    harmed[at + 6..at + 8].copy_from_slice(&[1, 0]);
    let (events, info) = read_bytes(harmed);
    assert_eq!(info.events, all.len() as u64 - 1);
    let lost =
        events.iter().filter(|event| matches!(event.kind, EventKind::Lost { count: None, .. })).count();
    assert!((1..=2).contains(&lost), "{lost}");
    assert!(info.damage.iter().any(|damage| damage.offset == Some(at as u64)), "{:?}", info.damage);
}

#[test]
fn harm_is_survived() {
    survives_harm(&unpacked("perf_file.data.gz"), 80, 400);
    survives_harm(&unpacked("perf_pipe_zstd.data.gz"), 80, 400);
}

#[test]
fn only_what_is_wanted_comes_out() {
    let wanted = KindSet::of(&[Kind::Waking]);
    let source = whylate_intake::open(&formats::fixture("perf_file.data.gz"), wanted);
    let (events, info) = formats::drain(source.unwrap_or_else(|error| panic!("{error}")));
    assert_eq!((events.len(), info.events), (24, 201));
    assert!(events.iter().all(|event| matches!(event.kind, EventKind::Waking(_))));
}
