//! Threads that another program stops: by a signal, or as the one that traces them.

use super::support::{Explained, IDLE, MS, Scene, Thread, assert_blames, charged_to, fair, rt, sys};
use whylate_base::{AdvisedFix, Ns, Severity, Tid};
use whylate_events::{EventKind, Kind, KindSet, Signal, TaskState};
use whylate_ledger::Cause;

const VICTIM: Thread = rt("victim", 10, 50);
const LIMITER: Thread = fair("limiter", 30);
const SIGSTOP: i32 = 19;
const SIGCONT: i32 = 18;
const TIMER: u64 = 0xa000;
/// `-ERESTARTNOHAND`
const AGAIN: i64 = 514;

/// How the victim is stopped.
#[derive(Clone, Copy, PartialEq)]
enum Stop {
    /// By the limiter, which the recording shows or not.
    Signal { is_recorded: bool },
    /// By a call of its own.
    Itself,
    /// By the kernel, for its terminal.
    Terminal,
    /// By the limiter, which traces it.
    Traced,
}

const BY_LIMITER: Stop = Stop::Signal { is_recorded: true };

fn send(scene: Scene, sig: i32, code: i32) -> Scene {
    scene.event(EventKind::Signal(Signal { sig, code, tid: Tid(VICTIM.tid), comm: VICTIM.name.into() }))
}

/// The limiter wakes the victim by a signal.
fn kill(scene: Scene, at: i64, sig: i32, is_recorded: bool) -> Scene {
    let scene = scene.at(at).run(LIMITER).at(at + 5).wake(VICTIM, 1);
    let scene = if is_recorded { send(scene, sig, 0) } else { scene };
    scene.at(at + 10).run(VICTIM)
}

fn until(scene: Scene, at: i64, due: i64, next: Thread) -> Scene {
    scene.at(at).call(sys::CLOCK_NANOSLEEP, sys::UNTIL).arm(TIMER, due).at(at + 3).sleep(next)
}

/// Twenty periods of 10 ms with 2 ms of work. In those of `stops` the victim is stopped for 25 ms, 1 ms into its work.
fn stopped_at_work(stops: &[i64], how: Stop) -> Explained {
    stops_at_work(stops, how).explain("victim")
}

fn stops_at_work(stops: &[i64], how: Stop) -> Scene {
    let mut scene = Scene::new().file_with(KindSet::ALL).cpu(1).at(0).run(IDLE);
    let mut due = 10 * MS;
    for n in 1..=20 {
        scene = scene.at(due).fire(TIMER).wake(VICTIM, 1).fired(TIMER).at(due + 5).run(VICTIM);
        scene = scene.ret(sys::CLOCK_NANOSLEEP).at(due + MS);
        let mut done = due + 2 * MS;
        if stops.contains(&n) {
            done += 25 * MS;
            scene = match how {
                Stop::Signal { is_recorded } => {
                    // From another CPU.
                    let scene = scene.cpu(0).run(LIMITER);
                    let scene = if is_recorded { send(scene, SIGSTOP, 0) } else { scene };
                    scene.sleep(IDLE).cpu(1)
                }
                Stop::Itself => send(scene, SIGSTOP, -6),
                Stop::Terminal => send(scene, 22, Signal::SI_KERNEL),
                Stop::Traced => scene,
            };
            let state = if how == Stop::Traced { TaskState::Traced } else { TaskState::Stopped };
            scene = scene.at(due + MS + 5).switch_as(state, IDLE);
            scene = kill(scene, done - MS, SIGCONT, how == BY_LIMITER);
        }
        due += 10 * MS;
        while due < done {
            due += 10 * MS;
        }
        scene = until(scene, done, due, IDLE);
    }
    scene
}

/// The same, where it is stopped in the middle of its sleep, and continued at `continued` after it was due or before. A sleep that is
/// over by then `begins_again`, or not.
fn stopped_asleep(stops: &[i64], continued: i64, begins_again: bool) -> Explained {
    let mut scene = Scene::new().file_with(KindSet::ALL).cpu(1).at(0).run(IDLE);
    let mut due = 10 * MS;
    for n in 1..=20 {
        let mut begins = due;
        if stops.contains(&n) {
            scene = kill(scene, due - 5 * MS, SIGSTOP, true).fail(sys::CLOCK_NANOSLEEP, AGAIN);
            scene = scene.at(due - 5 * MS + 20).switch_as(TaskState::Stopped, LIMITER);
            scene = scene.at(due - 5 * MS + 25).sleep(IDLE);
            scene = kill(scene, due + continued, SIGCONT, true);
            begins = due.max(due + continued + 30);
            scene = match begins_again {
                true => {
                    let scene = until(scene, due + continued + 20, due, LIMITER);
                    scene.at(due + continued + 25).sleep(IDLE)
                }
                false => scene
                    .at(begins - 10)
                    .call(sys::CLOCK_NANOSLEEP, sys::UNTIL)
                    .arm(TIMER, due)
                    .at(begins + 5),
            };
        }
        if begins == due || begins_again {
            scene = scene.at(begins).fire(TIMER).wake(VICTIM, 1).fired(TIMER).at(begins + 5).run(VICTIM);
        }
        scene = scene.ret(sys::CLOCK_NANOSLEEP);
        due += 10 * MS;
        while due < begins + 2 * MS {
            due += 10 * MS;
        }
        scene = until(scene, begins + 2 * MS, due, IDLE);
    }
    scene.explain("victim")
}

/// Of switches and wake-ups alone: an interrupt wakes a thread upon the idle task, and it works for 45 us before it is stopped.
#[test]
fn a_thread_that_an_interrupt_woke_was_not_woken_to_stop() {
    let mut scene = Scene::new().cpu(1).at(0).run(VICTIM).at(40).sleep(IDLE);
    for n in 1..=20 {
        let due = n * 20 * MS;
        scene = scene.at(due).wake(VICTIM, 1).at(due + 5).run(VICTIM).at(due + 50);
        if n == 9 {
            scene = scene.switch_as(TaskState::Stopped, IDLE).at(due + 15 * MS).run(LIMITER);
            scene = scene.at(due + 15 * MS + 5).wake(VICTIM, 1).at(due + 15 * MS + 10).run(VICTIM);
            scene = scene.at(due + 15 * MS + 20);
        }
        scene = scene.sleep(IDLE);
    }
    let explained = scene.explain("victim");
    assert_blames(explained.worst(), Cause::Stopped, None);
    assert_eq!(explained.worst().response(), Ns::from_us(15 * MS + 20));
}

#[test]
fn a_signal_that_stops_a_thread_at_work_is_the_reason() {
    let explained = stopped_at_work(&[5, 9, 13], BY_LIMITER);
    let worst = explained.worst();
    assert_blames(worst, Cause::Stopped, Some(LIMITER));
    assert_eq!(charged_to(worst, Cause::Stopped, LIMITER), Ns::from_us(25 * MS - 5 - MS + MS + 5));
    let why = &worst.verdict.why;
    assert!(why.contains("limiter:30 (nice 0) stopped victim (rt 50) for 25.00 ms by SIGSTOP"), "{why}");
    assert!(worst.verdict.fix[0].text.contains("a script by kill -STOP"), "{:?}", worst.verdict.fix);
    assert_eq!(explained.finding("stopped").expect("a finding").severity, Severity::Warning);
    assert_eq!(explained.codes(), ["stopped"]);
}

/// As in the rows of `trace-cmd report`.
#[test]
fn a_signal_of_a_program_shows_its_sender_without_flags() {
    let explained = stops_at_work(&[5, 9, 13], BY_LIMITER).without_contexts().explain("victim");
    assert_blames(explained.worst(), Cause::Stopped, Some(LIMITER));
    let explained = stops_at_work(&[5, 9, 13], Stop::Terminal).without_contexts().explain("victim");
    assert_blames(explained.worst(), Cause::Stopped, None);
}

#[test]
fn what_stops_a_program_once_is_no_warning() {
    let explained = stopped_at_work(&[5], BY_LIMITER);
    assert_blames(explained.worst(), Cause::Stopped, Some(LIMITER));
    assert_eq!(explained.finding("stopped").expect("a finding").severity, Severity::Info);
}

#[test]
fn without_its_sender_a_stop_accuses_no_thread() {
    for how in [Stop::Signal { is_recorded: false }, Stop::Terminal] {
        let explained = stopped_at_work(&[5, 9, 13], how);
        assert_blames(explained.worst(), Cause::Stopped, None);
        assert!(explained.finding("stopped").is_none());
    }
}

#[test]
fn a_thread_that_stops_itself_sleeps_by_its_own_choice() {
    let explained = stopped_at_work(&[5, 9, 13], Stop::Itself);
    assert!(explained.in_order().iter().all(|one| one.verdict.cause != Cause::Stopped));
}

#[test]
fn a_tracer_is_the_one_that_lets_the_thread_go_on() {
    let explained = stopped_at_work(&[5], Stop::Traced);
    assert_blames(explained.worst(), Cause::Stopped, Some(LIMITER));
    let why = &explained.worst().verdict.why;
    assert!(why.contains("limiter:30 (nice 0), which traces victim (rt 50), stopped it"), "{why}");
    let finding = explained.finding("stopped").expect("a finding");
    assert!(finding.title.ends_with("it stopped that thread (ptrace)"), "{}", finding.title);
    // What looks into a program is not meant to stop it, and once is enough.
    assert_eq!(finding.severity, Severity::Warning);
    let texts =
        |fixes: &[AdvisedFix]| fixes.iter().map(|fix| fix.text.clone()).collect::<Vec<_>>().join("; ");
    let fix = texts(&explained.worst().verdict.fix);
    assert!(
        fix.contains("a debugger (gdb)") && !fix.contains("cpu.max") && !fix.contains("cpulimit"),
        "{fix}"
    );
    let by_signal = stopped_at_work(&[5], BY_LIMITER);
    let fix = texts(&by_signal.worst().verdict.fix);
    assert!(fix.contains("cpu.max") && !fix.contains("debugger at"), "{fix}");
    let title = &by_signal.finding("stopped").expect("a finding").title;
    assert!(title.ends_with("it stopped that thread (SIGSTOP)"), "{title}");
}

/// Twenty periods of 10 ms with 1 ms of work, in each of which the tracer stops the victim for so long, and one with 0.3 ms more of work.
fn always_traced(stop: i64) -> Explained {
    let mut scene = Scene::new().file_with(KindSet::ALL).cpu(1).at(0).run(IDLE);
    for n in 1..=20 {
        let due = n * 10 * MS;
        let work = if n == 12 { 1_300 } else { MS };
        scene = scene.at(due).fire(TIMER).wake(VICTIM, 1).fired(TIMER).at(due + 5).run(VICTIM);
        scene = scene.ret(sys::CLOCK_NANOSLEEP).at(due + work).switch_as(TaskState::Traced, LIMITER);
        scene = kill_while_running(scene, due + work + stop);
        scene = until(scene, due + work + stop + 20, due + 10 * MS, IDLE);
    }
    scene.explain_all("victim")
}

#[test]
fn what_a_tracer_always_takes_is_usual_unless_it_is_most_of_the_response() {
    let count = |stop: i64, cause: Cause| {
        let explained = always_traced(stop);
        explained.in_order().iter().filter(|one| one.verdict.cause == cause).count()
    };
    assert_eq!((count(300, Cause::Stopped), count(300, Cause::OwnWork)), (0, 20));
    assert_eq!((count(7 * MS, Cause::Stopped), count(7 * MS, Cause::OwnWork)), (20, 0));
}

#[test]
fn a_period_that_begins_while_its_thread_is_stopped_is_due_at_its_timer() {
    for (begins_again, latency) in [(true, 35), (false, 10)] {
        let explained = stopped_asleep(&[5, 9, 13], 18 * MS, begins_again);
        let worst = explained.worst();
        assert_blames(worst, Cause::Stopped, Some(LIMITER));
        assert_eq!(charged_to(worst, Cause::Stopped, LIMITER), Ns::from_us(18 * MS + 5));
        assert_eq!(worst.latency(), Some(Ns::from_us(18 * MS + latency)));
        let late = explained.in_order().into_iter().filter(|one| one.verdict.cause == Cause::Stopped);
        assert_eq!(late.count(), 3);
        assert_eq!(explained.codes(), ["stopped"]);
    }
}

#[test]
fn a_stop_that_is_over_before_the_timer_delays_nothing() {
    let explained = stopped_asleep(&[5, 9, 13], -2 * MS, true);
    assert!(explained.in_order().iter().all(|one| one.verdict.cause != Cause::Stopped));
    assert!(explained.0.findings.is_empty(), "{:?}", explained.codes());
}

#[test]
fn the_server_that_was_stopped_is_named_as_that() {
    let server = fair("server", 20);
    let mut scene =
        Scene::new().file_with(KindSet::of(&[Kind::Switch, Kind::Signal])).cpu(1).at(0).run(server);
    scene = scene.at(20).sleep(IDLE);
    for n in 0..30 {
        let due = n * 10 * MS + MS;
        scene = scene.at(due).timer_wakes(VICTIM).at(due + 5).run(VICTIM).ret(sys::CLOCK_NANOSLEEP);
        scene = scene.at(due + 10).wake(server, 1).call(sys::READ, [3, 0, 100]).sleep(server);
        let mut answered = due + 30;
        if n == 29 {
            let stop = Signal { sig: SIGSTOP, code: 0, tid: Tid(server.tid), comm: server.name.into() };
            scene = scene.cpu(0).at(due + 20).run(LIMITER).event(EventKind::Signal(stop)).sleep(IDLE).cpu(1);
            scene = scene.at(due + 22).switch_as(TaskState::Stopped, IDLE);
            answered = due + 30 * MS;
            scene = scene.at(answered).run(LIMITER).wake(server, 1).at(answered + 5).run(server);
        }
        scene = scene.at(answered + 10).wake(VICTIM, 1).at(answered + 15).run(VICTIM).ret(sys::READ);
        scene =
            scene.at(answered + 30).call(sys::CLOCK_NANOSLEEP, sys::UNTIL).at(answered + 32).sleep(server);
        scene = scene.at(answered + 40).sleep(IDLE);
    }
    let explained = scene.explain("victim");
    let worst = explained.worst();
    assert_blames(worst, Cause::OwnWait, Some(server));
    let shown = format!("{:?}", worst.verdict.evidence);
    assert!(shown.contains("which was to answer, was stopped by limiter:30 (nice 0) for 29.9"), "{shown}");
}

/// The tracer has the CPU late: a hog keeps it for `hogged` ms of the stop of 25 ms.
fn traced_behind_a_hog(hogged: i64) -> Explained {
    let hog = rt("hog", 31, 30);
    let due = 210 * MS;
    let scene = stops_at_work(&[], Stop::Traced).at(due).fire(TIMER).wake(VICTIM, 1).fired(TIMER);
    let scene = scene.at(due + 5).run(VICTIM).ret(sys::CLOCK_NANOSLEEP).at(due + MS).wake(LIMITER, 1);
    let scene = scene.at(due + MS + 5).switch_as(TaskState::Traced, hog);
    let scene = scene.at(due + (1 + hogged) * MS).sleep(LIMITER);
    let scene = kill_while_running(scene, due + 26 * MS);
    until(scene, due + 27 * MS, due + 30 * MS, IDLE).explain("victim")
}

fn kill_while_running(scene: Scene, at: i64) -> Scene {
    scene.at(at + 5).wake(VICTIM, 1).at(at + 10).run(VICTIM)
}

#[test]
fn the_thread_that_keeps_a_tracer_off_the_cpu_is_named() {
    let explained = traced_behind_a_hog(20);
    let verdict = &explained.worst().verdict;
    assert_blames(explained.worst(), Cause::Stopped, Some(LIMITER));
    let seen = "limiter:30 (nice 0), which traces it, waited for the CPU that hog:31 (rt 30) had for ";
    assert!(verdict.evidence.iter().any(|one| one.what.starts_with(seen)), "{verdict:?}");
    let named = |fixes: &[AdvisedFix]| fixes.iter().any(|fix| fix.text.contains("hog:31"));
    assert!(named(&verdict.fix) && named(&explained.finding("stopped").expect("a finding").fix));
    assert!(!named(&traced_behind_a_hog(5).worst().verdict.fix), "the tracer itself took most of it");
}
