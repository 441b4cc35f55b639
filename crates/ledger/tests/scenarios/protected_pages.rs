//! Page faults on pages that are there and write-protected, and on huge pages.

use super::support::{Explained, IDLE, MS, Scene, Thread, assert_blames, fair, rt, sys};
use whylate_base::{Confidence, Ns, Severity};
use whylate_events::{EventKind, Syscall, SyscallReturn};
use whylate_ledger::{Activation, Cause};

const VICTIM: Thread = rt("victim", 10, 50);
const MLOCKALL: i64 = 151;
const ALL: [u64; 3] = [3, 0, 0];
/// `MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT`
const ON_FAULT: [u64; 3] = [7, 0, 0];

/// Twenty periods of 10 ms. In those of `bursts` the victim has 500 page faults, of which `protected` are writes to pages that are there;
/// before, it calls mlockall(2) with these flags.
fn faults(bursts: &[i64], protected: i64, locks: Option<[u64; 3]>) -> Explained {
    let mut scene = Scene::new().cpu(1).at(0).run(VICTIM);
    if let Some(flags) = locks {
        scene = scene.at(10).call(MLOCKALL, flags).at(40).ret(MLOCKALL);
    }
    scene = scene.at(50).call(sys::CLOCK_NANOSLEEP, sys::UNTIL).at(55).sleep(IDLE);
    for n in 1..=20 {
        let due = n * 10 * MS;
        scene = scene.at(due).timer_wakes(VICTIM).at(due + 5).run(VICTIM).ret(sys::CLOCK_NANOSLEEP);
        let mut at = due + 50;
        if bursts.contains(&n) {
            for page in 0..500 {
                scene = scene.at(at);
                scene = match page < protected {
                    true => scene.fault_by_protection(0x7000 + 0x1000 * page as u64),
                    false => scene.fault(0x7000 + 0x1000 * page as u64),
                };
                at += 6;
            }
        }
        scene = scene.at(at + 200).call(sys::CLOCK_NANOSLEEP, sys::UNTIL).at(at + 205).sleep(IDLE);
    }
    scene.explain("victim")
}

fn advice(explained: &Explained) -> String {
    let texts = explained.worst().verdict.fix.iter().map(|fix| fix.text.as_str());
    texts.collect::<Vec<_>>().join("; ")
}

#[test]
fn pages_that_are_there_are_write_protected_and_locked_memory_is_no_help() {
    let explained = faults(&[5, 8, 11], 500, Some(ALL));
    let worst = explained.worst();
    assert_blames(worst, Cause::PageFault, None);
    assert_eq!(worst.verdict.confidence, Confidence::Medium);
    let why = &worst.verdict.why;
    assert!(why.starts_with("victim (rt 50) wrote 500 times to pages that were there"), "{why}");
    let advice = advice(&explained);
    assert!(advice.contains("/proc/PID/clear_refs") && !advice.contains("call mlockall"), "{advice}");
    let finding = explained.finding("page-fault").expect("a finding");
    assert_eq!(finding.severity, Severity::Warning);
    assert!(finding.title.contains("wrote 500 times to write-protected pages"), "{}", finding.title);
    assert!(finding.why.ends_with("something write-protects its pages again and again"), "{}", finding.why);
}

#[test]
fn a_fork_now_and_then_is_no_finding() {
    let explained = faults(&[5, 8], 500, None);
    assert_blames(explained.worst(), Cause::PageFault, None);
    assert!(explained.finding("page-fault").is_none());
}

#[test]
fn pages_that_are_not_there_are_not_mapped() {
    for (protected, locks, locked) in
        [(0, None, false), (100, Some(ON_FAULT), false), (100, Some(ALL), true), (0, Some(ALL), true)]
    {
        let explained = faults(&[5, 8, 11], protected, locks);
        let why = &explained.worst().verdict.why;
        assert!(why.contains("touched memory that was not mapped"), "{why}");
        let advice = advice(&explained);
        assert_eq!(advice.contains("call mlockall(MCL_CURRENT | MCL_FUTURE)"), !locked, "{advice}");
        assert_eq!(advice.contains("has locked its memory"), locked, "{advice}");
        assert!(explained.finding("page-fault").is_none());
    }
}

/// The victim starts a process with a copy of its memory, or a thread, and writes to its pages then.
#[test]
fn pages_that_a_fork_of_the_program_write_protects_are_no_monitors() {
    const CLONE: i64 = 56;
    let after = |flags: u64, forks: &[i64]| {
        let mut scene = Scene::new().cpu(1).at(0).run(VICTIM);
        scene = scene.at(50).call(sys::CLOCK_NANOSLEEP, sys::UNTIL).at(55).sleep(IDLE);
        for n in 1..=20 {
            let due = n * 10 * MS;
            scene = scene.at(due).timer_wakes(VICTIM).at(due + 5).run(VICTIM).ret(sys::CLOCK_NANOSLEEP);
            let mut at = due + 50;
            if forks.contains(&n) {
                scene = scene.at(at).call(CLONE, [flags, 0, 0]).at(at + 5);
                scene = scene.fork(VICTIM, fair("victim", 70 + n as i32)).at(at + 10).ret(CLONE);
            }
            if forks.contains(&(n - 1)) {
                for page in 0..500 {
                    scene = scene.at(at).fault_by_protection(0x7000 + 0x1000 * page);
                    at += 6;
                }
            }
            scene = scene.at(at + 200).call(sys::CLOCK_NANOSLEEP, sys::UNTIL).at(at + 205).sleep(IDLE);
        }
        scene.explain("victim")
    };
    const SIGCHLD: u64 = 17;
    const CLONE_VM: u64 = 0x100;
    let forked = after(SIGCHLD, &[5]);
    let why = &forked.worst().verdict.why;
    assert!(why.contains("write-protected, after a fork of its process: "), "{why}");
    let text = advice(&forked);
    assert!(text.contains("fork before the loop") && !text.contains("clear_refs"), "{text}");
    let threaded = after(CLONE_VM | SIGCHLD, &[5]);
    assert!(!threaded.worst().verdict.why.contains("fork"), "{}", threaded.worst().verdict.why);
    assert!(advice(&threaded).contains("clear_refs"));
    let often = after(SIGCHLD, &[5, 8, 11]);
    let why = &often.finding("page-fault").expect("a finding").why;
    assert!(why.ends_with("each fork of its process write-protects its pages again"), "{why}");
}

const HUGE_PAGE: i64 = 2 << 20;

/// In one of its periods the victim touches four huge pages, 4 ms apart, after it mapped them (`mapped`) or something else; the last is
/// followed by its sleep, 10 ms later.
fn touches_huge_pages(mapped: bool, apart: i64) -> Activation {
    const MMAP: i64 = 9;
    const AT: i64 = 0x7f00_0020_0000;
    let flags = if mapped { 0x4_0022 } else { 0x22 };
    let mut scene = Scene::new().cpu(1);
    for n in 0..20 {
        let due = 100_000 * n;
        scene = scene.at(due).timer_wakes(VICTIM).at(due + 5).run(VICTIM).ret(sys::CLOCK_NANOSLEEP);
        if n == 19 {
            let args = [0, 4 * HUGE_PAGE as u64, 3, flags, u64::MAX, 0];
            scene = scene.event(EventKind::SyscallEnter(Syscall { nr: MMAP, args })).at(due + 20);
            scene = scene.event(EventKind::SyscallExit(SyscallReturn { nr: MMAP, ret: AT }));
            for page in 0..4 {
                scene = scene.at(due + 30 + page * 4_000).fault((AT + page * apart) as u64);
            }
            scene = scene.at(due + 30 + 12_000 + 10_000);
        } else {
            scene = scene.at(due + 100);
        }
        scene = scene.call(sys::CLOCK_NANOSLEEP, sys::UNTIL).sleep(IDLE);
    }
    scene.explain("victim").worst().clone()
}

#[test]
fn page_faults_in_memory_that_is_mapped_in_huge_pages_clear_them() {
    let late = touches_huge_pages(true, HUGE_PAGE);
    assert_eq!((late.verdict.cause, late.verdict.confidence), (Cause::PageFault, Confidence::Medium));
    // The last one as well, for as long as the others.
    let faults = late.ledger.iter().filter(|one| one.cause == Cause::PageFault);
    assert_eq!(faults.map(|one| one.length()).sum::<Ns>(), Ns::from_us(16_000));
    let notes =
        |late: &Activation, words: &str| late.verdict.evidence.iter().any(|one| one.what.contains(words));
    assert!(notes(&late, "4 page faults in memory that is mapped in huge pages (MAP_HUGETLB)"));
    // What is touched so may be a huge page of the kernel's own choice, or the thread worked.
    let unknown = touches_huge_pages(false, HUGE_PAGE);
    assert_eq!((unknown.verdict.cause, unknown.verdict.confidence), (Cause::OwnWork, Confidence::Low));
    assert!(notes(
        &unknown,
        "3 page faults, behind each of which nothing else of the thread was recorded for 1.00 ms"
    ));
    let apart = touches_huge_pages(false, HUGE_PAGE + 4096);
    assert!(!notes(&apart, "behind each of which"), "{:?}", apart.verdict.evidence);
}
