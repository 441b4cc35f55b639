//! From a timer's expiry to its interrupt, and from there to running.

use super::support::{Explained, IDLE, MS, Scene, Thread, assert_blames, assert_charges, fair, rt, sys};
use whylate_base::{Confidence, Ns, Severity};
use whylate_events::{ContextFlags, EventKind};
use whylate_ledger::{Activation, Cause, Trigger};

pub(super) const VICTIM: Thread = rt("victim", 10, 80);
pub(super) const APP: Thread = fair("app", 30);
pub(super) const TIMER: u64 = 0xffff_8881_0000_0000;

/// The victim sleeps until 100 us on CPU 1, and `then` gets the CPU.
pub(super) fn sleeping(scene: Scene, then: Thread) -> Scene {
    scene
        .cpu(1)
        .at(10)
        .unseen_switch_to(VICTIM)
        .sign(ContextFlags::default())
        .at(20)
        .arm(TIMER, 100)
        .at(25)
        .sleep(then)
}

/// Its timer is handled only at 300 us.
pub(super) fn handled_late(scene: Scene) -> Scene {
    scene.cpu(1).at(300).fire(TIMER).wake(VICTIM, 1).fired(TIMER)
}

pub(super) fn ended(scene: Scene) -> Explained {
    scene.cpu(1).at(303).run(VICTIM).at(350).sleep(IDLE).explain("victim")
}

pub(super) fn last(scene: Scene) -> Activation {
    let explained = ended(scene);
    (*explained.in_order().last().expect("an activation")).clone()
}

#[test]
fn a_late_timer_whose_reason_was_not_recorded_is_just_late() {
    let activation = last(handled_late(sleeping(Scene::new(), APP)));
    assert_charges(&activation, &[(Cause::TimerLate, 200), (Cause::Dispatch, 3), (Cause::OwnWork, 47)]);
    assert_blames(&activation, Cause::TimerLate, None);
    assert_eq!(activation.verdict.confidence, Confidence::Low);
    assert_eq!(activation.trigger, Trigger::Timer);
    assert_eq!(activation.due, Ns::from_us(100));
    assert_eq!(activation.woken, Some(Ns::from_us(300)));
    assert_eq!(activation.latency(), Some(Ns::from_us(203)));
}

/// As PREEMPT_RT does it: the interrupt wakes `ktimers/1`, which waits for `hog` and then runs the callback.
fn expires_in_a_thread(hog: Thread) -> Explained {
    const KTIMERS: Thread = rt("ktimers/1", 19, 1);
    let scene = sleeping(Scene::new(), hog);
    let scene = scene.at(102).vector("local_timer").at(105).wake(KTIMERS, 1).vector_exit("local_timer");
    let scene = scene.at(280).sleep(KTIMERS).softirq(8).at(290).fire(TIMER).wake(VICTIM, 1).fired(TIMER);
    ended(scene.at(295).softirq_exit(8))
}

#[test]
fn a_timer_that_expires_in_a_thread_is_late_because_of_whoever_kept_that_thread_waiting() {
    for hog in [rt("hog", 20, 90), rt("lower", 20, 50)] {
        let explained = expires_in_a_thread(hog);
        let activation = explained.worst();
        assert_blames(activation, Cause::HigherPriorityTask, Some(hog));
        // Of one that goes after the victim itself, by the rules.
        let title = &explained.finding("higher-priority-task").expect("a finding").title;
        assert_eq!(title.contains("it runs before ktimers/1:19 (rt 1)"), hog.name == "lower", "{title}");
        assert_eq!(activation.verdict.charged, Ns::from_us(175));
        assert!(
            activation.verdict.why.contains("kept ktimers/1:19 (rt 1) off the CPU"),
            "{}",
            activation.verdict.why
        );
        assert!(activation.verdict.fix[0].text.contains("clock_nanosleep"));
    }
}

/// recv(2) with a timeout of 8 ms on PREEMPT_RT: each tick raises the softirq anew, and a hog keeps its thread from the CPU.
#[test]
fn a_timeout_that_a_thread_runs_late_was_due_at_the_tick() {
    let (ktimers, hog) = (rt("ktimers/1", 19, 1), rt("hog", 20, 30));
    let tick = |scene: Scene, at: i64| {
        let scene = scene.at(at).vector("local_timer").event(EventKind::SoftirqRaise { vec: 1 });
        scene.at(at + 5).vector_exit("local_timer")
    };
    let scene = Scene::new().cpu(1).at(0).run(ktimers).at(20).sleep(IDLE).at(100).wake(VICTIM, 1).at(105);
    let scene = scene.run(VICTIM).at(150).call(sys::READ, [3, 0, 0]).sleep(hog);
    let scene = tick(tick(scene, 8_000).wake(ktimers, 1), 12_000).at(70_000).sleep(ktimers).at(70_010);
    let scene = scene.softirq(1).at(70_020).wake(VICTIM, 1).at(70_025).softirq_exit(1).at(70_030);
    let explained = scene.sleep(VICTIM).ret(sys::READ).at(70_100).sleep(IDLE).explain("victim");
    let late = explained.worst();
    assert_eq!(late.due, Ns::from_us(8_000));
    assert_blames(late, Cause::SoftirqDeferred, Some(hog));
    assert_eq!(late.verdict.confidence, Confidence::Medium);
}

/// The kernel's threads of RCU and of timers have one priority; that of the late thread is not theirs.
fn behind_a_peer_of_the_thread_of_timers(app: Thread) -> Explained {
    let (ktimers, rcuc) = (rt("ktimers/1", 19, 1), rt("rcuc/1", 20, 1));
    let scene = Scene::new().cpu(1).at(10).unseen_switch_to(app).sign(ContextFlags::default());
    let scene = scene.at(20).arm(TIMER, 100).at(25).sleep(rcuc).at(102).vector("local_timer");
    let scene = scene.at(105).wake(ktimers, 1).vector_exit("local_timer").at(8_100).sleep(ktimers).softirq(8);
    let scene = scene.at(8_110).fire(TIMER).wake(app, 1).fired(TIMER).at(8_120).softirq_exit(8).at(8_130);
    scene.sleep(app).at(8_200).sleep(IDLE).explain("app")
}

#[test]
fn what_has_the_priority_of_the_thread_of_timers_comes_before_a_thread_that_is_not_real_time() {
    let explained = behind_a_peer_of_the_thread_of_timers(fair("app", 10));
    assert_blames(explained.worst(), Cause::HigherPriorityTask, Some(rt("rcuc/1", 20, 1)));
    let why = &explained.worst().verdict.why;
    assert!(why.contains("kept ktimers/1:19 (rt 1) off the CPU"), "{why}");
    assert!(explained.finding("equal-priority-task").is_none(), "{:?}", explained.codes());
}

#[test]
fn what_has_the_priority_of_the_thread_of_timers_has_not_that_of_the_late_thread() {
    let explained = behind_a_peer_of_the_thread_of_timers(rt("app", 10, 50));
    let finding = explained.finding("equal-priority-task").expect("a finding");
    let reason = "it runs before ktimers/1:19 (rt 1), which runs that thread's timer";
    assert!(finding.title.ends_with(reason), "{}", finding.title);
    let moved = finding.fix.iter().find(|fix| fix.text.starts_with("rcuc/1:20 (rt 1) belongs to its CPU"));
    assert!(moved.is_some(), "{:?}", finding.fix);
}

#[test]
fn a_late_timer_over_a_thread_in_the_kernel_is_interrupts_disabled() {
    let scene = sleeping(Scene::new(), APP).at(90).call(sys::READ, [3, 0, 0]);
    let activation = last(handled_late(scene));
    assert_charges(&activation, &[(Cause::IrqsDisabled, 200), (Cause::Dispatch, 3), (Cause::OwnWork, 47)]);
    assert_blames(&activation, Cause::IrqsDisabled, Some(APP));
    assert_eq!(activation.verdict.confidence, Confidence::Medium);
}

#[test]
fn a_late_timer_over_user_code_is_stolen_time() {
    let scene = sleeping(Scene::new(), APP).at(80).call(sys::READ, [3, 0, 0]).at(90).ret(sys::READ);
    let activation = last(handled_late(scene));
    assert_charges(&activation, &[(Cause::Stolen, 200), (Cause::Dispatch, 3), (Cause::OwnWork, 47)]);
    assert_blames(&activation, Cause::Stolen, None);
    assert_eq!(activation.verdict.confidence, Confidence::Medium);
}

#[test]
fn a_late_timer_after_a_page_fault_may_be_the_kernels() {
    let scene = sleeping(Scene::new(), APP).at(80).call(sys::READ, [3, 0, 0]).at(85).ret(sys::READ);
    let activation = last(handled_late(scene.at(90).fault(0x7f00_0000)));
    assert_charges(&activation, &[(Cause::TimerLate, 200), (Cause::Dispatch, 3), (Cause::OwnWork, 47)]);
    assert_eq!(activation.verdict.confidence, Confidence::Low);
}

#[test]
fn a_late_timer_on_an_idle_cpu_is_the_way_out_of_idle() {
    let activation = last(handled_late(sleeping(Scene::new(), IDLE)));
    assert_charges(&activation, &[(Cause::IdleExit, 200), (Cause::Dispatch, 3), (Cause::OwnWork, 47)]);
    assert_blames(&activation, Cause::IdleExit, None);
}

#[test]
fn no_idle_state_takes_ten_milliseconds() {
    let explained = sleeping(Scene::new(), IDLE)
        .at(10 * MS)
        .fire(TIMER)
        .wake(VICTIM, 1)
        .fired(TIMER)
        .at(10 * MS + 3)
        .run(VICTIM)
        .at(10 * MS + 50)
        .sleep(IDLE)
        .explain("victim");
    let activation = explained.worst();
    assert_charges(activation, &[(Cause::Stolen, 10 * MS - 100), (Cause::Dispatch, 3), (Cause::OwnWork, 47)]);
    assert_blames(activation, Cause::Stolen, None);
}

#[test]
fn an_interrupt_handler_in_front_of_the_timer_is_charged() {
    let scene = sleeping(Scene::new(), APP).at(98).irq(16, "usb").at(298).irq_exit(16);
    let activation = last(handled_late(scene));
    assert_charges(
        &activation,
        &[(Cause::Irq, 198), (Cause::TimerLate, 2), (Cause::Dispatch, 3), (Cause::OwnWork, 47)],
    );
    assert_eq!(activation.verdict.cause, Cause::Irq);
}

#[test]
fn slack_is_what_a_fair_thread_is_given() {
    let victim = fair("victim", 10);
    let explained = Scene::new()
        .cpu(1)
        .at(10)
        .unseen_switch_to(victim)
        .arm_with_slack(TIMER, 100, 150)
        .at(25)
        .sleep(IDLE)
        .at(150)
        .fire(TIMER)
        .wake(victim, 1)
        .fired(TIMER)
        .at(155)
        .run(victim)
        .at(185)
        .sleep(IDLE)
        .explain("victim");
    let activation = explained.worst();
    assert_charges(activation, &[(Cause::TimerSlack, 50), (Cause::Dispatch, 5), (Cause::OwnWork, 30)]);
    assert_blames(activation, Cause::TimerSlack, None);
    assert_eq!(activation.due, Ns::from_us(100));
}

#[test]
fn a_timer_later_than_its_slack_is_late_by_the_rest() {
    let victim = fair("victim", 10);
    let explained = Scene::new()
        .cpu(1)
        .at(10)
        .unseen_switch_to(victim)
        .arm_with_slack(TIMER, 100, 150)
        .at(25)
        .sleep(IDLE)
        .at(450)
        .fire(TIMER)
        .wake(victim, 1)
        .fired(TIMER)
        .at(455)
        .run(victim)
        .at(485)
        .sleep(IDLE)
        .explain("victim");
    let activation = explained.worst();
    assert_charges(
        activation,
        &[(Cause::TimerSlack, 50), (Cause::IdleExit, 300), (Cause::Dispatch, 5), (Cause::OwnWork, 30)],
    );
    assert_blames(activation, Cause::IdleExit, None);
}

#[test]
fn a_cpu_that_wakes_slowly_from_idle_is_charged_until_the_switch() {
    let waker = fair("waker", 40);
    let explained = Scene::new()
        .cpu(2)
        .at(0)
        .run(waker)
        .cpu(1)
        .at(0)
        .sign(ContextFlags::default())
        .cpu(2)
        .at(100)
        .wake(VICTIM, 1)
        .cpu(1)
        .at(280)
        .run(VICTIM)
        .at(330)
        .sleep(IDLE)
        .explain("victim");
    let activation = explained.only();
    assert_charges(activation, &[(Cause::IdleExit, 180), (Cause::OwnWork, 50)]);
    assert_blames(activation, Cause::IdleExit, None);
}

#[test]
fn a_timer_whose_start_was_lost_is_due_when_it_fires() {
    let explained = sleeping(Scene::new(), IDLE)
        .at(101)
        .fire(TIMER)
        .wake(VICTIM, 1)
        .fired(TIMER)
        .at(103)
        .run(VICTIM)
        .at(150)
        .sign(ContextFlags::default())
        .at(9 * MS)
        .lose()
        .sign(ContextFlags::default())
        .at(9 * MS + 10)
        .sleep(IDLE)
        .at(20 * MS)
        .fire(TIMER)
        .wake(VICTIM, 1)
        .fired(TIMER)
        .at(20 * MS + 3)
        .run(VICTIM)
        .at(20 * MS + 50)
        .sleep(IDLE)
        .explain("victim");
    let activations = explained.in_order();
    let last = activations.last().expect("an activation");
    // What the timer was armed for the last time that it was seen is over.
    assert_eq!(last.due, Ns::from_us(20 * MS));
    assert_charges(last, &[(Cause::Dispatch, 3), (Cause::OwnWork, 47)]);
}

#[test]
fn a_timer_that_was_cancelled_is_not_late() {
    let other = 0xffff_8881_0000_1000;
    let explained = Scene::new()
        .cpu(1)
        .at(10)
        .unseen_switch_to(VICTIM)
        .arm(other, 50)
        .at(20)
        .event(EventKind::HrtimerCancel { hrtimer: other })
        .sleep(IDLE)
        .at(900)
        .fire(other)
        .wake(VICTIM, 1)
        .fired(other)
        .at(903)
        .run(VICTIM)
        .at(950)
        .sleep(IDLE)
        .explain("victim");
    let activations = explained.in_order();
    let last = activations.last().expect("an activation");
    assert_eq!(last.due, Ns::from_us(900));
    assert_charges(last, &[(Cause::Dispatch, 3), (Cause::OwnWork, 47)]);
}

#[test]
fn the_cancel_that_the_kernel_traces_with_each_expiry_is_none() {
    // `__run_hrtimer` takes the timer off its queue, which is traced as `hrtimer_cancel`, and then calls it.
    let explained = sleeping(Scene::new(), IDLE)
        .at(300)
        .vector("local_timer")
        .event(EventKind::HrtimerCancel { hrtimer: TIMER })
        .fire(TIMER)
        .wake(VICTIM, 1)
        .fired(TIMER)
        .vector_exit("local_timer")
        .at(303)
        .run(VICTIM)
        .at(350)
        .sleep(IDLE)
        .explain("victim");
    let activations = explained.in_order();
    let last = activations.last().expect("an activation");
    assert_eq!(last.due, Ns::from_us(100));
    assert_charges(last, &[(Cause::IdleExit, 200), (Cause::Dispatch, 3), (Cause::OwnWork, 47)]);
}

/// Forty of `flood`'s timers expire in one interrupt, in front of the victim's work, and each takes 50 us.
fn tick_with_many_timers(arming: Thread) -> Activation {
    let mut scene = Scene::new().cpu(1).at(0).run(arming);
    for n in 0..40 {
        scene = scene.arm(0x1000 + n, 1_000);
    }
    scene = scene
        .at(50)
        .sleep(IDLE)
        .at(100)
        .timer_wakes(VICTIM)
        .at(105)
        .run(VICTIM)
        .at(1_000)
        .vector("local_timer");
    for n in 0..40 {
        scene = scene.callback(0x1000 + n, "posix_timer_fn", 50);
    }
    let explained = scene.at(3_010).vector_exit("local_timer").at(3_100).sleep(IDLE).explain("victim");
    explained.worst().clone()
}

#[test]
fn an_interrupt_of_many_timers_shows_which_thread_armed_them() {
    let activation = tick_with_many_timers(fair("flood", 30));
    let verdict = &activation.verdict;
    assert_eq!((verdict.cause, verdict.charged), (Cause::Irq, Ns::from_us(2_010)));
    let said: Vec<&str> = verdict.evidence.iter().map(|evidence| evidence.what.as_str()).collect();
    let timers = said.iter().find(|what| what.contains("40 timers expired")).expect("what it ran");
    assert!(
        timers.contains("posix_timer_fn ran 40 times for 2.00 ms, 40 of them armed by flood:30"),
        "{timers}"
    );
    assert!(verdict.why.contains("flood:30 (nice 0) armed nearly all timers"), "{}", verdict.why);
    assert!(verdict.fix[0].text.starts_with("move flood:30 (nice 0) to another CPU"), "{:?}", verdict.fix);
}

/// The late thread is not advised to move away from itself.
#[test]
fn a_thread_that_armed_the_timers_itself_is_to_arm_fewer() {
    let activation = tick_with_many_timers(VICTIM);
    let texts = texts(&activation.verdict.fix);
    assert!(texts.starts_with("let fewer timers expire at once") && !texts.contains("taskset"), "{texts}");
}

/// The words of fixes.
pub(super) fn texts(fixes: &[whylate_base::AdvisedFix]) -> String {
    fixes.iter().map(|fix| fix.text.as_str()).collect::<Vec<_>>().join(" ")
}

/// Whether timers that expire `slack` ms late in each period of so many are a finding, of a warning's severity.
fn is_found(period: i64, slack: i64) -> bool {
    let victim = fair("victim", 10);
    let mut scene = Scene::new().cpu(1).at(10).unseen_switch_to(victim);
    for n in 1..=20 {
        let due = n * period * MS;
        scene = scene.call(sys::CLOCK_NANOSLEEP, sys::UNTIL).arm_with_slack(TIMER, due, due + slack * MS);
        scene = scene.sleep(IDLE).at(due + slack * MS).fire(TIMER).wake(victim, 1).fired(TIMER);
        scene =
            scene.at(due + slack * MS + 5).run(victim).ret(sys::CLOCK_NANOSLEEP).at(due + slack * MS + 50);
    }
    let explained = scene.sleep(IDLE).explain("victim");
    explained.finding("timer-slack").is_some_and(|finding| {
        let title = format!("victim:10 starts late by the slack of its timers: by up to {slack}.00 ms");
        assert!(finding.title.starts_with(&title), "{}", finding.title);
        assert!(finding.fix.iter().any(|fix| fix.text.contains("/proc/PID/timerslack_ns")));
        finding.severity == Severity::Warning
    })
}

#[test]
fn slack_that_is_a_part_of_the_periods_is_a_finding() {
    assert!(is_found(20, 15));
    assert!(!is_found(100, 2), "a poll of this length has some");
    assert!(!is_found(20, 0));
}
