//! Each rule by a table: what shows the mistake, and what only looks like it.

use crate::doctor::calls::SystemCall as C;
use crate::doctor::facts::{Call, Descriptor, FaultCause, Inversion, Observation};
use crate::doctor::made_up::{END, PID, START, call, fault, found, program, repeat, request};
use std::collections::BTreeMap;
use whylate_base::{Ns, Policy, Severity, Tid};

const FIFO: (i32, Policy, u32) = (11, Policy::Fifo, 50);
const OTHER: (i32, Policy, u32) = (12, Policy::Other, 0);
const LINE: u32 = 7;

/// A program with a real-time thread 11 and an ordinary thread 12, and these calls.
fn with_calls(calls: Vec<Call>) -> Observation {
    let mut observation = program(&[FIFO, OTHER]);
    observation.calls = calls;
    let file = |path: &str| Descriptor::File(path.to_owned());
    let table = BTreeMap::from([
        (3, file("/var/log/x")),
        (4, file("/sys/class/gpio/gpio4/value")),
        (5, Descriptor::Terminal("/dev/tty1".to_owned())),
        (6, Descriptor::Socket),
    ]);
    observation.processes.get_mut(&PID).expect("a process").descriptors = vec![(Ns(0).into(), table)];
    observation
}

fn at(line: u32, codes: &[&'static str]) -> Vec<(&'static str, Option<u32>)> {
    codes.iter().map(|&code| (code, Some(line))).collect()
}

#[test]
fn single_calls_in_the_path() {
    const ANONYMOUS: u64 = 0x22;
    const STACK: u64 = 0x2_0022;
    for (kind, args, expected) in [
        (C::Brk, &[0x5000][..], &["heap-in-loop"][..]),
        (C::Mmap, &[0, 4096, 3, ANONYMOUS], &["heap-in-loop"]),
        (C::Mmap, &[0, 8 << 20, 0, STACK], &[]),
        (C::Mmap, &[0, 4096, 1, 2, 3], &[]),
        (C::Mprotect, &[0x1000, 4096, 3], &["heap-in-loop"]),
        (C::Mprotect, &[0x1000, 4096, 1], &[]),
        (C::Write, &[1], &["terminal-output"]),
        (C::Write, &[5], &["terminal-output"]),
        (C::Write, &[3], &["file-write"]),
        (C::Write, &[4], &[]),
        (C::Write, &[6], &[]),
        (C::Write, &[77], &[]),
        (C::Pwrite, &[3], &["file-write"]),
        (C::Fsync, &[3], &["file-sync"]),
        (C::Msync, &[0x1000, 4096, 4], &["file-sync"]),
        (C::Msync, &[0x1000, 4096, 1], &[]),
        (C::Openat, &[0], &["file-open"]),
        (C::Flock, &[3, 2], &["file-lock"]),
        (C::Flock, &[3, 8], &[]),
        (C::Flock, &[3, 2 | 4], &[]),
        (C::Fcntl, &[3, 7], &["file-lock"]),
        (C::Fcntl, &[3, 6], &[]),
        (C::ClockGetTime, &[1], &["clock-syscall"]),
        (C::ClockGetTime, &[3], &[]),
        (C::ClockGetTime, &[u64::MAX], &[]),
        (C::ClockNanosleep, &[0, 1], &["realtime-clock"]),
        (C::ClockNanosleep, &[1, 1], &[]),
        (C::TimerfdCreate, &[0], &["realtime-clock"]),
        (C::TimerfdCreate, &[1], &[]),
        (C::ClockNanosleep, &[1, 0], &[]),
        (C::SchedYield, &[], &[]),
    ] {
        let one = call(11, kind, args, LINE);
        assert_eq!(found(&with_calls(vec![one])), at(LINE, expected), "{kind:?} {args:?}");
        // The same by a thread that is not real-time.
        assert_eq!(found(&with_calls(vec![Call { tid: Tid(12), ..one }])), [], "{kind:?} {args:?}");
        if kind == C::TimerfdCreate {
            continue;
        }
        for start in [START - 1, END + 1] {
            let outside = Call { start: Ns(start), end: Some(Ns(start)), ..one };
            assert_eq!(found(&with_calls(vec![outside])), [], "start-up or shutdown: {kind:?} {args:?}");
        }
    }
}

#[test]
fn rhythms_of_calls() {
    let timeout = Call { slept: true, ..call(11, C::Poll, &[0, 0, 5], LINE) };
    let input = Call { ret: Some(1), ..timeout };
    let look = Call { slept: false, ..timeout };
    for (what, calls, expected) in [
        (
            "a relative sleep in each round",
            repeat(call(11, C::ClockNanosleep, &[0, 0], LINE), 5),
            &["relative-sleep"][..],
        ),
        ("nanosleep", repeat(call(11, C::Nanosleep, &[], LINE), 5), &["relative-sleep"]),
        ("a pause now and then", repeat(call(11, C::Nanosleep, &[], LINE), 4), &[]),
        ("an absolute sleep", repeat(call(11, C::ClockNanosleep, &[1, 1], LINE), 50), &[]),
        ("a spin by sched_yield", repeat(call(11, C::SchedYield, &[], LINE), 10), &["sched-yield"]),
        (
            "CPU time, ten times in each of 100 rounds",
            vec![call(11, C::ClockGetTime, &[3], LINE); 1_000],
            &[],
        ),
        ("CPU time, all the time", vec![call(11, C::ClockGetTime, &[3], LINE); 1_001], &["clock-syscall"]),
        ("a courtesy", repeat(call(11, C::SchedYield, &[], LINE), 9), &[]),
        ("another thread's", repeat(call(12, C::SchedYield, &[], LINE), 50), &[]),
        ("a timeout as a period", repeat(timeout, 5), &["timeout-slack"]),
        ("mostly input", [repeat(timeout, 5), repeat(input, 6)].concat(), &[]),
        ("a look without a wait", repeat(look, 50), &[]),
        ("with looks in between", [repeat(timeout, 5), repeat(look, 6)].concat(), &["timeout-slack"]),
    ] {
        assert_eq!(found(&with_calls(calls)), at(LINE, expected), "{what}");
    }
}

#[test]
fn sleeps_that_are_computed_do_not_drift() {
    let sleep = |start: i64, end: i64| Call {
        start: Ns(start),
        end: Some(Ns(end)),
        ..call(11, C::Nanosleep, &[], LINE)
    };
    let works = [100, 400, 200, 500, 100, 300];
    // Each period takes 1,000, whatever the work was.
    let made_up: Vec<Call> =
        works.iter().zip(0..).map(|(work, n)| sleep(5_000 + 1_000 * n + work, 6_000 + 1_000 * n)).collect();
    let mut at_now = 5_000;
    let drifting: Vec<Call> = works
        .iter()
        .map(|work| {
            let start = at_now + work;
            at_now = start + 600 + start % 7;
            sleep(start, at_now)
        })
        .collect();
    assert_eq!(found(&with_calls(drifting)), at(LINE, &["relative-sleep"]));
    assert_eq!(found(&with_calls(made_up)), []);
}

#[test]
fn faults_by_their_cause() {
    for (cause, code) in [
        (FaultCause::FirstTouch, "fault-first-touch"),
        (FaultCause::CopyOnWrite, "fault-copy-on-write"),
        (FaultCause::File, "fault-file"),
        (FaultCause::Stack, "fault-stack"),
        (FaultCause::Heap, "fault-heap"),
    ] {
        let one = fault(11, cause, LINE);
        let in_path = |faults| Observation { faults, ..with_calls(Vec::new()) };
        assert_eq!(found(&in_path(vec![one, one])), at(LINE, &[code]));
        let other = crate::doctor::facts::Fault { tid: Tid(12), ..one };
        let early = crate::doctor::facts::Fault { time: Ns(START - 1), ..one };
        let unknown = crate::doctor::facts::Fault { cause: None, ..one };
        assert_eq!(found(&in_path(vec![other, early, unknown])), [], "{code}");
        let first_round = crate::doctor::facts::Fault { time: Ns(START + 1), ..one };
        let loads = matches!(cause, FaultCause::CopyOnWrite | FaultCause::File);
        assert_eq!(found(&in_path(vec![first_round])).is_empty(), loads, "{code}");
    }
}

#[test]
fn settings_of_threads() {
    let highest = program(&[(11, Policy::Rr, 99)]);
    assert_eq!(found(&highest), [("fifo-99", None)]);
    assert_eq!(found(&program(&[(11, Policy::Rr, 98), (12, Policy::Deadline, 0)])), []);

    let mut unlocked = program(&[FIFO, OTHER]);
    unlocked.processes.get_mut(&PID).expect("a process").most_locked_bytes = Some(0);
    assert_eq!(found(&unlocked), [("memory-not-locked", None)]);
    unlocked.processes.get_mut(&PID).expect("a process").most_locked_bytes = None;
    assert_eq!(found(&unlocked), [], "not known");
    let mut ordinary = program(&[OTHER]);
    ordinary.processes.get_mut(&PID).expect("a process").most_locked_bytes = Some(0);
    assert_eq!(found(&ordinary), []);

    let two_nodes = |cpus: &str, own: u64, other: u64| {
        let mut program = program(&[FIFO, OTHER]);
        program.nodes =
            [(0, "0-3"), (1, "4-7")].map(|(node, list)| (node, list.parse().expect("a list"))).into();
        program.threads.values_mut().for_each(|thread| thread.cpus = cpus.parse().ok());
        program.processes.get_mut(&PID).expect("a process").node_bytes =
            [(1, own << 20), (0, other << 20)].into();
        program
    };
    assert_eq!(found(&two_nodes("5-6", 10, 20)), [("memory-other-node", None)]);
    for (cpus, own, other) in [("5-6", 20, 10), ("5-6", 1, 3), ("3-4", 10, 20), ("0", 5, 10)] {
        assert_eq!(found(&two_nodes(cpus, own, other)), [], "{cpus}: {own} and {other}");
    }
    let mut elsewhere = two_nodes("5-6", 10, 20);
    elsewhere.threads.values_mut().next().expect("a thread").cpus = "0".parse().ok();
    assert_eq!(found(&elsewhere), [], "it may be that thread's memory");

    let mut large = with_calls(vec![call(12, C::MlockAll, &[3], LINE)]);
    assert_eq!(found(&large), []);
    large.processes.get_mut(&PID).expect("a process").most_locked_bytes = Some(1 << 30);
    assert_eq!(found(&large), at(LINE, &["memory-all-locked"]));
    large.calls.clear();
    assert_eq!(found(&large), [], "no mlockall");

    let mut long = program(&[FIFO]);
    let process = long.processes.get_mut(&PID).expect("a process");
    process.rttime_limit = Some(Ns::from_ms(200));
    long.threads.get_mut(&Tid(11)).expect("a thread").longest_awake = Ns::from_ms(99);
    assert_eq!(found(&long), []);
    long.threads.get_mut(&Tid(11)).expect("a thread").longest_awake = Ns::from_ms(100);
    assert_eq!(found(&long), [("rttime-near-limit", None)]);
    long.processes.get_mut(&PID).expect("a process").rttime_limit = None;
    assert_eq!(found(&long), [], "no look saw a limit");
    long.threads.get_mut(&Tid(11)).expect("a thread").is_over_rttime = true;
    assert_eq!(found(&long), [("rttime-near-limit", None)], "it was sent SIGXCPU");

    let mut sliced = program(&[(11, Policy::Rr, 50)]);
    sliced.threads.get_mut(&Tid(11)).expect("a thread").equal_preemptions = 2;
    assert_eq!(found(&sliced), []);
    sliced.threads.get_mut(&Tid(11)).expect("a thread").equal_preemptions = 3;
    assert_eq!(found(&sliced), [("rr-slice", None)]);
}

#[test]
fn requests_of_priority() {
    let mut refused =
        with_calls(vec![Call { ret: Some(-1), ..call(12, C::SchedSetScheduler, &[0, 1], LINE) }]);
    let ask = |policy, error| vec![request(12, 0, policy, error)];
    let set = |observation: &mut Observation, requests| {
        observation.threads.get_mut(&Tid(12)).expect("a thread").requests = requests;
    };
    set(&mut refused, ask(Policy::Fifo, Some(1)));
    assert_eq!(found(&refused), at(LINE, &["priority-refused"]));
    set(&mut refused, ask(Policy::Batch, Some(1)));
    assert_eq!(found(&refused), [], "not for a real-time policy");
    set(&mut refused, [ask(Policy::Fifo, Some(1)), ask(Policy::Fifo, None)].concat());
    assert_eq!(found(&refused), [], "granted in the end");

    let pin = Call { start: Ns(10), end: Some(Ns(20)), ..call(11, C::SchedSetAffinity, &[0], LINE) };
    let raise =
        Call { start: Ns(30), end: Some(Ns(40)), ..call(11, C::SchedSetScheduler, &[0, 1], LINE + 1) };
    let order = |calls: Vec<Call>, pinned, raised, by| {
        let mut observation = with_calls(calls);
        let thread = observation.threads.get_mut(&Tid(11)).expect("a thread");
        thread.realtime_since = Some(Ns(40));
        thread.pinned = vec![pinned];
        thread.requests = vec![crate::doctor::facts::PolicyRequest {
            by: Tid(by),
            ..request(11, raised, Policy::Fifo, None)
        }];
        found(&observation)
    };
    assert_eq!(order(vec![pin, raise], 0, 1, 11), at(LINE, &["pinned-before-priority"]));
    assert_eq!(order(vec![pin, raise], 0, 1, 12), [], "raised by another thread");
    let pin_later = Call { start: Ns(50), end: Some(Ns(60)), ..pin };
    assert_eq!(order(vec![raise, pin_later], 1, 0, 11), []);
}

#[test]
fn futexes_of_threads_of_different_priorities() {
    const WAIT: u64 = 128;
    const WAKE: u64 = 129;
    const LOCK_PI: u64 = 134;
    const WAIT_BITSET: u64 = 137;
    let futex = |tid, operation, value, line| call(tid, C::Futex, &[0x7000, operation, value], line);
    let wait = futex(11, WAIT, 2, LINE);
    let wake = Call { ret: Some(1), ..futex(12, WAKE, 1, 8) };
    let all = |tid, woken| Call { ret: Some(woken), ..futex(tid, WAKE, i32::MAX as u64, 8) };
    for (what, calls, expected) in [
        ("a mutex of both", vec![wait, wake], &[("mutex-without-inheritance", Some(LINE))][..]),
        (
            "a robust mutex",
            vec![futex(11, WAIT, 0x8000_000c, LINE), futex(11, WAIT, 0x8000_000d, LINE), wake],
            &[("mutex-without-inheritance", Some(LINE))],
        ),
        ("before its periodic part", vec![Call { start: Ns(START - 1), ..wait }, wake], &[]),
        ("released by a thread of the same priority", vec![wait, Call { tid: Tid(11), ..wake }], &[]),
        ("waited for by the ordinary thread only", vec![Call { tid: Tid(12), ..wait }, wake], &[]),
        ("with inheritance", vec![futex(11, LOCK_PI, 0, LINE), wake], &[]),
        ("a word with other values", vec![wait, futex(11, WAIT, 3, LINE), wake], &[]),
        ("a semaphore", vec![futex(11, WAIT_BITSET, 0, LINE), wake], &[]),
        (
            "a barrier in each round",
            (0..5).flat_map(|round| [futex(11, WAIT, round, LINE), all(12, 1)]).collect(),
            &[("barrier-unequal-priorities", Some(LINE))],
        ),
        ("a barrier at the start", vec![futex(11, WAIT, 0, LINE), all(12, 1)], &[]),
        (
            "a herd in each round",
            (0..5).flat_map(|round| [futex(11, WAIT_BITSET, round, LINE), all(12, 3)]).collect(),
            &[("condvar-herd", Some(8))],
        ),
        (
            "two waiters are no herd",
            (0..5).flat_map(|round| [futex(11, WAIT_BITSET, round, LINE), all(12, 2)]).collect(),
            &[],
        ),
    ] {
        assert_eq!(found(&with_calls(calls)), expected, "{what}");
    }
}

#[test]
fn inversions_are_one_finding_for_each_owner() {
    let inversion = Inversion {
        tid: Tid(11),
        location: None,
        owner: Some(Tid(12)),
        middle: "middle:13".to_owned(),
        lost: Ns(500),
    };
    let mut observation = program(&[FIFO, OTHER]);
    observation.inversions = vec![inversion.clone(), Inversion { lost: Ns(900), ..inversion }];
    let findings = super::findings(&observation);
    let [finding] = &findings[..] else { panic!("{findings:?}") };
    assert_eq!((finding.code, finding.count, finding.worst), ("priority-inversion", 2, Some(Ns(900))));
    assert_eq!(finding.severity, Severity::Error);
    assert_eq!(finding.other.as_ref().map(|(thread, _)| thread.tid), Some(Tid(12)));
}

#[test]
fn each_rule_has_its_own_code_and_page() {
    for code in super::codes() {
        assert_eq!(super::codes().filter(|other| *other == code).count(), 1, "{code}");
        assert!(super::page(code).is_some_and(|page| page.starts_with(&format!("# {code}\n"))), "{code}");
    }
    assert_eq!(super::page("no-such"), None);
    assert_eq!(super::findings(&Observation::default()), []);
}

#[test]
fn a_mutex_in_shared_memory_is_one_word_of_all_its_processes() {
    const SHARED_WAIT: u64 = 0;
    const SHARED_WAKE: u64 = 1;
    let mut observation = with_calls(vec![
        call(11, C::Futex, &[0x7010, SHARED_WAIT, 2], LINE),
        Call { ret: Some(1), ..call(13, C::Futex, &[0x9010, SHARED_WAKE, 1], 8) },
    ]);
    let other = Tid(20);
    let mapped = |start: u64, path: &str| crate::doctor::facts::ProcessFacts {
        mappings: vec![(
            Ns(0),
            vec![crate::doctor::facts::MappedRange {
                start,
                end: start + 0x1000,
                offset: 0,
                is_writable: true,
                is_shared: true,
                path: path.to_owned(),
            }],
        )],
        ..crate::doctor::facts::ProcessFacts::default()
    };
    observation.threads.insert(Tid(13), crate::doctor::facts::ThreadFacts::new(Tid(13), other));
    observation.processes.insert(PID, mapped(0x7000, "/dev/shm/state"));
    observation.processes.insert(other, mapped(0x9000, "/dev/shm/state"));
    assert_eq!(found(&observation), at(LINE, &["mutex-without-inheritance"]));
    observation.processes.insert(other, mapped(0x9000, "/dev/shm/else"));
    assert_eq!(found(&observation), []);
}
