//! The main job, live: a FIFO 50 thread with a period, and a FIFO 60 thread that now and then
//! takes their CPU from it. Recorded and explained, the rogue is named. Needs root and tracefs;
//! reports that and passes where there is neither.

use crate::support::answer::{answer, list, verdict};
use crate::support::run::whylate;
use crate::support::tracefs::Tracefs;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use whylate_base::{Cpu, CpuSet, Ns, Tid};
use whylate_sys::{Clock, SchedParams, SysError, getaffinity, now, setaffinity, setattr, sleep_until};
use whylate_testing::Need;

const VICTIM: &str = "the-victim";
const ROGUE: &str = "the-rogue";
const PERIOD: Ns = Ns::from_ms(10);
/// The rogue comes at every fifth period, shortly before the victim, and takes 15 % of the
/// CPU: far from what throttling would stop.
const ROGUE_PERIOD: Ns = Ns::from_ms(50);
const BURST: Ns = Ns::from_ms(8);
/// However long the recording takes.
const LIMIT: Ns = Ns::from_ms(20_000);

/// Works for `work` at each period from `first` on, until `stop`.
fn periodic(
    cpu: Cpu,
    priority: u32,
    first: Ns,
    period: Ns,
    work: Ns,
    stop: &AtomicBool,
) -> Result<(), SysError> {
    setattr(Tid(0), &SchedParams::fifo(priority))?;
    setaffinity(Tid(0), &CpuSet::from_iter([cpu]))?;
    let mut due = first;
    while !stop.load(Ordering::Relaxed) && due < first + LIMIT {
        sleep_until(Clock::Monotonic, due)?;
        let until = now(Clock::Monotonic) + work;
        while now(Clock::Monotonic) < until {
            std::hint::spin_loop();
        }
        // What was missed is missed: it must never fall behind and run without end.
        while due <= now(Clock::Monotonic) {
            due += period;
        }
    }
    Ok(())
}

fn may_use_fifo() -> bool {
    let tried = thread::spawn(|| setattr(Tid(0), &SchedParams::fifo(60))).join().expect("no panic");
    tried.map_err(|error| whylate_testing::skip(Need::Root, error)).is_ok()
}

#[test]
fn a_rogue_of_higher_priority_is_named() {
    let Some(_tracefs) = Tracefs::open() else { return };
    if !may_use_fifo() {
        return;
    }
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("rogue.dat");
    let cpu = getaffinity(Tid(0)).expect("affinity").iter().last().expect("a CPU");
    let stop = &AtomicBool::new(false);
    let recorded = thread::scope(|scope| {
        let first = now(Clock::Monotonic) + PERIOD;
        let victim = move || periodic(cpu, 50, first, PERIOD, Ns::from_us(200), stop);
        let rogue = move || periodic(cpu, 60, first - Ns::from_us(500), ROGUE_PERIOD, BURST, stop);
        let threads = [
            thread::Builder::new().name(VICTIM.to_owned()).spawn_scoped(scope, victim).expect("a thread"),
            thread::Builder::new().name(ROGUE.to_owned()).spawn_scoped(scope, rogue).expect("a thread"),
        ];
        let arguments = ["record", "--duration", "1s", "-o"].map(OsStr::new);
        let recorded = whylate(arguments.into_iter().chain([file.as_os_str()]));
        stop.store(true, Ordering::Relaxed);
        for thread in threads {
            thread.join().expect("no panic").expect("FIFO, on one CPU");
        }
        recorded
    });
    assert_eq!(recorded.code, Some(0), "{recorded:#?}");

    let arguments = ["explain", "--json", "--worst", "1000", "--task", VICTIM].map(OsStr::new);
    let run = whylate(arguments.into_iter().chain([file.as_os_str()]));
    let answer = answer(&run.stdout);
    // A busy host may take the CPU more often and for longer than the rogue: such verdicts are not judged here.
    let mut verdicts: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    let begins_late = |activation: &&serde_json::Value| activation["latency_ns"].as_i64() > Some(BURST.0 / 2);
    for activation in list(&answer["activations"]).iter().filter(begins_late) {
        *verdicts.entry(verdict(activation)).or_default() += 1;
    }
    verdicts.remove(&("stolen", ""));
    let most = verdicts.iter().max_by_key(|&(_, count)| count).map(|(&verdict, _)| verdict);
    assert_eq!(most, Some(("higher-priority-task", ROGUE)), "{verdicts:?}");
    let named = |finding: &serde_json::Value| {
        let title = finding["title"].as_str().unwrap_or_default();
        finding["code"] == "higher-priority-task" && title.contains(ROGUE) && title.contains(VICTIM)
    };
    assert!(list(&answer["findings"]).iter().any(named), "{:#}", answer["findings"]);

    let text = whylate([OsStr::new("explain"), file.as_os_str(), OsStr::new("--task"), OsStr::new(VICTIM)]);
    assert!(text.stdout.contains("higher-priority-task") && text.stdout.contains(ROGUE), "{text:#?}");
}
