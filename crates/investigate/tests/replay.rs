//! A day in seconds: spikes, windows, journal and maxima of 24 hours through what a measurement remembers them with.
//! Memory stays flat, files stay bounded, and nothing that is counted is lost.

use std::path::Path;
use whylate_base::{Comm, Cpu, Ns, Priority, Tid};
use whylate_events::{Context, Event, EventKind, Switch, TaskState, TraceInfo, VecSource, Wake};
use whylate_investigate::flight::{Capture, Window};
use whylate_investigate::measure::{Explain, Listing, SpikeLog, Store};
use whylate_ledger::{Activation, Cause, Culprit, Explanation, Options, Select};
use whylate_probes::Spike;
use whylate_stats::Maxima;
use whylate_sys::most_allocated;

#[global_allocator]
static ALLOCATOR: whylate_sys::CountingAllocator = whylate_sys::CountingAllocator;

const HOUR: i64 = 3_600;
const THREAD: Tid = Tid(100);
const CPUS: u32 = 2;
const THRESHOLD: Ns = Ns::from_us(50);
const MAX_BYTES: u64 = 2 << 20;
/// A journal each so many seconds.
const JOURNAL: i64 = 60;
const IMAGE: usize = 64 << 10;
/// A kworker each so many seconds; something else, and something that no window explains, much more rarely.
const OFTEN: i64 = 4;
const RARELY: i64 = 610;
const NEVER_EXPLAINED: i64 = 1_000;

/// Windows that show by their length what is to be found in them.
struct Replayed {
    late: Explanation,
}

impl Replayed {
    fn new() -> Replayed {
        let event = |at: i64, current: Tid, kind| Event {
            ts: Ns(at),
            cpu: Cpu(0),
            context: Context { tid: current, ..Context::default() },
            kind,
        };
        let prio = |tid: Tid| if tid == THREAD { Priority::realtime(80) } else { Priority::DEFAULT };
        let switch = |prev: Tid, next: Tid| {
            EventKind::Switch(Switch {
                prev_comm: Comm::default(),
                prev_tid: prev,
                prev_prio: prio(prev),
                prev_state: if prev == THREAD { TaskState::Interruptible } else { TaskState::Runnable },
                next_comm: Comm::default(),
                next_tid: next,
                next_prio: prio(next),
            })
        };
        let wake = Wake { comm: Comm::default(), tid: THREAD, prio: prio(THREAD), target_cpu: Cpu(0) };
        let events = vec![
            event(0, THREAD, switch(THREAD, Tid::IDLE)),
            event(1_000_000, Tid::IDLE, EventKind::Waking(wake)),
            event(1_001_000, Tid::IDLE, EventKind::Wakeup { wake, new: false }),
            event(1_060_000, Tid::IDLE, switch(Tid::IDLE, THREAD)),
            event(1_070_000, THREAD, switch(THREAD, Tid::IDLE)),
        ];
        let options = Options { tasks: vec![Select::Tid(THREAD)], ..Options::default() };
        let mut late = whylate_ledger::explain(VecSource::new(events, TraceInfo::default(), true), &options);
        late.activations.retain(|activation| activation.due == Ns(1_000_000));
        assert_eq!(late.activations.len(), 1);
        Replayed { late }
    }

    fn activation(&self, window: &Capture) -> Activation {
        let mut activation = self.late.activations[0].clone();
        activation.due = window.from;
        let worker = window.from.0 / 1_000_000_000;
        let (cause, culprit) = match kind(worker) {
            Kind::Often => (Cause::HigherPriorityTask, format!("kworker/0:{}", worker % 7)),
            _ => (Cause::EqualPriorityTask, "multipathd".to_owned()),
        };
        activation.verdict.cause = cause;
        activation.verdict.by = Some(Culprit::Task {
            tid: Tid(worker as i32),
            comm: Comm::from(culprit.as_str()),
            priority: Priority::realtime(99),
        });
        activation
    }
}

impl Explain for Replayed {
    fn explain(&self, window: &Capture, _: &[Tid]) -> Result<Explanation, String> {
        let mut explanation = self.late.clone();
        let is_explained = !matches!(kind(window.from.0 / 1_000_000_000), Kind::Unexplained);
        explanation.activations = if is_explained { vec![self.activation(window)] } else { Vec::new() };
        Ok(explanation)
    }

    fn file(&self, _: &Capture) -> Result<Vec<u8>, String> {
        Ok(vec![0x77; IMAGE])
    }
}

#[derive(PartialEq)]
enum Kind {
    Often,
    Rare,
    Unexplained,
}

fn kind(second: i64) -> Kind {
    match second {
        _ if second % NEVER_EXPLAINED == 1 => Kind::Unexplained,
        _ if second % RARELY == 3 => Kind::Rare,
        _ => Kind::Often,
    }
}

/// The late wake-up of a second, if there is one: 60 to 331 us, a little differently each time.
fn spike(second: i64) -> Option<Spike> {
    if kind(second) == Kind::Often && second % OFTEN != 0 {
        return None;
    }
    let latency = Ns::from_us(60 + second * 7_919 % 272);
    let due = Ns::from_secs(second) + Ns::from_us(second * 104_729 % 50);
    Some(Spike { cpu: Cpu((second / OFTEN) as u32 % CPUS), tid: THREAD, due, woken: due + latency })
}

/// What is left of so many hours, and how many spikes they had.
fn replay(hours: i64, place: &Path) -> (Listing, Vec<Maxima>, u64) {
    let replayed = Replayed::new();
    let store = Store::create(place).expect("a store").with_max_bytes(MAX_BYTES);
    let mut spike_log = SpikeLog::new(5, Some(THRESHOLD), Some(store));
    let mut maxima: Vec<Maxima> = (0..CPUS).map(|_| Maxima::new(Ns::from_secs(1))).collect();
    let mut windows: Vec<Window> = (0..CPUS).map(|_| Window::new(64 << 10)).collect();
    let mut page = vec![0; 4096];
    let mut count = 0;
    for second in 1..=hours * HOUR {
        for (cpu, (window, maxima)) in windows.iter_mut().zip(&mut maxima).enumerate() {
            page[..8].copy_from_slice(&(second as u64 * 1_000_000_000).to_ne_bytes());
            window.push_bytes(&page);
            maxima.record(Ns::from_secs(second), Ns(2_000 + second * 31 % 997 + cpu as i64));
        }
        if let Some(spike) = spike(second) {
            count += 1;
            maxima[spike.cpu.0 as usize].record(Ns::from_secs(second), spike.latency());
            spike_log.offer(spike);
        }
        let now = Ns::from_secs(second) + Ns::from_ms(500);
        if spike_log.is_ready(now, Ns::from_ms(2)) {
            spike_log.take(now, Ns::from_ms(2), |spike| {
                let (from, to) = (spike.due, spike.woken);
                let cover = |(cpu, window): (u32, &Window)| window.cover(Cpu(cpu), from, to);
                Ok(Capture { from, to, cpus: (0..).zip(&windows).map(cover).collect() })
            });
        }
        spike_log.explain_next(&replayed);
        if second % JOURNAL == 0 {
            let so_far = spike_log.so_far();
            let spikes: Vec<_> =
                so_far.spikes.iter().map(|spike| (spike.measured.due, spike.latency())).collect();
            spike_log.journal(|| format!("{second} {spikes:?} {:?}", so_far.groups).into_bytes());
        }
        if second % HOUR == 0 {
            bounded(place);
        }
    }
    // The same explanations at the end, one by one: together they would be one window here.
    while spike_log.explain_next(&replayed) {}
    (spike_log.so_far(), maxima, count)
}

/// The files, with their sizes.
fn files(place: &Path) -> Vec<(String, u64)> {
    let entries = std::fs::read_dir(place).expect("a directory").map(|entry| entry.expect("an entry"));
    let name = |entry: &std::fs::DirEntry| entry.file_name().into_string().expect("text");
    entries.map(|entry| (name(&entry), entry.metadata().expect("a file").len())).collect()
}

fn bounded(place: &Path) {
    let files = files(place);
    let traces: Vec<u64> =
        files.iter().filter(|(name, _)| name.ends_with(".dat")).map(|(_, bytes)| *bytes).collect();
    assert!(traces.iter().sum::<u64>() <= MAX_BYTES, "{files:?}");
    assert_eq!(files.len(), traces.len() + 1, "traces and a journal, nothing left half-written: {files:?}");
    let journal = files.iter().find(|(name, _)| name == "run.json").expect("the journal");
    assert!(journal.1 < 4 << 20, "{journal:?}");
}

#[test]
fn a_day_takes_no_more_memory_than_an_hour_and_bounded_files() {
    let place = tempfile::tempdir().expect("a directory");
    let mut day = None;
    let hours_2 = most_allocated(|| drop(replay(2, &place.path().join("hours"))));
    let hours_24 = most_allocated(|| day = Some(replay(24, &place.path().join("day"))));
    // The maxima are as many as they will ever be after an hour and 8 minutes.
    assert!(hours_24 <= hours_2 + hours_2 / 10, "{hours_2} bytes in 2 hours, {hours_24} in 24");

    let (listing, maxima, count) = day.expect("it ran");
    let all: Vec<Spike> = (1..=24 * HOUR).filter_map(spike).collect();
    assert_eq!((all.len() as u64, listing.over_threshold), (count, Some(count)));
    assert_eq!(listing.spikes.len(), 100);
    assert_eq!(listing.not_listed, count - 100);
    let mut latencies: Vec<Ns> = all.iter().map(Spike::latency).collect();
    latencies.sort_unstable_by_key(|latency| std::cmp::Reverse(*latency));
    assert!(listing.spikes.iter().map(|spike| spike.latency()).eq(latencies[..100].iter().copied()));

    // Every spike is in a group, under a culprit without ids.
    let count_of = |kind: Kind| {
        all.iter().filter(|spike| self::kind(spike.due.0 / 1_000_000_000) == kind).count() as u64
    };
    let groups: Vec<_> =
        listing.groups.iter().map(|group| (group.cause, group.culprit.as_deref(), group.count)).collect();
    assert_eq!(
        groups,
        [
            (Some(Cause::HigherPriorityTask), Some("kworker/0 (priority 99)"), count_of(Kind::Often)),
            (Some(Cause::EqualPriorityTask), Some("multipathd (priority 99)"), count_of(Kind::Rare)),
            (None, None, count_of(Kind::Unexplained)),
        ]
    );
    for (group, seconds) in listing.groups.iter().zip([OFTEN, RARELY, NEVER_EXPLAINED]) {
        let period = group.rhythm.expect("a rhythm").period;
        assert!((period - Ns::from_secs(seconds)).0.abs() < 1_000_000, "{group:?}");
    }
    assert_eq!((listing.groups[0].first, listing.groups[0].last), {
        let often: Vec<Ns> = all
            .iter()
            .filter(|spike| self::kind(spike.due.0 / 1_000_000_000) == Kind::Often)
            .map(|s| s.due)
            .collect();
        (often[0], often[often.len() - 1])
    });

    // What is on disk are the traces of the latest, as far as there is room.
    let saved: Vec<_> = listing.spikes.iter().map(|spike| spike.saved.is_some()).collect();
    let room = (MAX_BYTES as usize) / IMAGE;
    assert_eq!(saved.iter().filter(|saved| **saved).count(), room);
    let least_saved = listing.spikes.iter().filter(|spike| spike.saved.is_some()).map(|s| s.latency()).min();
    assert!(least_saved >= Some(latencies[room - 1]), "{least_saved:?}");

    let largest = maxima.iter().flat_map(|maxima| maxima.blocks().iter().flatten()).max();
    assert_eq!(largest, latencies.first());
}
