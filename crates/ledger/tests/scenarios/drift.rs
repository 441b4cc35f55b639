//! Periods that drift, by sleeps and timers that are armed anew, and those that do not.

use super::support::{Explained, IDLE, MS, Thread, fair, rt, sys};
use super::workings::{VICTIM, idle, sleeps};
use whylate_base::Severity;

#[test]
fn a_thread_that_sleeps_for_a_while_drifts() {
    let explained = sleeps(sys::FOR).explain("victim");
    let finding = explained.finding("relative-sleep").expect("a finding");
    // No timer shows whether it makes up for that.
    assert!(
        finding.title.contains("victim:10 sleeps relative to now, and drifts unless"),
        "{}",
        finding.title
    );
    assert_eq!(finding.severity, Severity::Info);
    assert!(finding.evidence[0].what.contains("calls sleep relative to now"), "{:?}", finding.evidence);
    let explained = sleeps(sys::UNTIL).explain("victim");
    assert!(explained.0.findings.is_empty(), "{:?}", explained.codes());
}

/// Thirty periods of two threads of one name that sleep for 10 ms each.
fn measuring_and_main(main: Thread) -> Explained {
    let measuring = rt("victim", 10, 80);
    let mut scene = idle();
    for (thread, from) in [(measuring, 0), (main, 400 * MS)] {
        scene = scene.at(from + 50).timer_wakes(thread).at(from + 55).run(thread);
        let mut now = from + 60;
        for n in 0..30 {
            now += 300 + n * 7919 % 400;
            scene = scene.at(now).call(sys::CLOCK_NANOSLEEP, sys::FOR).arm(0x77, now + 10 * MS).sleep(IDLE);
            now += 10 * MS;
            scene = scene.at(now).fire(0x77).wake(thread, 1).fired(0x77).at(now + 5).run(thread);
            now += 5;
        }
        scene = scene.at(now + 100).sleep(IDLE);
    }
    scene.explain("victim")
}

#[test]
fn a_fair_thread_beside_real_time_threads_may_drift() {
    let severity = |main: Thread| {
        let explained = measuring_and_main(main);
        let of = |name: &str| {
            let mut drifting = explained.0.findings.iter().filter(|finding| finding.code == "relative-sleep");
            drifting.find(|finding| finding.title.contains(name)).map(|finding| finding.severity)
        };
        assert_eq!(of("victim:10"), Some(Severity::Warning));
        of("victim:20")
    };
    assert_eq!(severity(fair("victim", 20)), Some(Severity::Info));
    assert_eq!(severity(rt("victim", 20, 40)), Some(Severity::Warning));
}

#[test]
fn the_sleep_of_a_shell_is_that_of_the_program_it_starts() {
    const SHELL: Thread = rt("sh", 30, 50);
    let timer = 0xffff_8881_0000_0000;
    let mut scene = idle().at(50).timer_wakes(SHELL).at(55).run(SHELL);
    let mut now = 60;
    for n in 0..30 {
        let sleep = rt("sleep", 100 + n, 50);
        now += 300 + i64::from(n * 7919 % 400);
        scene = scene.at(now).fork(SHELL, sleep).wake(sleep, 1).sleep(sleep).exec(sleep);
        now += 500;
        scene = scene.at(now).arm(timer, now + 10 * MS).sleep(IDLE);
        now += 10 * MS;
        scene = scene.at(now).fire(timer).wake(sleep, 1).fired(timer).at(now + 5).run(sleep);
        scene = scene.at(now + 50).wake(SHELL, 1).at(now + 60).die(SHELL);
        now += 60;
    }
    let explained = scene.at(now + 100).sleep(IDLE).explain("sh");
    let finding = explained.finding("relative-sleep").expect("a finding");
    assert_eq!(finding.severity, Severity::Warning);
    assert!(finding.title.contains("sh:30"), "{}", finding.title);
}

/// Thirty sleeps of 10 ms, from now or until the next period, after `work` us and up to `varied` more.
fn timed_sleeps(absolute: bool, work: i64, varied: i64) -> Explained {
    let timer = 0xffff_8881_0000_0000;
    let mut scene = idle().at(50).timer_wakes(VICTIM).at(55).run(VICTIM);
    let (mut now, mut due) = (60, 60);
    for n in 0..30 {
        // Work of changing length is what moves a relative sleeper's period.
        now += work + (n * 7919) % varied;
        due = if absolute { due + 10 * MS } else { now + 10 * MS };
        scene = scene.at(now).arm(timer, due).sleep(IDLE).at(due).fire(timer).wake(VICTIM, 1).fired(timer);
        now = due + 5;
        scene = scene.at(now).run(VICTIM);
    }
    scene.at(now + 100).sleep(IDLE).explain("victim")
}

#[test]
fn a_relative_sleep_is_told_from_timers_as_well() {
    let severity = |explained: Explained| explained.finding("relative-sleep").map(|finding| finding.severity);
    assert_eq!(severity(timed_sleeps(false, 100, 400)), Some(Severity::Warning));
    assert_eq!(severity(timed_sleeps(true, 100, 400)), None);
    // A thread that looks at something now and then drifts by less than a hundredth of its period.
    assert_eq!(severity(timed_sleeps(false, 10, 50)), Some(Severity::Info));
}

/// Thirty periods by a timer that the victim arms itself, for 10 ms from where its work begins or ends, or until the next period;
/// beside it, it arms a watchdog that never expires.
fn arms(callback: &str, until: bool, at_end: bool) -> Explained {
    const EPOLL_WAIT: i64 = 232;
    let mut scene = idle().at(50).wake(VICTIM, 1).at(55).run(VICTIM);
    let (mut now, mut due) = (60, 60);
    for n in 0..30 {
        let work = 300 + (n * 7919) % 400;
        let arms_at = if at_end { now + work } else { now + 3 + n % 7 };
        due = if until { due + 10 * MS } else { arms_at + 10 * MS };
        scene = scene.at(arms_at).arm_named(0x88, callback, due);
        scene = scene.at(now + work).arm_named(0x99, callback, now + 500 * MS);
        scene = scene.at(now + work + 2).call(EPOLL_WAIT, [3, 0, 1]).sleep(IDLE).at(due);
        scene = scene.fire_named(0x88, callback).wake(VICTIM, 1).fired(0x88);
        now = due + 5;
        scene = scene.at(now).run(VICTIM).ret(EPOLL_WAIT);
    }
    scene.at(now + 100).sleep(IDLE).explain("victim")
}

#[test]
fn a_timer_that_is_armed_anew_after_the_work_drifts() {
    let found = |explained: &Explained| explained.finding("relative-sleep").map(|finding| finding.severity);
    for callback in ["timerfd_tmrproc", "posix_timer_fn", "it_real_fn", "io_timeout_fn"] {
        let drifts = arms(callback, false, true);
        // The watchdog is none of io_uring's here: its timeouts are one.
        if callback != "io_timeout_fn" {
            assert_eq!(found(&drifts), Some(Severity::Warning), "{callback}");
            let title = &drifts.finding("relative-sleep").expect("a finding").title;
            assert!(title.contains("victim:10 arms its timer relative to now"), "{title}");
        }
        assert_eq!(found(&arms(callback, true, true)), None, "{callback} until an instant");
        assert_eq!(found(&arms(callback, false, false)), None, "{callback} before the work");
    }
    assert_eq!(found(&arms("timer_of_a_driver", false, true)), None);
}

/// Thirty waits for requests with the same timeout, of which a client's request ends all but each `timely`-th.
fn served(timely: i64) -> Explained {
    let timer = 0xffff_8881_0000_0000;
    let client = fair("client", 40);
    let mut scene = idle().at(50).timer_wakes(VICTIM).at(55).run(VICTIM);
    let mut now = 60;
    for n in 0..30 {
        now += 100 + n * 7919 % 400;
        scene = scene.at(now).arm(timer, now + 10 * MS);
        now += if n % timely == 0 { 10 * MS } else { 2 * MS };
        scene = match n % timely {
            0 => scene.sleep(IDLE).at(now).fire(timer).wake(VICTIM, 1).fired(timer),
            _ => scene.sleep(client).at(now).wake(VICTIM, 1),
        };
        now += 5;
        scene = scene.at(now).run(VICTIM);
    }
    scene.at(now + 100).sleep(IDLE).explain("victim")
}

#[test]
fn a_timeout_that_requests_end_is_no_period() {
    let drifts = |explained: Explained| explained.finding("relative-sleep").is_some();
    assert!(!drifts(served(i64::MAX)));
    assert!(!drifts(served(3)));
    assert!(drifts(served(1)));
}
