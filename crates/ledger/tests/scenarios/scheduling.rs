//! Waiting behind other threads, handlers, and sections that cannot be interrupted.

use super::support::{
    IDLE, MS, Scene, Thread, assert_blames, assert_charges, charged_to, deadline, fair, rt, sys,
};
use whylate_base::{Confidence, Cpu, Ns, Severity, Tid};
use whylate_events::{ContextFlags, EventKind};
use whylate_ledger::{Activation, Cause, Culprit, Options, Select, Trigger};

const VICTIM: Thread = rt("victim", 10, 80);
const APP: Thread = fair("app", 30);

/// `hog` has CPU 1 when the victim's timer fires, and keeps it for 331 us.
fn behind(hog: Thread) -> Activation {
    let explained = Scene::new()
        .cpu(1)
        .at(0)
        .run(hog)
        .at(100)
        .timer_wakes(VICTIM)
        .at(431)
        .sleep(VICTIM)
        .at(500)
        .sleep(IDLE)
        .explain("victim");
    explained.only().clone()
}

#[test]
fn a_higher_priority_thread_is_charged_and_named() {
    let hog = rt("multipathd", 20, 99);
    let activation = behind(hog);
    assert_charges(&activation, &[(Cause::HigherPriorityTask, 331), (Cause::OwnWork, 69)]);
    assert_blames(&activation, Cause::HigherPriorityTask, Some(hog));
    assert_eq!(activation.trigger, Trigger::Timer);
    assert_eq!((activation.due, activation.woken), (Ns::from_us(100), Some(Ns::from_us(100))));
    assert_eq!((activation.running, activation.done), (Some(Ns::from_us(431)), Some(Ns::from_us(500))));
    assert_eq!(activation.latency(), Some(Ns::from_us(331)));
    assert_eq!(activation.verdict.charged, Ns::from_us(331));
    assert_eq!(activation.verdict.share, 331.0 / 400.0);
    assert_eq!(activation.verdict.confidence, Confidence::High);
    assert!(activation.verdict.why.contains("multipathd:20 (rt 99)"), "{}", activation.verdict.why);
    assert!(!activation.verdict.fix.is_empty() && !activation.verdict.evidence.is_empty());
}

#[test]
fn an_equal_is_not_preempted() {
    let peer = rt("peer", 20, 80);
    let activation = behind(peer);
    assert_charges(&activation, &[(Cause::EqualPriorityTask, 331), (Cause::OwnWork, 69)]);
    assert_blames(&activation, Cause::EqualPriorityTask, Some(peer));
}

#[test]
fn idle_injection_is_a_matter_of_the_temperature() {
    let activation = behind(rt("idle_inject/1", 20, 90));
    assert!(activation.verdict.why.contains("which keeps its CPU idle"), "{}", activation.verdict.why);
    let fixes: Vec<_> = activation.verdict.fix.iter().map(|fix| fix.text.as_str()).collect();
    assert!(fixes.len() == 1 && fixes[0].starts_with("cool the machine better"), "{fixes:?}");
}

#[test]
fn a_deadline_thread_goes_before_every_priority() {
    let hog = deadline("dl", 20);
    let activation = behind(hog);
    assert_charges(&activation, &[(Cause::DeadlineTask, 331), (Cause::OwnWork, 69)]);
    assert_blames(&activation, Cause::DeadlineTask, Some(hog));
}

#[test]
fn the_stopper_is_told_from_a_thread_of_priority_99() {
    let stopper = rt("migration/1", 20, 99);
    let activation = behind(stopper);
    assert_charges(&activation, &[(Cause::StopTask, 331), (Cause::OwnWork, 69)]);
    assert_blames(&activation, Cause::StopTask, Some(stopper));
}

#[test]
fn preemption_in_the_middle_of_its_work_counts() {
    let hog = rt("hog", 20, 90);
    let explained = Scene::new()
        .cpu(1)
        .at(0)
        .sign(ContextFlags::default())
        .at(100)
        .timer_wakes(VICTIM)
        .at(104)
        .run(VICTIM)
        .at(200)
        .timer_wakes(hog)
        .at(203)
        .run(hog)
        .at(703)
        .sleep(VICTIM)
        .at(800)
        .sleep(IDLE)
        .explain("victim");
    let activation = explained.only();
    assert_charges(
        activation,
        &[(Cause::Dispatch, 4), (Cause::OwnWork, 99 + 97), (Cause::HigherPriorityTask, 500)],
    );
    assert_blames(activation, Cause::HigherPriorityTask, Some(hog));
    assert_eq!(activation.latency(), Some(Ns::from_us(4)));
}

#[test]
fn of_two_culprits_each_is_charged_its_own_and_the_greater_is_named() {
    let (long, short) = (rt("long", 20, 90), rt("short", 21, 91));
    let explained = Scene::new()
        .cpu(1)
        .at(0)
        .run(short)
        .at(100)
        .timer_wakes(VICTIM)
        .at(150)
        .sleep(long)
        .at(350)
        .sleep(VICTIM)
        .at(400)
        .sleep(IDLE)
        .explain("victim");
    let activation = explained.only();
    assert_charges(activation, &[(Cause::HigherPriorityTask, 250), (Cause::OwnWork, 50)]);
    assert_eq!(charged_to(activation, Cause::HigherPriorityTask, short), Ns::from_us(50));
    assert_blames(activation, Cause::HigherPriorityTask, Some(long));
    assert_eq!(activation.verdict.charged, Ns::from_us(200));
}

#[test]
fn a_hard_interrupt_is_charged_by_line_and_name() {
    let explained = Scene::new()
        .cpu(1)
        .at(0)
        .sign(ContextFlags::default())
        .at(100)
        .timer_wakes(VICTIM)
        .at(105)
        .run(VICTIM)
        .at(110)
        .irq(24, "eth0")
        .at(410)
        .irq_exit(24)
        .at(500)
        .sleep(IDLE)
        .explain("victim");
    let activation = explained.only();
    assert_charges(activation, &[(Cause::Dispatch, 5), (Cause::OwnWork, 95), (Cause::Irq, 300)]);
    assert_eq!(activation.verdict.cause, Cause::Irq);
    assert_eq!(activation.verdict.by, Some(Culprit::Irq { irq: Some(24), name: "eth0".into() }));
}

#[test]
fn a_softirq_holds_up_the_thread_it_woke_and_the_bystander_is_not_accused() {
    let explained = Scene::new()
        .cpu(1)
        .at(0)
        .run(APP)
        .at(90)
        .softirq(3)
        .at(100)
        .wake(VICTIM, 1)
        .at(390)
        .softirq_exit(3)
        .at(395)
        .run(VICTIM)
        .at(500)
        .sleep(APP)
        .explain("victim");
    let activation = explained.only();
    // The thread below the softirq could be preempted only once the softirq was over.
    assert_charges(activation, &[(Cause::Softirq, 290), (Cause::Dispatch, 5), (Cause::OwnWork, 105)]);
    assert_eq!(activation.verdict.cause, Cause::Softirq);
    assert_eq!(activation.verdict.by, Some(Culprit::Softirq { vec: 3 }));
    assert_eq!(activation.trigger, Trigger::Softirq { vec: 3 });
}

/// Three packets' softirqs delay the victim, as `raise` has it.
fn flooded(raise: impl Fn(Scene) -> Scene) -> Activation {
    let mut scene = Scene::new().cpu(1).at(0).run(APP);
    for number in 1..4 {
        let at = number * 1_000;
        scene = raise(scene.at(at + 20));
        scene = scene.at(at + 100).softirq(3).at(at + 110).wake(VICTIM, 1).at(at + 700).softirq_exit(3);
        scene = scene.at(at + 705).run(VICTIM).at(at + 800).sleep(APP);
    }
    let explained = scene.explain("victim");
    explained.worst().clone()
}

#[test]
fn the_thread_or_interrupt_that_raises_a_softirq_is_named() {
    let raise = EventKind::SoftirqRaise { vec: 3 };
    let by_thread = flooded(|scene| scene.event(raise));
    assert_eq!(by_thread.verdict.by, Some(Culprit::Softirq { vec: 3 }));
    let why = &by_thread.verdict.why;
    assert!(why.contains("app:") && why.ends_with("raises nearly all of it there"), "{why}");
    assert_eq!(by_thread.verdict.fix.first().map(|fix| fix.action.kind()), Some("thread"));

    let by_irq = flooded(|scene| scene.irq(24, "eth0").event(raise).irq_exit(24));
    assert!(by_irq.verdict.why.contains("; irq 24 eth0 raises"), "{}", by_irq.verdict.why);
    assert_eq!(by_irq.verdict.fix.first().map(|fix| fix.action.kind()), Some("irq"));

    let unseen = flooded(|scene| scene);
    assert!(!unseen.verdict.why.contains("raises"), "{}", unseen.verdict.why);
    assert!(unseen.verdict.fix.iter().all(|fix| fix.action.kind() == "code"));
}

/// The victim is woken from CPU 2 while `app` has CPU 1 and is seen to be asked to yield.
fn not_given_way(flags: ContextFlags) -> Activation {
    not_given_way_behind(flags, None)
}

/// The same, and an event in between has the flags of an interrupt.
fn not_given_way_behind(flags: ContextFlags, interrupt: Option<ContextFlags>) -> Activation {
    let waker = fair("waker", 40);
    let asked = ContextFlags::NEED_RESCHED | flags;
    let scene = Scene::new()
        .cpu(1)
        .at(0)
        .run(APP)
        .cpu(2)
        .at(0)
        .run(waker)
        .at(100)
        .wake(VICTIM, 1)
        .cpu(1)
        .at(200)
        .sign(asked);
    let scene = interrupt.into_iter().fold(scene, |scene, flags| scene.at(300).sign(asked | flags));
    let explained = scene.at(399).sign(asked).at(402).run(VICTIM).at(500).sleep(APP).explain("victim");
    explained.only().clone()
}

#[test]
fn an_event_with_interrupts_off_shows_which_thread_disabled_them() {
    let activation = not_given_way(ContextFlags::IRQS_OFF);
    assert_charges(&activation, &[(Cause::IrqsDisabled, 302), (Cause::OwnWork, 98)]);
    assert_blames(&activation, Cause::IrqsDisabled, Some(APP));
    assert_eq!(activation.verdict.confidence, Confidence::High);
    assert!(matches!(activation.trigger, Trigger::Thread { tid, .. } if tid.0 == 40));
    // They were on again when an interrupt came.
    let interrupted = not_given_way_behind(ContextFlags::IRQS_OFF, Some(ContextFlags::HARDIRQ));
    assert_blames(&interrupted, Cause::PreemptionDisabled, Some(APP));
    assert!(interrupted.verdict.confidence < Confidence::High, "{interrupted:#?}");
}

#[test]
fn an_event_with_need_resched_shows_which_thread_disabled_preemption() {
    let activation = not_given_way(ContextFlags::default());
    assert_charges(&activation, &[(Cause::PreemptionDisabled, 302), (Cause::OwnWork, 98)]);
    assert_blames(&activation, Cause::PreemptionDisabled, Some(APP));
    assert_eq!(activation.verdict.confidence, Confidence::High);
}

#[test]
fn a_fair_thread_waits_its_turn() {
    let victim = fair("victim", 10);
    let explained = Scene::new()
        .cpu(1)
        .at(0)
        .run(APP)
        .at(100)
        .timer_wakes(victim)
        .at(4 * MS)
        .run(victim)
        .at(5 * MS)
        .sleep(APP)
        .explain("victim");
    let activation = explained.only();
    assert_charges(activation, &[(Cause::FairQueue, 3_900), (Cause::OwnWork, 1_000)]);
    assert_blames(activation, Cause::FairQueue, Some(APP));
}

#[test]
fn a_thread_that_never_ran_is_starved() {
    let hog = rt("hog", 20, 90);
    let explained = Scene::new()
        .cpu(1)
        .at(0)
        .run(hog)
        .at(100)
        .timer_wakes(VICTIM)
        .at(300 * MS)
        .sign(ContextFlags::default())
        .explain("victim");
    let activation = explained.only();
    assert_charges(activation, &[(Cause::HigherPriorityTask, 300 * MS - 100)]);
    assert_blames(activation, Cause::Starved, Some(hog));
    assert_eq!((activation.running, activation.done, activation.latency()), (None, None, None));
    assert!(explained.finding("starved").is_some(), "{:?}", explained.codes());
}

#[test]
fn a_move_is_charged_on_each_cpu_and_counted_where_it_ran() {
    let hog = rt("hog", 20, 90);
    let explained = Scene::new()
        .cpu(1)
        .at(0)
        .run(hog)
        .cpu(2)
        .at(0)
        .sign(ContextFlags::default())
        .cpu(1)
        .at(100)
        .timer_wakes(VICTIM)
        .cpu(2)
        .at(300)
        .migrate(VICTIM, 1, 2)
        .at(305)
        .run(VICTIM)
        .at(400)
        .sleep(IDLE)
        .explain("victim");
    let activation = explained.only();
    assert_charges(
        activation,
        &[(Cause::HigherPriorityTask, 200), (Cause::IdleExit, 5), (Cause::OwnWork, 95)],
    );
    let cpus: Vec<Cpu> = activation.ledger.iter().map(|segment| segment.cpu).collect();
    assert_eq!(cpus, [Cpu(1), Cpu(2), Cpu(2)]);
    assert_blames(activation, Cause::HigherPriorityTask, Some(hog));
    assert_eq!(activation.cpu, Cpu(2), "the CPU it first ran on");
    let tracks: Vec<Cpu> = activation.tracks.iter().map(|track| track.cpu).collect();
    assert_eq!(tracks, [Cpu(1), Cpu(2)]);
}

#[test]
fn an_interrupts_thread_is_named_as_one() {
    let thread = rt("irq/27-eth0", 20, 90);
    let activation = behind(thread);
    assert_blames(&activation, Cause::HigherPriorityTask, Some(thread));
    let verdict = &activation.verdict;
    assert!(verdict.why.contains("the thread of interrupt 27 (eth0)"), "{}", verdict.why);
    assert!(verdict.fix[0].text.contains("/proc/irq/27/smp_affinity_list"), "{:?}", verdict.fix);
    let plain = behind(rt("irqbalance", 20, 90));
    assert!(!plain.verdict.why.contains("interrupt"), "{}", plain.verdict.why);
}

/// A program's thread `victim:10` preempts its main thread `victim:30`, SCHED_OTHER, for 1.3 ms.
fn preempts_its_main_thread(select: Select) -> Option<Severity> {
    let main = fair("victim", 30);
    let scene = Scene::new().cpu(1).at(0).sign(ContextFlags::default());
    let scene = scene.at(100).timer_wakes(main).at(105).run(main).at(150).timer_wakes(VICTIM);
    let scene = scene.at(155).run(VICTIM).at(1_455).sleep(main).at(1_500).sleep(IDLE);
    let options = Options { tasks: vec![select], ..Options::default() };
    let explained = scene.explain_with(&options);
    explained.finding("higher-priority-task").map(|finding| finding.severity)
}

#[test]
fn a_thread_that_preempts_its_programs_main_thread_is_no_warning() {
    assert_eq!(preempts_its_main_thread(Select::Comm("victim".into())), Some(Severity::Info));
    assert_eq!(preempts_its_main_thread(Select::Tid(Tid(30))), Some(Severity::Warning));
}

/// Twenty periods of 10 ms; in one of them an interrupt of `delay` us cuts into the work of 300 us.
fn delayed_once(delay: i64, options: &Options) -> Option<Severity> {
    let mut scene = Scene::new().cpu(1).at(0).sign(ContextFlags::default());
    for n in 1..=20 {
        let (due, delay) = (n * 10 * MS, if n == 12 { delay } else { 0 });
        scene = scene.at(due).timer_wakes(VICTIM).at(due + 5).run(VICTIM);
        if delay > 0 {
            scene = scene.at(due + 50).irq(16, "eth0").at(due + 50 + delay).irq_exit(16);
        }
        scene = scene.at(due + 300 + delay).call(sys::CLOCK_NANOSLEEP, sys::UNTIL);
        scene = scene.arm(0xffff_0000 + VICTIM.tid as u64, due + 10 * MS).sleep(IDLE);
    }
    let explained = scene.explain_with(options);
    explained.finding("irq").map(|finding| finding.severity)
}

#[test]
fn a_delay_that_is_small_beside_the_period_is_no_warning() {
    let options = |deadline: Option<i64>| Options {
        tasks: vec![Select::Comm("victim".into())],
        deadline: deadline.map(Ns::from_us),
        ..Options::default()
    };
    assert_eq!(delayed_once(85, &options(None)), Some(Severity::Info));
    assert_eq!(delayed_once(250, &options(None)), Some(Severity::Warning));
    assert_eq!(delayed_once(85, &options(Some(350))), Some(Severity::Warning), "its deadline was missed");
}

#[test]
fn a_deadline_that_the_usual_work_misses_has_that_as_its_cause() {
    let explained = |deadline: Option<i64>| {
        let mut scene = Scene::new().cpu(1);
        for n in 1..=20 {
            let due = n * 10 * MS;
            scene = scene.at(due).timer_wakes(VICTIM).at(due + 5).run(VICTIM).at(due + 900);
            scene = scene.call(sys::CLOCK_NANOSLEEP, sys::UNTIL).sleep(IDLE);
        }
        let tasks = vec![Select::Comm("victim".into())];
        scene.explain_with(&Options { tasks, deadline: deadline.map(Ns::from_us), ..Options::default() })
    };
    let worst = |deadline| explained(deadline).worst().verdict.clone();
    let usual = worst(None);
    assert!(usual.why.starts_with("nothing delayed victim") && usual.fix.is_empty(), "{}", usual.why);
    let met = worst(Some(2_000));
    assert_eq!(met.why, usual.why);
    let missed = worst(Some(500));
    assert_eq!(missed.cause, Cause::OwnWork);
    assert!(missed.why.ends_with("with that it misses its deadline of 500.0 us as a rule"), "{}", missed.why);
    assert!(missed.fix.iter().any(|fix| fix.text.contains("longer deadline")), "{:?}", missed.fix);
}

#[test]
fn a_delay_that_a_deadline_has_no_time_for_is_the_cause_however_small() {
    // 12 us are no delay beside a period of 10 ms, and the deadline had 5 us left.
    let options = |deadline: i64| Options {
        tasks: vec![Select::Comm("victim".into())],
        deadline: Some(Ns::from_us(deadline)),
        ..Options::default()
    };
    assert_eq!(delayed_once(12, &options(400)), None);
    assert_eq!(delayed_once(12, &options(305)), Some(Severity::Warning));
}

#[test]
fn a_small_share_of_waiting_among_fair_threads_is_no_answer() {
    let worst = |ran: i64| {
        let scene = Scene::new().cpu(1).at(0).run(fair("bash", 20)).at(100).wake(APP, 1).at(500).sleep(APP);
        scene.at(500 + ran).sleep(IDLE).explain("app").only().verdict.clone()
    };
    assert_eq!(worst(1_000).cause, Cause::FairQueue);
    // It waited for 1 % of the time, and worked in the rest.
    let verdict = worst(40_000);
    assert_eq!((verdict.cause, verdict.charged), (Cause::OwnWork, Ns::from_us(40_000)));
    assert!(verdict.fix.is_empty(), "{:?}", verdict.fix);
}

#[test]
fn the_thread_that_polls_a_ring_is_named_as_one() {
    let verdict = behind(rt("iou-sqp-165", 20, 90)).verdict;
    assert!(verdict.why.contains("which polls an io_uring of process 165"), "{}", verdict.why);
    assert!(verdict.fix.iter().any(|fix| fix.text.contains("IORING_SETUP_SQPOLL")), "{:?}", verdict.fix);
}

/// Two SCHED_DEADLINE threads: which of them goes first is no warning.
#[test]
fn an_earlier_deadline_is_a_note() {
    let deadline = |name, tid| Thread { prio: -1, ..rt(name, tid, 1) };
    let (slow, fast) = (deadline("victim", 10), deadline("fast", 20));
    let scene = Scene::new().cpu(1).at(0).run(IDLE).at(100).timer_wakes(slow).at(105).run(slow);
    let scene = scene.at(400).timer_wakes(fast).at(405).run(fast).at(2_400).sleep(slow).at(2_600).sleep(IDLE);
    let explained = scene.explain("victim");
    let verdict = &explained.worst().verdict;
    assert!(verdict.why.contains("had an earlier deadline than victim"), "{}", verdict.why);
    assert_eq!(explained.finding("deadline-task").expect("a finding").severity, Severity::Info);
}
