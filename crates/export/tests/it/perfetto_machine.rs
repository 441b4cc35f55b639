//! Another machine's tracks in a Perfetto trace: in the written trace's time, with arrows for packets.

use crate::any_event::source;
use crate::perfetto::{Fields, Value};
use std::collections::BTreeMap;
use whylate_base::{Comm, Cpu, Ns, Priority, Tid};
use whylate_events::{Context, Event, EventKind, Switch, TaskState};
use whylate_export::Cut;
use whylate_export::perfetto::{OtherMachine, PacketPart, write_beside};
use whylate_ledger::Options;

fn event(us: i64, kind: EventKind) -> Event {
    Event { ts: Ns::from_us(us), cpu: Cpu(0), context: Context::default(), kind }
}

fn switch(us: i64, prev: i32, next: i32) -> Event {
    let comm = |tid: i32| Comm::from(if tid == 0 { "swapper/0" } else { "slave" });
    event(
        us,
        EventKind::Switch(Switch {
            prev_comm: comm(prev),
            prev_tid: Tid(prev),
            prev_prio: Priority::DEFAULT,
            prev_state: TaskState::Interruptible,
            next_comm: comm(next),
            next_tid: Tid(next),
            next_prio: Priority::realtime(50),
        }),
    )
}

#[test]
fn the_other_machine_is_shown_in_this_ones_time() {
    let mut own = source(vec![switch(100, 0, 5), switch(200, 5, 0), switch(900, 0, 5)], None);
    // Its clock is a second ahead. An interrupt is not over at the end of the recording.
    let ahead = Ns::from_secs(1);
    let irq = |us: i64| event(us, EventKind::IrqEntry { irq: 25, name: "virtio0".into() });
    let there = vec![
        event(1_000_290, EventKind::IrqExit { irq: 25 }),
        irq(1_000_300),
        event(1_000_310, EventKind::IrqExit { irq: 25 }),
        switch(1_000_320, 0, 9),
        switch(1_000_400, 9, 0),
        irq(1_000_950),
    ];
    let mut theirs = source(there, None);
    let part = |start: i64, end: i64, tid: i32| PacketPart {
        start: Ns::from_us(start),
        end: Ns::from_us(end),
        thread: (Tid(tid), Comm::from("t")),
    };
    let packets = [[part(100, 200, 5), part(300, 400, 9), part(800, 900, 5)]];
    let to_own = |at: Ns| at - ahead;
    let other =
        OtherMachine { source: &mut theirs, to_own: &to_own, error: Ns::from_us(80), packets: &packets };
    let mut trace = Vec::new();
    let (written, _) = write_beside(&mut own, &Cut::default(), &Options::default(), Some(other), &mut trace)
        .expect("written");
    assert_eq!((written.events, written.of_other), (3, 6));

    let mut names = BTreeMap::new();
    let mut slices: BTreeMap<u64, Vec<(u64, u64)>> = BTreeMap::new();
    let (mut begun, mut ended) = (BTreeMap::new(), BTreeMap::new());
    for packet in Fields::of(&trace).messages(1) {
        for track in packet.messages(60) {
            names.insert(track.one(1).number(), track.one(2).text().to_owned());
        }
        for event in packet.messages(11) {
            let (at, track) = (packet.one(8).number() / 1_000, event.one(11).number());
            slices.entry(track).or_default().push((at, event.one(9).number()));
            for (field, known) in [(47, &mut begun), (48, &mut ended)] {
                for id in event.all(field) {
                    let Value::Fixed(id) = *id else { panic!("{id:?}") };
                    known.insert(id, (at, names[&track].clone()));
                }
            }
        }
    }
    let of = |name: &str| {
        let track = names.iter().find(|(_, known)| *known == name).map(|(track, _)| track);
        slices[track.unwrap_or_else(|| panic!("{name} in {names:?}"))].clone()
    };
    assert_eq!(of("peer: CPU 0, threads"), [(320, 1), (400, 2)]);
    assert_eq!(of("peer: CPU 0, interrupts"), [(300, 1), (310, 2), (950, 1), (950, 2)]);
    let arrows: Vec<_> = begun.iter().map(|(id, (from, _))| (*from, ended[id].0)).collect();
    assert_eq!(arrows, [(100, 300), (300, 800)]);
    assert!(begun.values().any(|(_, name)| name == "packets: the peer"), "{begun:?}");
}
