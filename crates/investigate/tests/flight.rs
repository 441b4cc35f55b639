//! The flight recorder on this machine, where it is allowed: what it captures can be read
//! and covers the moment asked for; memory stays bounded; nothing is left behind.

use std::collections::HashSet;
use std::time::Duration;
use whylate_base::{Ns, Tid};
use whylate_events::{EventKind, EventSource, KindSet};
use whylate_investigate::flight::{Capture, FlightRecorder};
use whylate_sys::Clock;
use whylate_testing::{Need, skip};

/// A recorder with buffers of this size, or the reason to skip.
fn recorder(buffer_kib: u64) -> Option<FlightRecorder> {
    match FlightRecorder::start(Some(buffer_kib)) {
        Ok(recorder) => Some(recorder),
        Err(error) => {
            skip(Need::Tracefs, error);
            None
        }
    }
}

fn bytes(capture: &Capture) -> usize {
    capture.unseen_bytes(&mut HashSet::new())
}

/// Makes this thread sleep and wake a few times; returns from when to when.
fn sleep_a_little(times: usize) -> (Ns, Ns) {
    let from = whylate_sys::now(Clock::Monotonic);
    for _ in 0..times {
        std::thread::sleep(Duration::from_millis(1));
    }
    (from, whylate_sys::now(Clock::Monotonic))
}

#[test]
fn a_capture_shows_what_happened_then() {
    let Some(mut recorder) = recorder(8192) else { return };
    sleep_a_little(20);
    let (from, to) = sleep_a_little(10);
    sleep_a_little(2);
    assert!(recorder.drain().expect("drain") > to);
    let capture = recorder.capture(from, to);
    let reader = recorder.reader().expect("reader");
    let mut events = reader.open(&capture).expect("a trace").events(KindSet::ALL);
    let own: Tid = whylate_sys::gettid();
    let (mut slept, mut lost) = (0, false);
    let mut last = Ns(i64::MIN);
    while let Some(event) = events.next_event() {
        assert!(event.ts >= last);
        last = event.ts;
        match event.kind {
            EventKind::Switch(switch) if switch.prev_tid == own && (from..=to).contains(&event.ts) => {
                slept += 1
            }
            EventKind::Lost { .. } => lost = true,
            _ => {}
        }
    }
    assert!(events.info().damage.is_empty(), "{:?}", events.info().damage);
    assert_eq!(events.info().clock.as_deref(), Some("mono"));
    if lost {
        skip(Need::Machine, format_args!("in part: the kernel overwrote events; {slept} sleeps seen"));
    } else {
        assert!(slept >= 10, "{slept} of 10 sleeps");
    }
}

#[test]
fn memory_stays_bounded_and_the_instance_goes() {
    let Some(mut recorder) = recorder(256) else { return };
    let mut cpus = 0;
    for _ in 0..5 {
        let (from, to) = sleep_a_little(20);
        recorder.drain().expect("drain");
        let everything = recorder.capture(Ns::ZERO, Ns::MAX);
        cpus = everything.cpus.len();
        assert!(bytes(&everything) <= cpus * 256 * 1024);
        assert!(bytes(&recorder.capture(from, to)) <= bytes(&everything));
    }
    assert!(cpus > 0);
    assert!(recorder.recorded().expect("counts") > 0);
    let path = recorder.instance().to_owned();
    assert!(path.exists());
    drop(recorder);
    assert!(!path.exists());
}
