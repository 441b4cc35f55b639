//! Thirty days in seconds: what a watch remembers, fed with the events of a thread that is late once a minute. Memory stays flat, files stay bounded, the rarest window stays, and nothing is left uncounted.

use std::path::Path;
use whylate_base::{Comm, Cpu, Ns, Priority, Tid};
use whylate_events::{Context, Event, EventKind, KindSet, Switch, TaskState, TraceInfo, Wake};
use whylate_investigate::watch::{
    GroupKey, KeptWindow, LateGroup, LateGroups, LateThreshold, LimitKind, WatchRule, WatchStore,
};
use whylate_ledger::{Cause, LiveLedger, Options, Select};
use whylate_sys::most_allocated;

#[global_allocator]
static ALLOCATOR: whylate_sys::CountingAllocator = whylate_sys::CountingAllocator;

const HOUR: i64 = 3_600;
const THREAD: Tid = Tid(1_000);
/// Activations are this far apart: fewer than a real thread's, but as many late ones.
const PERIOD: i64 = 10;
const MAX_BYTES: u64 = 1 << 20;
const IMAGE: usize = 32 << 10;
/// The second of the one activation that another thread made late.
const RARE: i64 = 5 * HOUR;

/// The events of one second.
fn second(second: i64, thread: Tid, mut apply: impl FnMut(&Event)) {
    let at = |us: i64| Ns::from_secs(second) + Ns::from_us(us);
    let hog = Tid(if second == RARE { 7 } else { 9 });
    let name = |tid: Tid| {
        Comm::from(if tid == thread {
            "ctl"
        } else if tid == hog {
            ["rare", "often"][usize::from(tid == Tid(9))]
        } else {
            ""
        })
    };
    let prio = |tid: Tid| match tid {
        tid if tid == thread => Priority::realtime(50),
        tid if tid == hog => Priority::realtime(90),
        _ => Priority::DEFAULT,
    };
    // Another CPU wakes the thread: a waker that goes on running would be another cause.
    let event = |us: i64, current: Tid, kind: EventKind| Event {
        ts: at(us),
        cpu: Cpu(u32::from(matches!(kind, EventKind::Waking(_) | EventKind::Wakeup { .. }))),
        context: Context { tid: current, ..Context::default() },
        kind,
    };
    let switch = |prev: Tid, next: Tid| {
        EventKind::Switch(Switch {
            prev_comm: name(prev),
            prev_tid: prev,
            prev_prio: prio(prev),
            prev_state: if prev == Tid::IDLE { TaskState::Runnable } else { TaskState::Interruptible },
            next_comm: name(next),
            next_tid: next,
            next_prio: prio(next),
        })
    };
    let wake = Wake { comm: name(thread), tid: thread, prio: prio(thread), target_cpu: Cpu(0) };
    let is_late = second % 60 == 0;
    let current = if is_late { hog } else { Tid::IDLE };
    if is_late {
        apply(&event(0, Tid::IDLE, switch(Tid::IDLE, hog)));
    }
    apply(&event(100, Tid::IDLE, EventKind::Waking(wake)));
    apply(&event(101, Tid::IDLE, EventKind::Wakeup { wake, new: false }));
    let running = if is_late { 3_100 } else { 110 };
    apply(&event(running, current, switch(current, thread)));
    apply(&event(running + 50, thread, switch(thread, Tid::IDLE)));
}

fn files(directory: &Path) -> (usize, u64) {
    let entries = std::fs::read_dir(directory).expect("a directory").flatten();
    let sizes = entries.filter_map(|entry| entry.metadata().ok()).map(|file| file.len());
    sizes.fold((0, 0), |(count, all), size| (count + 1, all + size))
}

/// What a replay leaves.
struct Replayed {
    late: u64,
    judged_late: u64,
    groups: Vec<LateGroup>,
    windows: Vec<KeptWindow>,
}

fn replay(days: i64, directory: &Path) -> Replayed {
    let mut store = WatchStore::open(directory, MAX_BYTES).expect("a store");
    let mut groups = LateGroups::default();
    let select = Select::Pattern("c*".to_owned());
    let rule = WatchRule { threads: Some(select.clone()), deadline: Some(Ns::from_ms(1)) };
    let threshold = LateThreshold::new(vec![rule]);
    let options = Options { tasks: vec![select], worst: 0, ..Options::default() };
    let info = TraceInfo { recorded: Some(KindSet::ALL), ..TraceInfo::default() };
    let mut ledger = LiveLedger::new(&options, info, &threshold);
    let image = vec![0x77; IMAGE];
    let mut late = 0;
    for at in (0..days * 24 * HOUR).step_by(PERIOD as usize) {
        second(at, THREAD, |event| ledger.apply(event));
        ledger.settle(Ns::from_secs(at + 1));
        for activation in ledger.take_late() {
            late += 1;
            let limit = threshold.take_limit(activation.tid, activation.due).expect("its limit");
            assert_eq!(limit.kind, LimitKind::Deadline);
            assert_eq!(activation.verdict.cause, Cause::HigherPriorityTask, "{activation:?}");
            let culprit = activation.verdict.by.map(|by| by.to_string());
            let key = GroupKey {
                thread: "ctl".to_owned(),
                cause: activation.verdict.cause.code().to_owned(),
                culprit: culprit.map(|name| name.split(':').next().unwrap_or_default().to_owned()),
            };
            let response = activation.response();
            groups.add(key.clone(), activation.due, activation.due, response);
            let window = KeptWindow {
                name: format!("ctl-{}us-at-{at}.000000000.dat", response.0 / 1_000),
                bytes: 0,
                thread: key.thread,
                cause: key.cause,
                culprit: key.culprit,
                at: activation.due,
                response,
                why: activation.verdict.why,
            };
            // A watch keeps windows of a group once a minute at most; an hour makes the test quick.
            if at % HOUR == 0 {
                store.save(window, &image, &groups).expect("saved");
            }
        }
        if at % HOUR == 0 {
            store.journal(format!("{{\"at\":{at}}}").as_bytes(), &groups);
        }
    }
    Replayed {
        late,
        judged_late: threshold.totals().1,
        groups: groups.totals(),
        windows: store.windows().to_vec(),
    }
}

#[test]
fn thirty_days_leave_memory_and_disk_flat() {
    let place = tempfile::tempdir().expect("a directory");
    let days_3 = most_allocated(|| drop(replay(3, &place.path().join("days"))));
    let mut month = None;
    let directory = place.path().join("month");
    let days_30 = most_allocated(|| month = Some(replay(30, &directory)));
    assert!(days_30 <= days_3 + days_3 / 4, "{days_3} bytes in 3 days, {days_30} in 30");

    let month = month.expect("it ran");
    assert_eq!((month.late, month.judged_late), (30 * 24 * 60, 30 * 24 * 60));
    assert_eq!(month.groups.iter().map(|group| group.count).sum::<u64>(), month.late);
    let rare = month.groups.iter().find(|group| group.culprit.as_deref() == Some("rare")).expect("its group");
    assert_eq!(rare.count, 1);
    assert!(month.windows.iter().any(|window| window.culprit == rare.culprit), "the rarest stays");
    let (count, bytes) = files(&directory);
    assert!(bytes <= MAX_BYTES + 4_096 && count <= 34, "{count} files of {bytes} bytes");
}
