//! What threads ask of the scheduler and do not get: a real-time policy, time without end.

use super::support::{Explained, IDLE, MS, Scene, Thread, assert_blames, charged_to, fair, rt, sys};
use whylate_base::{Confidence, Ns, Priority, Severity};
use whylate_events::{ContextFlags, Fact, Signal};
use whylate_ledger::{Activation, Cause, Options};

const EPERM: i64 = 1;
const EBUSY: i64 = 16;
const EINVAL: i64 = 22;
const FIFO: u64 = 1;

/// A program that asks for a policy, gets this answer, and then waits behind another for 50 ms.
fn asks(scene: Scene, nr: i64, policy: u64, error: i64) -> Scene {
    let (app, other) = (fair("app", 10), fair("other", 20));
    scene
        .cpu(1)
        .at(0)
        .sign(ContextFlags::default())
        .at(100)
        .timer_wakes(app)
        .at(105)
        .run(app)
        .at(110)
        .call(nr, [0, policy, 0])
        .at(112)
        .fail(nr, error)
        .at(200)
        .sleep(other)
        .at(300)
        .timer_wakes(app)
        .at(50 * MS)
        .run(app)
        .at(51 * MS)
        .sleep(IDLE)
}

#[test]
fn a_thread_that_was_refused_a_real_time_policy_is_explained_and_reported() {
    let explained =
        asks(Scene::new(), sys::SCHED_SETSCHEDULER, FIFO, EPERM).explain_with(&Options::default());
    assert_blames(explained.worst(), Cause::FairQueue, Some(fair("other", 20)));
    let finding = explained.finding("realtime-refused").expect("a finding");
    assert_eq!(finding.severity, Severity::Error);
    assert!(finding.title.contains("app:10 asked for SCHED_FIFO"), "{}", finding.title);
    assert!(finding.evidence[0].what.contains("sched_setscheduler returned -EPERM"));
    assert!(finding.fix[0].text.contains("RLIMIT_RTPRIO"), "{:?}", finding.fix);
    assert!(!finding.why.contains("SCHED_DEADLINE"), "{}", finding.why);
}

#[test]
fn who_asked_for_another_thread_is_named_and_what_a_deadline_needs() {
    let (app, chrt, other) = (fair("app", 10), fair("chrt", 30), fair("other", 20));
    let scene =
        Scene::new().cpu(1).at(0).sign(ContextFlags::default()).at(100).timer_wakes(app).at(105).run(app);
    let scene = scene
        .at(110)
        .run(chrt)
        .at(112)
        .call(sys::SCHED_SETATTR, [10, 0, 0])
        .at(114)
        .fail(sys::SCHED_SETATTR, EPERM);
    let scene = scene.at(200).sleep(other).at(50 * MS).run(app).at(51 * MS).sleep(IDLE);
    let explained = scene.explain_with(&Options::default());
    let finding = explained.finding("realtime-refused").expect("a finding");
    let title =
        "chrt:30 asked for a scheduling policy for app:10 and was refused (EPERM): that is not real-time";
    assert_eq!(finding.title, title);
    assert!(finding.why.contains("SCHED_DEADLINE") && finding.why.contains("root domain"), "{}", finding.why);
    assert!(finding.fix.iter().any(|fix| fix.text.contains("exclusive cpuset")), "{:?}", finding.fix);
}

#[test]
fn why_it_was_refused_depends_on_the_kernel() {
    let why = |fact: Option<bool>| {
        let mut scene = Scene::new().cpu(1).at(0);
        if let Some(on) = fact {
            scene = scene.fact(Fact::RtGroupSched(on));
        }
        let explained = asks(scene, sys::SCHED_SETATTR, 0, EPERM).explain_with(&Options::default());
        explained.finding("realtime-refused").expect("a finding").clone()
    };
    assert!(why(Some(true)).fix[0].text.contains("cpu.rt_runtime_us"));
    assert!(!why(Some(false)).why.contains("RT_GROUP_SCHED"));
    assert!(why(None).why.contains("which the recording does not show"));
}

#[test]
fn a_deadline_thread_may_find_no_room() {
    let explained = asks(Scene::new(), sys::SCHED_SETATTR, 0, EBUSY).explain_with(&Options::default());
    let finding = explained.finding("realtime-refused").expect("a finding");
    assert!(finding.title.contains("SCHED_DEADLINE") && finding.title.contains("EBUSY"), "{}", finding.title);
}

#[test]
fn other_policies_and_other_errors_are_no_refusal() {
    const BATCH: u64 = 3;
    for (policy, error) in [(BATCH, EPERM), (FIFO, EINVAL), (BATCH, 0)] {
        let scene = asks(Scene::new(), sys::SCHED_SETSCHEDULER, policy, error);
        let explained = scene.explain_with(&Options::default());
        assert!(explained.finding("realtime-refused").is_none(), "policy {policy} error {error}");
        assert!(explained.0.activations.is_empty());
    }
}

#[test]
fn a_thread_that_becomes_real_time_in_the_end_was_not_refused() {
    let raised = rt("app", 10, 40);
    let explained = asks(Scene::new(), sys::SCHED_SETSCHEDULER, FIFO, EPERM)
        .at(60 * MS)
        .timer_wakes(raised)
        .at(60 * MS + 5)
        .run(raised)
        .at(61 * MS)
        .sleep(IDLE)
        .explain_with(&Options::default());
    assert!(explained.finding("realtime-refused").is_none(), "{:?}", explained.codes());
}

#[test]
fn a_thread_that_pinned_itself_and_was_refused_did_not_pin_itself_too_early() {
    let (hog, app) = (rt("hog", 30, 1), fair("app", 10));
    let explained = Scene::new()
        .cpu(1)
        .at(0)
        .sign(ContextFlags::default())
        .at(100)
        .timer_wakes(app)
        .at(105)
        .run(app)
        .call(sys::SCHED_SETSCHEDULER, [0, FIFO, 0])
        .fail(sys::SCHED_SETSCHEDULER, EPERM)
        .at(110)
        .call(sys::SCHED_SETAFFINITY, [0, 8, 0])
        .ret(sys::SCHED_SETAFFINITY)
        .at(120)
        .timer_wakes(hog)
        .run(hog)
        .at(500 * MS)
        .sleep(app)
        .at(501 * MS)
        .sleep(IDLE)
        .explain_with(&Options::default());
    let activation =
        explained.0.activations.iter().find(|activation| activation.tid.0 == 10).expect("selected");
    assert_blames(activation, Cause::HigherPriorityTask, Some(hog));
    assert!(explained.finding("realtime-refused").is_some(), "{:?}", explained.codes());
}

const SPINNER: Thread = rt("spinner", 10, 50);

/// It runs from 5 us on, until the kernel sends signals at these times.
fn spins(signals: &[(i64, i32)]) -> Scene {
    let scene =
        Scene::new().cpu(1).at(0).sign(ContextFlags::default()).timer_wakes(SPINNER).at(5).run(SPINNER);
    signals.iter().fold(scene, |scene, &(at, sig)| {
        scene.at(at).vector("local_timer").kernel_sends(SPINNER, sig).vector_exit("local_timer")
    })
}

#[test]
fn a_thread_that_does_not_sleep_is_warned_and_killed() {
    let explained = spins(&[(200 * MS, Signal::SIGXCPU), (400 * MS, Signal::SIGKILL)])
        .at(400 * MS + 10)
        .die(IDLE)
        .explain_with(&Options::default());
    let finding = explained.finding("rttime-exceeded").expect("a finding");
    assert!(finding.title.contains("spinner:10 (rt 50) ran for 400.0 ms"), "{}", finding.title);
    assert!(finding.title.contains("killed it"), "{}", finding.title);
    assert!(finding.evidence[0].what.contains("SIGXCPU; it had not slept for 200.0 ms"), "{finding:?}");
    assert_eq!(explained.only().done, Some(Ns::from_us(400 * MS + 10)));
}

#[test]
fn a_thread_that_raised_itself_and_has_not_been_switched_since_is_real_time() {
    let (before, after) = (fair("spinner", 10), SPINNER);
    let explained = Scene::new()
        .cpu(1)
        .at(0)
        .sign(ContextFlags::default())
        .timer_wakes(before)
        .at(5)
        .run(before)
        .call(sys::SCHED_SETSCHEDULER, [0, FIFO, 0])
        .ret(sys::SCHED_SETSCHEDULER)
        .at(300 * MS)
        .kernel_sends(before, Signal::SIGKILL)
        .unseen_switch_to(after)
        .at(300 * MS + 10)
        .die(IDLE)
        .explain_with(&Options::default());
    let finding = explained.finding("rttime-exceeded").expect("a finding");
    assert!(finding.title.contains("spinner:10 (rt 50)"), "{}", finding.title);
}

#[test]
fn a_warning_alone_is_reported_as_one() {
    let explained =
        spins(&[(200 * MS, Signal::SIGXCPU)]).at(201 * MS).sleep(IDLE).explain_with(&Options::default());
    let finding = explained.finding("rttime-exceeded").expect("a finding");
    assert!(finding.title.ends_with("sent it SIGXCPU"), "{}", finding.title);
}

#[test]
fn a_thread_that_gives_up_its_priority_after_the_signal_had_it_before() {
    let before = |scene: Scene| {
        scene.at(200 * MS + 5).call(sys::SCHED_SETSCHEDULER, [0, 0, 0]).unseen_switch_to(fair("spinner", 10))
    };
    // It is preempted in that call, or behind it.
    let within = |scene: Scene| scene.at(200 * MS + 10);
    let behind = |scene: Scene| scene.at(200 * MS + 10).ret(sys::SCHED_SETSCHEDULER).at(200 * MS + 20);
    let other = fair("other", 40);
    for calls in [within as fn(Scene) -> Scene, behind] {
        let scene = spins(&[(200 * MS, Signal::SIGXCPU)]).at(200 * MS + 2).timer_wakes(other);
        let explained = calls(before(scene)).run(other).at(210 * MS).sleep(IDLE);
        let explained = explained.explain_with(&Options::default());
        let finding = explained.finding("rttime-exceeded").expect("a finding");
        assert!(finding.title.starts_with("spinner:10 (rt 50) ran for 200.0 ms"), "{}", finding.title);
        let given_up = "spinner:10 gave up its real-time priority itself, 5.00 us after the signal";
        assert!(finding.evidence[1].what.starts_with(given_up), "{:?}", finding.evidence);
        assert!(finding.fix[2].text.contains("ask for its real-time priority again"), "{:?}", finding.fix);
    }
}

#[test]
fn other_signals_are_not_this_limits() {
    const SIGSEGV: i32 = 11;
    let codes = |scene: Scene| scene.explain_with(&Options::default()).codes();
    assert!(!codes(spins(&[(200 * MS, SIGSEGV)])).contains(&"rttime-exceeded"));
    // It has slept a moment ago: this one is RLIMIT_CPU's.
    assert!(!codes(spins(&[(2 * MS, Signal::SIGXCPU)])).contains(&"rttime-exceeded"));
    // A SCHED_OTHER thread has no such limit.
    let fair = fair("spinner", 10);
    let scene = Scene::new().cpu(1).at(0).timer_wakes(fair).at(5).run(fair).at(200 * MS);
    assert!(!codes(scene.kernel_sends(fair, Signal::SIGXCPU)).contains(&"rttime-exceeded"));
    // In a page fault it is the OOM killer's.
    let scene = spins(&[]).at(200 * MS).fault(0x7000).kernel_sends(SPINNER, Signal::SIGKILL);
    assert!(!codes(scene).contains(&"rttime-exceeded"));
    // Another thread did this.
    let killer = rt("killer", 30, 90);
    let scene = spins(&[]).at(200 * MS).timer_wakes(killer).run(killer);
    assert!(!codes(scene.kernel_sends(SPINNER, Signal::SIGKILL)).contains(&"rttime-exceeded"));
}

#[test]
fn a_thread_that_execs_goes_on_by_its_processs_id() {
    let (thread, leader) = (rt("worker", 11, 50), rt("worker", 10, 50));
    let explained = Scene::new()
        .cpu(1)
        .at(0)
        .sign(ContextFlags::default())
        .at(100)
        .timer_wakes(thread)
        .at(105)
        .run(thread)
        .at(300)
        .exec(leader)
        .at(500)
        .sleep(IDLE)
        .at(10 * MS)
        .sign(ContextFlags::default())
        .explain_with(&Options::default());
    let ends: Vec<(i32, Option<Ns>)> =
        explained.in_order().iter().map(|activation| (activation.tid.0, activation.done)).collect();
    assert_eq!(ends, [(11, Some(Ns::from_us(300))), (10, Some(Ns::from_us(500)))]);
    assert!(explained.0.findings.is_empty(), "{:?}", explained.codes());
}

#[test]
fn a_pinned_thread_with_periods_is_not_about_to_raise_its_priority() {
    let (hog, victim) = (rt("hog", 20, 30), fair("poller", 10));
    let scene = Scene::new().cpu(1).at(0).sign(ContextFlags::default()).at(100).timer_wakes(victim).at(105);
    let scene = scene.run(victim).call(sys::SCHED_SETAFFINITY, [0, 8, 0]).at(110).ret(sys::SCHED_SETAFFINITY);
    let scene = (1..=6).fold(scene, |scene, n| {
        let scene = scene.at(n * 10 * MS - 8 * MS).call(sys::CLOCK_NANOSLEEP, sys::UNTIL).sleep(IDLE);
        scene.at(n * 10 * MS).timer_wakes(victim).at(n * 10 * MS + 5).run(victim).ret(sys::CLOCK_NANOSLEEP)
    });
    let scene = scene.at(61 * MS).call(sys::CLOCK_NANOSLEEP, sys::UNTIL).sleep(hog).at(70 * MS);
    let scene = scene.timer_wakes(victim).at(100 * MS).sleep(victim).ret(sys::CLOCK_NANOSLEEP).at(101 * MS);
    let explained = scene.call(sys::CLOCK_NANOSLEEP, sys::UNTIL).sleep(IDLE).explain("poller");
    assert_blames(explained.worst(), Cause::HigherPriorityTask, Some(hog));
    assert!(explained.finding("pinned-before-priority").is_none(), "{:?}", explained.codes());
}

const CONTROL: Thread = rt("control", 30, 60);
const LOGGER: Thread = rt("logger", 20, 10);

/// Where a thread that raised itself takes that back.
#[derive(Clone, Copy)]
enum Lowers {
    Never,
    InTheCall,
    BeforeTheSwitch,
}

/// A logger raises itself while it holds a mutex with a priority ceiling (`__pthread_tpp_change_priority`, glibc), for which the
/// control thread does not wait; that is due at 1 ms, and runs at 5.01 ms. In `meanwhile` the logger has the CPU.
fn raised(lowers: Lowers, meanwhile: impl Fn(Scene) -> Scene) -> Activation {
    let scene = Scene::new().cpu(1).at(0).sign(ContextFlags::default()).at(10).vector("local_timer").at(12);
    let scene = scene.softirq(1).at(13).softirq_exit(1).at(14).vector_exit("local_timer").at(100).run(LOGGER);
    let scene =
        scene.at(110).call(sys::SCHED_SETSCHEDULER, [0, FIFO, 0]).at(112).ret(sys::SCHED_SETSCHEDULER);
    let scene = meanwhile(scene.at(MS).timer_wakes(CONTROL));
    let scene = match lowers {
        Lowers::Never => scene,
        // The call sets the flag, and the kernel gives way in it or behind it.
        Lowers::InTheCall => scene.at(5 * MS).call(sys::SCHED_SETSCHEDULER, [0, FIFO, 0]),
        Lowers::BeforeTheSwitch => {
            let scene = scene.at(5 * MS).call(sys::SCHED_SETSCHEDULER, [0, FIFO, 0]).at(5 * MS + 3);
            scene.sign(ContextFlags::NEED_RESCHED).ret(sys::SCHED_SETSCHEDULER)
        }
    };
    let scene = scene.at(5 * MS + 10).run(CONTROL).at(5 * MS + 100).sleep(IDLE);
    scene.explain("control").only().clone()
}

#[test]
fn a_thread_that_raised_itself_for_a_while_comes_first_meanwhile() {
    let unknown = Thread { prio: Priority::UNKNOWN.0, ..LOGGER };
    let ticks =
        |scene: Scene| scene.at(2 * MS).vector("local_timer").at(2 * MS + 5).vector_exit("local_timer");
    for meanwhile in [&ticks as &dyn Fn(Scene) -> Scene, &|scene| scene] {
        for lowers in [Lowers::InTheCall, Lowers::BeforeTheSwitch] {
            let activation = raised(lowers, meanwhile);
            assert_blames(&activation, Cause::HigherPriorityTask, Some(unknown));
            assert_eq!(activation.verdict.confidence, Confidence::Medium);
            assert_eq!(charged_to(&activation, Cause::PreemptionDisabled, LOGGER), Ns::ZERO);
        }
    }
    // It ran at another priority, and was to yield: it did not come first.
    let is_to_yield = |scene: Scene| scene.at(2 * MS).sign(ContextFlags::NEED_RESCHED);
    assert_eq!(raised(Lowers::BeforeTheSwitch, is_to_yield).verdict.cause, Cause::PreemptionDisabled);
    // It raised itself once, to the priority at which it left the CPU.
    assert_blames(&raised(Lowers::Never, |scene| scene), Cause::PreemptionDisabled, Some(LOGGER));
}

#[test]
fn that_a_thread_was_to_yield_is_shown_from_the_first_sight_on() {
    for (seen, confidence) in [(MS + 200, Confidence::High), (4 * MS + 800, Confidence::Medium)] {
        let activation = raised(Lowers::Never, |scene| scene.at(seen).sign(ContextFlags::NEED_RESCHED));
        assert_blames(&activation, Cause::PreemptionDisabled, Some(LOGGER));
        assert_eq!(activation.verdict.confidence, confidence, "{seen}");
    }
}

/// A real-time thread, with this flag beside its policy, starts a thread with periods, of its process or another one, that waits
/// for 5 ms behind another in each.
fn starts_a_thread(flag: u64, clone: u64) -> Explained {
    const CLONE: i64 = 56;
    let (main, child, other) = (rt("app", 10, 60), fair("loop", 11), fair("other", 20));
    let mut scene = Scene::new().cpu(1).at(0).run(fair("app", 10)).at(100);
    scene = scene.call(sys::SCHED_SETSCHEDULER, [0, FIFO | flag, 0]).at(102).ret(sys::SCHED_SETSCHEDULER);
    scene = scene.at(110).call(CLONE, [clone, 0, 0]).fork(main, child).at(120).wake(child, 1);
    scene = scene.at(130).run(child).ret(CLONE);
    for n in 1..=20 {
        let due = 20 * MS * n;
        scene = scene.call(sys::CLOCK_NANOSLEEP, sys::UNTIL).sleep(other).at(due).timer_wakes(child);
        scene = scene.at(due + 5 * MS).run(child).ret(sys::CLOCK_NANOSLEEP).at(due + 6 * MS);
    }
    scene.sleep(IDLE).explain("loop")
}

#[test]
fn a_policy_with_reset_on_fork_does_not_pass_to_the_threads_of_its_process() {
    const RESET_ON_FORK: u64 = 0x4000_0000;
    /// `CLONE_VM | CLONE_THREAD`
    const THREAD: u64 = 0x1_0100;
    let explained = starts_a_thread(RESET_ON_FORK, THREAD);
    let finding = explained.finding("realtime-refused").expect("a finding");
    assert_eq!(finding.severity, Severity::Warning);
    let title = "loop:11 is not real-time: app:10, which started it, has SCHED_FIFO with SCHED_RESET_ON_FORK";
    assert_eq!(finding.title, title);
    let evidence = &explained.worst().verdict.evidence;
    assert!(evidence.iter().any(|one| one.what.contains("does not pass to the threads")), "{evidence:?}");
    for (flag, clone) in [(0, THREAD), (RESET_ON_FORK, 17)] {
        assert!(starts_a_thread(flag, clone).finding("realtime-refused").is_none());
    }
}
