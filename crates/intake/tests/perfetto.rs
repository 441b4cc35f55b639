//! Perfetto traces. The fixtures were written by Google's own protobuf library from its own descriptions
//! of the messages, out of the recording that `perf_file.data.gz` is.

mod formats;

use formats::{fixture, read, read_bytes, survives_harm};
use whylate_base::{Cpu, Ns, Priority, Tid};
use whylate_events::{Event, EventKind, KindSet, Symbol};

/// Events behind those of the recording: of kinds that it did not have.
fn extra(events: &[Event]) -> usize {
    events.iter().position(|event| matches!(event.kind, EventKind::Lost { .. })).expect("a loss")
}

#[test]
fn it_has_the_events_of_the_recording_it_was_made_of() {
    let (events, info) = read("perfetto_plain.pftrace");
    let (recorded, _) = read("perf_file.data.gz");
    assert_eq!(extra(&events), recorded.len());
    for (event, recorded) in events.iter().zip(&recorded) {
        assert_eq!(
            (event.ts, event.cpu, event.context.tid),
            (recorded.ts, recorded.cpu, recorded.context.tid)
        );
        assert_eq!(event.kind, recorded.kind);
    }
    assert_eq!((info.format.as_str(), info.events, info.cpus), ("Perfetto", 212, 2));
    assert_eq!(info.clock.as_deref(), Some("boot"));
    assert_eq!(info.kernel_release.as_deref(), Some("6.18.44-test"));
    // The difference of what the kernel had counted at the beginning and at the end.
    assert_eq!((info.lost_events, info.damage), (7, vec![]));
}

#[test]
fn every_other_kind_of_event() {
    let (events, _) = read("perfetto_plain.pftrace");
    let shown: Vec<String> =
        events[extra(&events)..].iter().map(|event| format!("{:?}", event.kind)).collect();
    assert_eq!(
        shown,
        [
            "Lost { count: None, since: None, kinds: {} }",
            "Marker(\"whylate: preempt_rt 1\")",
            "CpuIdle { state: Some(2) }",
            "CpuIdle { state: None }",
            "PageFault(PageFault { address: 139637976731648, ip: 4198400, user: true, error_code: 4 })",
            "ContentionBegin { lock: 18446612682375452280, flags: ContentionFlags(32) }",
            "ContentionEnd { lock: 18446612682375452280, ret: 0 }",
            "VectorEntry { name: \"reschedule\" }",
            "VectorExit { name: \"reschedule\" }",
            "VectorEntry { name: \"local_timer\" }",
            "Signal(Signal { sig: 24, code: 128, tid: Tid(77), comm: \"victim\" })",
            "PiSetprio { tid: Tid(55), old: Priority(120), new: Priority(19) }",
        ]
    );
}

#[test]
fn compact_switches_know_who_leaves_by_who_came() {
    let (plain, _) = read("perfetto_plain.pftrace");
    let (compact, info) = read("perfetto_compact.pftrace");
    assert_eq!((info.events, info.damage), (212, vec![]));
    assert_eq!(plain.len(), compact.len());
    let mut first = [true; 2];
    for (plain, compact) in plain.iter().zip(&compact) {
        let (EventKind::Switch(plain), EventKind::Switch(switch)) = (plain.kind, compact.kind) else {
            assert_eq!(plain.kind, compact.kind);
            continue;
        };
        assert_eq!(
            (plain.next_tid, plain.next_comm, plain.next_prio),
            (switch.next_tid, switch.next_comm, switch.next_prio)
        );
        assert_eq!(plain.prev_state, switch.prev_state);
        if std::mem::take(&mut first[compact.cpu.0 as usize]) {
            // It is not known, and no thread is invented.
            assert!(switch.prev_tid < Tid(0), "{switch:?}");
        } else {
            assert_eq!((plain.prev_tid, plain.prev_prio), (switch.prev_tid, switch.prev_prio));
        }
    }
}

#[test]
fn compressed_packets_hold_the_same() {
    let (plain, plain_info) = read("perfetto_plain.pftrace");
    let (compressed, info) = read("perfetto_compressed.pftrace");
    assert_eq!(compressed, plain);
    assert_eq!((info.events, info.damage), (plain_info.events, vec![]));
}

#[test]
fn the_process_tree_names_threads() {
    let source = whylate_intake::open(&fixture("perfetto_plain.pftrace"), KindSet::ALL);
    let comms = source.unwrap_or_else(|error| panic!("{error}")).comms();
    assert_eq!(comms, [(Tid(4242), "from the tree".into())]);
}

#[test]
fn a_trace_that_is_cut_gives_what_comes_before() {
    let whole = std::fs::read(fixture("perfetto_plain.pftrace")).expect("a fixture");
    let (all, _) = read_bytes(whole.clone());
    for cut in [whole.len() / 2, whole.len() * 3 / 4, whole.len() - 3] {
        let (events, info) = read_bytes(whole[..cut].to_vec());
        assert!(events.len() > all.len() * cut / whole.len() / 2, "{} at {cut}", events.len());
        assert!(events.iter().all(|event| all.contains(event)));
        assert!(!info.damage.is_empty(), "cut at {cut}");
    }
}

#[test]
fn a_packet_that_makes_no_sense_is_passed_over() {
    let whole = std::fs::read(fixture("perfetto_plain.pftrace")).expect("a fixture");
    let mut harmed = whole.clone();
    harmed.splice(0..0, [0x0a, 2, 8, 1].into_iter().chain([0x0a, 2, 8, 1]).chain([0xff; 9]));
    let (events, info) = read_bytes({
        // The sniffer must see packets first.
        let mut bytes: Vec<u8> = [0x0a, 2, 8, 1].repeat(8);
        bytes.extend(&harmed);
        bytes
    });
    assert_eq!(events, read_bytes(whole).0);
    assert_eq!(info.damage.iter().map(|damage| damage.offset).collect::<Vec<_>>(), [Some(40)]);
}

/// A field with a length, in protobuf's encoding.
fn bytes_field(number: u32, body: &[u8]) -> Vec<u8> {
    let mut out = varint(u64::from(number << 3 | 2));
    out.extend(varint(body.len() as u64));
    out.extend(body);
    out
}

fn int_field(number: u32, value: u64) -> Vec<u8> {
    [varint(u64::from(number << 3)), varint(value)].concat()
}

fn varint(mut value: u64) -> Vec<u8> {
    let mut out = Vec::new();
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
    out
}

#[test]
fn events_that_the_trace_describes_itself() {
    // `denser_generic_event_encoding`: field 70000 is page_fault_user, with fields 1 and 3.
    let field = |number, name: &[u8]| bytes_field(2, &[bytes_field(1, name), int_field(3, number)].concat());
    let message = [bytes_field(1, b"page_fault_user"), field(1, b"address"), field(3, b"ip")].concat();
    let descriptor = bytes_field(11, &[int_field(1, 70_000), bytes_field(2, &message)].concat());
    let fault = bytes_field(70_000, &[int_field(1, 0x1000), int_field(3, 0x2000)].concat());
    let event = bytes_field(2, &[int_field(1, 5), int_field(2, 7), fault].concat());
    let bundle = bytes_field(1, &[int_field(1, 3), event, descriptor].concat());
    let (events, info) = read_bytes(bytes_field(1, &bundle));
    assert_eq!(info.damage, []);
    let [event] = events[..] else { panic!("{events:?}") };
    assert_eq!((event.ts, event.cpu, event.context.tid), (Ns(5), Cpu(3), Tid(7)));
    assert_eq!(
        format!("{:?}", event.kind),
        "PageFault(PageFault { address: 4096, ip: 8192, user: true, error_code: 0 })"
    );
}

/// A packet of sequence 9: its table of functions, begun anew if `clear`, and a bundle of an event of CPU 0.
fn packet_with_functions(clear: bool, functions: &[(u64, &str)], time: u64, event: Vec<u8>) -> Vec<u8> {
    let function = |(number, name): &(u64, &str)| {
        bytes_field(26, &[int_field(1, *number), bytes_field(2, name.as_bytes())].concat())
    };
    let table: Vec<u8> = functions.iter().flat_map(function).collect();
    let event = bytes_field(2, &[int_field(1, time), int_field(2, 7), event].concat());
    // The table is behind the bundle that needs it, as recorders write it.
    let packet = [
        bytes_field(1, &[int_field(1, 0), event].concat()),
        int_field(10, 9),
        bytes_field(12, &table),
        int_field(13, u64::from(clear)),
    ];
    bytes_field(1, &packet.concat())
}

#[test]
fn functions_are_named_by_the_table_of_their_packets() {
    let blocked = |caller| bytes_field(18, &[int_field(1, 42), int_field(2, caller)].concat());
    let started = |function| bytes_field(58, &[int_field(1, 0xf0), int_field(2, function)].concat());
    let timer = |function| bytes_field(551, &[int_field(1, 0xf1), int_field(2, function)].concat());
    let trace = [
        packet_with_functions(true, &[(1, "msleep"), (2, "flush_to_ldisc")], 5, blocked(1)),
        packet_with_functions(false, &[], 6, started(2)),
        packet_with_functions(true, &[(1, "hrtimer_wakeup")], 7, timer(1)),
        packet_with_functions(false, &[], 8, blocked(2)),
    ];
    let (events, info) = read_bytes(trace.concat());
    assert_eq!(info.damage, []);
    let names: Vec<Symbol> = events
        .iter()
        .map(|event| match event.kind {
            EventKind::BlockedReason(reason) => reason.caller,
            EventKind::Work(work) => work.function,
            EventKind::HrtimerStart(start) => start.function,
            other => panic!("{other:?}"),
        })
        .collect();
    // The last one is a number of the first table.
    assert_eq!(names, ["msleep", "flush_to_ldisc", "hrtimer_wakeup", ""].map(Symbol::from));
}

#[test]
fn the_frequency_of_a_cpu_is_read() {
    let frequency = bytes_field(11, &[int_field(1, 1_800_000), int_field(2, 3)].concat());
    let (events, _) = read_bytes(packet_with_functions(false, &[], 5, frequency));
    let [event] = events[..] else { panic!("{events:?}") };
    assert!(matches!(event.kind, EventKind::CpuFrequency { khz: 1_800_000, target: Cpu(3) }), "{event:?}");
}

#[test]
fn harm_is_survived() {
    for name in ["perfetto_plain.pftrace", "perfetto_compact.pftrace", "perfetto_compressed.pftrace"] {
        survives_harm(&std::fs::read(fixture(name)).expect("a fixture"), 200, 1000);
    }
}

#[test]
fn priorities_are_the_kernels() {
    let (events, _) = read("perfetto_compact.pftrace");
    let stop = |event: &&Event| matches!(event.kind, EventKind::Waking(wake) if wake.prio == Priority(0));
    assert!(events.iter().find(stop).is_some());
}
