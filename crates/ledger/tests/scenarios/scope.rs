//! A part of a trace: what is reported of it, and that what was so before it is known in it.

use super::support::{Explained, IDLE, MS, Scene, Thread, fair, rt};
use whylate_base::{Ns, Policy};
use whylate_events::Fact;
use whylate_ledger::{Cause, Options, OutsideTrace, Scope, Select};

const VICTIM: Thread = rt("victim", 10, 80);
const ROGUE: Thread = rt("rogue", 11, 90);

/// A period of the victim at `ms`, in which the rogue keeps it off CPU `cpu` for `late` us, and its work of 100 us.
fn period(scene: Scene, cpu: u32, ms: i64, late: i64) -> Scene {
    let at = ms * MS;
    let scene = match late {
        0 => scene.cpu(cpu).at(at).timer_wakes(VICTIM).at(at + 5).run(VICTIM),
        late => scene
            .cpu(cpu)
            .at(at)
            .timer_wakes(ROGUE)
            .at(at + 5)
            .run(ROGUE)
            .timer_wakes(VICTIM)
            .at(at + 5 + late)
            .sleep(VICTIM),
    };
    scene.at(at + 105 + late).sleep(IDLE)
}

/// Ten periods on CPU 1, of which the third is the latest and the ninth late; and one on CPU 2.
fn periods() -> Scene {
    let policy = Fact::Policy {
        tid: whylate_base::Tid(10),
        policy: Policy::Fifo,
        priority: 80,
        comm: "victim".into(),
    };
    let mut scene = Scene::new().cpu(2).at(0).run(IDLE).cpu(1).at(0).run(IDLE).fact(policy);
    for ms in 1..=10 {
        let late = match ms {
            3 => 700,
            9 => 400,
            _ => 0,
        };
        scene = period(scene, 1, ms, late);
    }
    period(scene, 2, 12, 0)
}

fn explained(from: Option<&str>, to: Option<&str>, cpus: Option<&str>) -> Explained {
    let instant = |text: Option<&str>| text.map(|text| text.parse().expect("an instant"));
    let scope =
        Scope { from: instant(from), to: instant(to), cpus: cpus.map(|cpus| cpus.parse().expect("a list")) };
    periods().explain_with(&Options {
        tasks: vec![Select::Comm("victim".into())],
        scope,
        deadline: Some(Ns::from_us(300)),
        ..Options::default()
    })
}

fn dues(explained: &Explained) -> Vec<i64> {
    explained.in_order().iter().map(|activation| activation.due.0 / 1_000_000).collect()
}

#[test]
fn activations_that_overlap_the_time_are_reported() {
    let all = explained(None, None, None);
    assert_eq!(all.0.scope, None);
    assert_eq!(all.0.tasks[0].activations, 11);
    let late = explained(Some("+8ms"), Some("+9100us"), None);
    assert_eq!(dues(&late), [8, 9]);
    let worst = late.worst();
    assert_eq!((worst.verdict.cause, worst.latency()), (Cause::HigherPriorityTask, Some(Ns::from_us(400))));
    // In the middle of one: it overlaps.
    assert_eq!(dues(&explained(Some("0.003300"), Some("0.003400"), None)), [3]);
    assert_eq!(late.0.tasks[0].activations, 2);
    // It is known from before.
    assert_eq!(late.0.tasks[0].policy, Some(Policy::Fifo));
}

#[test]
fn findings_follow_the_time() {
    let missed =
        |explained: &Explained| explained.finding("deadline-missed").map(|finding| finding.title.clone());
    let title = missed(&explained(Some("+8ms"), None, None)).unwrap_or_default();
    assert!(title.ends_with("in 1 of 4 activations"), "{title}");
    assert_eq!(missed(&explained(Some("+4ms"), Some("+8ms"), None)), None);
    assert_eq!(explained(Some("+4ms"), Some("+8ms"), None).codes(), [] as [&str; 0]);
}

#[test]
fn activations_on_the_cpus_are_reported() {
    assert_eq!(dues(&explained(None, None, Some("2,5"))), [12]);
    assert_eq!(dues(&explained(Some("+9ms"), None, Some("1"))), [9, 10]);
    let none = explained(Some("+4ms"), Some("+8ms"), Some("2"));
    assert!(none.0.tasks.is_empty() && none.0.activations.is_empty() && none.0.candidates.is_none());
    assert_eq!(none.0.scope.as_ref().and_then(|scope| scope.outside.clone()), None);
}

/// Five periods show what is usual; two in the scope would not.
#[test]
fn what_is_usual_is_so_beyond_the_scope() {
    let mut scene = Scene::new().cpu(1).at(0).run(IDLE);
    for ms in 1..=8 {
        scene = period(scene, 1, ms, 0);
    }
    let at = 9 * MS;
    let scene = scene.at(at).timer_wakes(VICTIM).at(at + 5).run(VICTIM).at(at + 905).sleep(IDLE);
    let scene = period(scene, 1, 11, 0);
    let options = Options {
        tasks: vec![Select::Comm("victim".into())],
        scope: Scope { from: Some("+8500us".parse().expect("an instant")), ..Scope::default() },
        ..Options::default()
    };
    let explained = scene.explain_with(&options);
    assert_eq!(dues(&explained), [9, 11]);
    let why = &explained.worst().verdict.why;
    assert!(why.contains("100.0 us") || why.contains("usual"), "{why}");
}

#[test]
fn what_is_outside_the_trace_is_reported_as_such() {
    let outside = |from, to, cpus| explained(from, to, cpus).0.scope.and_then(|scope| scope.outside);
    assert!(matches!(outside(Some("5"), None, None), Some(OutsideTrace::After { .. })));
    assert!(matches!(outside(None, None, Some("7")), Some(OutsideTrace::Cpus { .. })));
    assert_eq!(outside(Some("+1ms"), None, Some("0-1")), None);
}

/// A thread that was not chosen is counted in the scope alone.
#[test]
fn candidates_follow_the_scope() {
    let worker = fair("worker", 40);
    let one = |scene: Scene, at: i64, late: i64| {
        scene.at(at).wake(worker, 1).at(at + late).run(worker).at(at + late + 50).sleep(IDLE)
    };
    let scene = one(one(Scene::new().cpu(1).at(0).run(IDLE), 100, 500), 2_000, 20);
    let scope = Scope { from: Some("+1ms".parse().expect("an instant")), ..Scope::default() };
    let explained = scene.explain_with(&Options { scope, ..Options::default() });
    let candidates = explained.0.candidates.expect("candidates");
    let of = |at: usize| (candidates.threads[at].activations, candidates.threads[at].latency);
    assert_eq!((candidates.threads.len(), of(0)), (1, (1, Some(Ns::from_us(20)))));
}

/// The victim keeps its period up to 200 ms, and then sleeps for a while after each response; events are lost at 50 ms.
fn drifts_later(from: Option<&str>, to: Option<&str>) -> Explained {
    let timer = 0xffff_0000 + VICTIM.tid as u64;
    let mut scene = Scene::new().cpu(1).at(0).run(IDLE);
    let mut due = 10 * MS;
    for n in 0..40 {
        let response = 300 + n * n * 79 % 400;
        scene = scene.at(due).timer_wakes(VICTIM).at(due + 5).run(VICTIM).at(due + response);
        due += 10 * MS + if n < 20 { 0 } else { response };
        scene = scene.arm(timer, due).sleep(IDLE);
        if n == 4 {
            scene = scene.at(due - MS).lose();
        }
    }
    let instant = |text: Option<&str>| text.map(|text| text.parse().expect("an instant"));
    scene.explain_with(&Options {
        tasks: vec![Select::Comm("victim".into())],
        scope: Scope { from: instant(from), to: instant(to), cpus: None },
        ..Options::default()
    })
}

#[test]
fn losses_and_drift_are_those_of_the_part() {
    let of = |from, to| {
        let explained = drifts_later(from, to);
        ["trace-loss", "relative-sleep"].map(|code| explained.finding(code).is_some())
    };
    assert_eq!(of(None, Some("0.205")), [true, false]);
    assert_eq!(of(Some("0.215"), None), [false, true]);
}
