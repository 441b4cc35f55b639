//! What was not seen: lost events, a trace that begins or ends in the middle, a switch that was not recorded.

use super::support::{IDLE, MS, Scene, Thread, assert_blames, assert_charges, fair, rt, sys};
use whylate_base::{Confidence, Ns, Severity};
use whylate_events::{ContextFlags, Damage, Fact};
use whylate_ledger::{Cause, Trigger};

const VICTIM: Thread = rt("victim", 10, 80);
const HOG: Thread = rt("hog", 20, 90);

fn woken_and_running() -> Scene {
    Scene::new().cpu(1).at(0).sign(ContextFlags::default()).at(100).timer_wakes(VICTIM).at(105).run(VICTIM)
}

#[test]
fn time_in_which_events_were_lost_is_charged_to_the_loss() {
    let explained = woken_and_running()
        .at(200)
        .sign(ContextFlags::default())
        .at(5_300)
        .lose()
        .sign(ContextFlags::default())
        .at(5_310)
        .sleep(IDLE)
        .explain("victim");
    let activation = explained.only();
    assert_charges(activation, &[(Cause::Dispatch, 5), (Cause::OwnWork, 95 + 10), (Cause::TraceLoss, 5_100)]);
    assert_blames(activation, Cause::TraceLoss, None);
    let finding = explained.finding("trace-loss").expect("a finding");
    assert_eq!(finding.severity, Severity::Warning);
}

/// The second piece of a text is of another run: it has neither the victim nor the thread that held its CPU.
#[test]
fn an_activation_ends_with_the_piece_of_a_text_that_shows_it() {
    let other = fair("other", 40);
    let scene =
        Scene::new().cpu(1).at(0).run(HOG).at(100).timer_wakes(VICTIM).at(300).sign(ContextFlags::default());
    let scene = scene.at(9_000_000).cut().run(other).at(9_000_100).sleep(IDLE);
    let explained = scene.explain("victim");
    let activation = explained.only();
    assert_charges(activation, &[(Cause::HigherPriorityTask, 200)]);
    assert_blames(activation, Cause::HigherPriorityTask, Some(HOG));
    assert_eq!(activation.done, None);
}

#[test]
fn a_gap_between_rows_counts_once() {
    let scene = woken_and_running()
        .cpu(2)
        .at(110)
        .timer_wakes(HOG)
        .at(115)
        .run(HOG)
        .at(200)
        .sign(ContextFlags::default());
    let scene = scene.cpu(1).at(200).sign(ContextFlags::default()).at(5_200).cut().cpu(2).cut();
    let scene = scene.at(5_300).sleep(IDLE).cpu(1).sleep(IDLE);
    let explained = scene.explain_with(&whylate_ledger::Options::default());
    let title = &explained.finding("trace-loss").expect("a finding").title;
    assert!(title.ends_with("; up to 5.10 ms of a thread's activations fall in between"), "{title}");
}

#[test]
fn lost_page_faults_are_no_work_of_the_threads_own() {
    let scene = |lost: bool| {
        let scene = woken_and_running().at(200).sign(ContextFlags::default());
        let scene = scene.at(2_000).softirq(1).at(2_010).softirq_exit(1).at(5_300);
        let scene = if lost { scene.lose_workings(200) } else { scene };
        scene.sign(ContextFlags::default()).at(5_310).sleep(IDLE).explain("victim")
    };
    let explained = scene(true);
    assert_charges(
        explained.only(),
        &[(Cause::Dispatch, 5), (Cause::OwnWork, 95 + 10), (Cause::TraceLoss, 5_090), (Cause::Softirq, 10)],
    );
    assert_blames(explained.only(), Cause::TraceLoss, None);
    assert_blames(scene(false).only(), Cause::OwnWork, None);
}

#[test]
fn a_sleep_whose_switches_were_lost_is_no_stolen_time() {
    let sleeping = |lost: bool| {
        let scene = Scene::new().cpu(1).at(0).sign(ContextFlags::default()).fact(Fact::Hypervisor(true));
        let scene = scene.at(10).unseen_switch_to(VICTIM).call(sys::CLOCK_NANOSLEEP, sys::UNTIL);
        let scene = scene.at(15).sleep(IDLE).at(100).timer_wakes(VICTIM).at(105).run(VICTIM);
        let scene = scene.at(108).ret(sys::CLOCK_NANOSLEEP).at(200).call(sys::CLOCK_NANOSLEEP, sys::UNTIL);
        let scene = scene.at(3_200).ret(sys::CLOCK_NANOSLEEP).at(3_210);
        let scene = if lost { scene.lose_switches(190) } else { scene };
        let scene = scene.call(sys::CLOCK_NANOSLEEP, sys::UNTIL).at(3_300).sleep(IDLE);
        let explained = scene.explain("victim");
        let charged = |cause| {
            explained
                .0
                .activations
                .iter()
                .flat_map(|activation| &activation.ledger)
                .any(|segment| segment.cause == cause)
        };
        (charged(Cause::Stolen), charged(Cause::TraceLoss))
    };
    assert_eq!(sleeping(false), (true, false));
    assert_eq!(sleeping(true), (false, true));
}

#[test]
fn what_system_calls_show_does_not_end_a_gap_without_switches() {
    let explained = woken_and_running()
        .at(200)
        .sign(ContextFlags::default())
        .at(2_000)
        .unseen_switch_to(HOG)
        .sign(ContextFlags::default())
        .at(5_290)
        .sign(ContextFlags::default())
        .at(5_300)
        .lose_switches(200)
        .at(5_310)
        .unseen_switch_to(VICTIM)
        .sign(ContextFlags::default())
        .at(5_320)
        .sleep(IDLE)
        .explain("victim");
    assert_blames(explained.only(), Cause::TraceLoss, None);
    assert!(explained.only().ledger.iter().all(|segment| segment.cause != Cause::Unexplained));
}

#[test]
fn a_doubtful_recording_lowers_every_confidence_and_a_gap_elsewhere_none() {
    let explained = |damage: Option<Damage>| {
        let scene = damage.into_iter().fold(woken_and_running(), Scene::damaged);
        let explained = scene
            .at(200)
            .timer_wakes(HOG)
            .run(HOG)
            .at(1_200)
            .sleep(VICTIM)
            .at(1_300)
            .sleep(IDLE)
            .explain("victim");
        assert_blames(explained.only(), Cause::HigherPriorityTask, Some(HOG));
        explained.only().verdict.confidence
    };
    let gap = || Damage::at(4096, "a page is gone");
    assert_eq!(explained(None), Confidence::High);
    assert_eq!(explained(Some(gap())), Confidence::High);
    assert_eq!(explained(Some(gap().doubt())), Confidence::Low);
}

#[test]
fn a_loss_lowers_the_confidence_of_another_verdict() {
    let hog = rt("hog", 20, 90);
    let explained = woken_and_running()
        .at(200)
        .timer_wakes(hog)
        .run(hog)
        .at(1_200)
        .sleep(VICTIM)
        .at(1_300)
        .sign(ContextFlags::default())
        .at(1_350)
        .lose()
        .sign(ContextFlags::default())
        .at(1_400)
        .sleep(IDLE)
        .explain("victim");
    let activation = explained.only();
    assert_charges(
        activation,
        &[
            (Cause::Dispatch, 5),
            (Cause::OwnWork, 95 + 100 + 50),
            (Cause::HigherPriorityTask, 1_000),
            (Cause::TraceLoss, 50),
        ],
    );
    assert_blames(activation, Cause::HigherPriorityTask, Some(hog));
    assert_eq!(activation.verdict.confidence, Confidence::Medium);
}

#[test]
fn a_loss_on_another_cpu_changes_nothing() {
    let explained = woken_and_running()
        .cpu(2)
        .at(150)
        .sign(ContextFlags::default())
        .at(160)
        .lose()
        .cpu(1)
        .at(400)
        .sleep(IDLE)
        .explain("victim");
    let activation = explained.only();
    assert_charges(activation, &[(Cause::Dispatch, 5), (Cause::OwnWork, 295)]);
    assert_eq!(explained.finding("trace-loss").expect("a finding").severity, Severity::Info);
}

#[test]
fn an_activation_cut_by_the_start_begins_where_it_is_first_seen() {
    let explained = Scene::new()
        .cpu(1)
        .at(100)
        .unseen_switch_to(VICTIM)
        .sign(ContextFlags::default())
        .at(300)
        .sleep(IDLE)
        .explain("victim");
    let activation = explained.only();
    assert_eq!(activation.trigger, Trigger::TraceStart);
    assert_eq!((activation.due, activation.woken), (Ns::from_us(100), None));
    assert_eq!((activation.running, activation.done), (Some(Ns::from_us(100)), Some(Ns::from_us(300))));
    assert_charges(activation, &[(Cause::OwnWork, 200)]);
    assert!(explained.0.findings.is_empty(), "{:?}", explained.codes());
}

#[test]
fn an_activation_cut_by_the_end_is_charged_to_the_end() {
    let explained = woken_and_running().at(700).sign(ContextFlags::default()).explain("victim");
    let activation = explained.only();
    assert_eq!((activation.done, activation.end), (None, Ns::from_us(700)));
    assert_charges(activation, &[(Cause::Dispatch, 5), (Cause::OwnWork, 595)]);
}

#[test]
fn a_wait_cut_by_the_end_is_charged_to_the_thread_on_the_cpu() {
    let hog = rt("hog", 20, 90);
    let explained = Scene::new()
        .cpu(1)
        .at(0)
        .run(hog)
        .at(100)
        .timer_wakes(VICTIM)
        .at(9 * MS)
        .sign(ContextFlags::default())
        .explain("victim");
    let activation = explained.only();
    assert_charges(activation, &[(Cause::HigherPriorityTask, 9 * MS - 100)]);
    assert_blames(activation, Cause::HigherPriorityTask, Some(hog));
    assert_eq!(activation.running, None);
}

#[test]
fn a_context_shows_a_switch_that_was_not_seen() {
    let hog = rt("hog", 20, 90);
    let explained = Scene::new()
        .cpu(1)
        .at(0)
        .run(hog)
        .at(100)
        .timer_wakes(VICTIM)
        .at(200)
        .unseen_switch_to(VICTIM)
        .sign(ContextFlags::default())
        .at(250)
        .sleep(IDLE)
        .explain("victim");
    let activation = explained.only();
    // From the last event of the hog on it is not known which of the two ran.
    assert_charges(activation, &[(Cause::Unexplained, 100), (Cause::OwnWork, 50)]);
    assert_eq!(activation.running, Some(Ns::from_us(200)));
}

#[test]
fn a_thread_that_is_found_elsewhere_was_not_running_here() {
    let explained = woken_and_running()
        .at(200)
        .unseen_switch_to(fair("app", 30))
        .sign(ContextFlags::default())
        .at(500)
        .sign(ContextFlags::default())
        .at(510)
        .run(VICTIM)
        .at(600)
        .sleep(IDLE)
        .explain("victim");
    let activation = explained.only();
    // From its switch-in on no event shows where it was.
    assert_charges(activation, &[(Cause::Dispatch, 5), (Cause::OwnWork, 90), (Cause::Unexplained, 405)]);
    assert_blames(activation, Cause::Unexplained, None);
}

#[test]
fn a_cpu_that_was_not_recorded_starves_no_thread() {
    let explained = Scene::new()
        .cpu(1)
        .at(0)
        .run(fair("waker", 40))
        .at(100)
        .wake(VICTIM, 7)
        .at(500 * MS)
        .sign(ContextFlags::default())
        .explain("victim");
    let activation = explained.only();
    assert_charges(activation, &[(Cause::Unexplained, 500 * MS - 100)]);
    assert_blames(activation, Cause::Unexplained, None);
    assert!(explained.finding("starved").is_none());
}

#[test]
fn what_was_not_recorded_is_said() {
    let explained = woken_and_running().at(200).sleep(IDLE).explain("victim");
    let missing: Vec<&str> =
        explained.0.missing.iter().flat_map(|missing| missing.kind.tracepoints()).copied().collect();
    assert!(missing.contains(&"raw_syscalls:sys_enter"), "{missing:?}");
    assert!(!missing.contains(&"sched:sched_switch"), "{missing:?}");
}

#[test]
fn a_wait_that_the_trace_ends_in_is_reported_as_one() {
    let hog = rt("hog", 20, 90);
    let explained = Scene::new()
        .cpu(1)
        .at(0)
        .run(hog)
        .at(100)
        .timer_wakes(VICTIM)
        .at(9 * MS)
        .sign(ContextFlags::default())
        .explain("victim");
    assert!(
        explained.only().verdict.why.ends_with("to the end of the trace"),
        "{}",
        explained.only().verdict.why
    );
}

#[test]
fn a_wait_that_began_before_the_trace_accuses_no_thread() {
    // It was preempted, or woken, before the first event; nothing shows it until it runs.
    let hog = rt("hog", 20, 90);
    let explained = Scene::new()
        .cpu(1)
        .at(0)
        .unseen_switch_to(hog)
        .sign(ContextFlags::default())
        .at(50 * MS)
        .sleep(VICTIM)
        .at(51 * MS)
        .sleep(IDLE)
        .explain("victim");
    let activation = explained.only();
    assert_eq!(activation.trigger, Trigger::TraceStart);
    assert_charges(activation, &[(Cause::OwnWork, MS)]);
    assert_eq!(activation.latency(), None);
    assert!(explained.0.findings.is_empty(), "{:?}", explained.codes());
}

#[test]
fn a_preemption_is_charged_though_the_beginning_was_not_seen() {
    let hog = rt("hog", 20, 90);
    let explained = Scene::new()
        .cpu(1)
        .at(0)
        .unseen_switch_to(VICTIM)
        .sign(ContextFlags::default())
        .at(MS)
        .timer_wakes(hog)
        .run(hog)
        .at(9 * MS)
        .sleep(VICTIM)
        .at(10 * MS)
        .sleep(IDLE)
        .explain("victim");
    let activation = explained.only();
    assert_charges(activation, &[(Cause::OwnWork, 2 * MS), (Cause::HigherPriorityTask, 8 * MS)]);
    assert_blames(activation, Cause::HigherPriorityTask, Some(hog));
}

#[test]
fn a_sleep_that_the_trace_ends_in_is_no_wait() {
    let explained =
        woken_and_running().at(200).sleep(IDLE).at(900 * MS).sign(ContextFlags::default()).explain("victim");
    let activation = explained.only();
    assert_eq!(activation.done, Some(Ns::from_us(200)));
    assert_charges(activation, &[(Cause::Dispatch, 5), (Cause::OwnWork, 95)]);
}

#[test]
fn a_timer_that_events_were_lost_about_is_not_late() {
    // In the lost part the timer fired and was armed again, with the same address.
    let explained = |loses: bool, fires: i64| {
        let scene = woken_and_running().at(150).arm(7, 1_000).at(160).sleep(IDLE);
        let scene =
            if loses { scene.cpu(2).at(500).sign(ContextFlags::default()).at(900).lose() } else { scene };
        let scene = scene.cpu(1).at(fires).fire(7).wake(VICTIM, 1).fired(7).at(fires + 5).run(VICTIM);
        scene.at(fires + 50).sleep(IDLE).explain("victim")
    };
    for (loses, fires, due) in
        [(true, 9_000, 9_000), (true, 3_500, 3_500), (true, 1_002, 1_000), (false, 9_000, 1_000)]
    {
        let explained = explained(loses, fires);
        let last = explained.in_order().last().expect("an activation").due;
        assert_eq!(last, Ns::from_us(due), "lost: {loses}, fires at {fires}");
    }
}

#[test]
fn what_was_before_the_first_event_of_a_buffer_that_went_round_is_lost() {
    let other = rt("other", 20, 60);
    let begins = |lost: bool| {
        let scene = Scene::new().cpu(1).at(0).run(other).at(100).wake(VICTIM, 2).at(200).sleep(IDLE);
        let scene = scene.cpu(2).at(9 * MS);
        let scene = if lost { scene.lose() } else { scene };
        scene.run(VICTIM).at(9 * MS + 50).sleep(IDLE).explain("victim")
    };
    let whole = begins(false);
    assert_eq!(whole.only().latency(), Some(Ns::from_us(9 * MS - 100)));
    let lost = begins(true);
    assert!(lost.in_order().iter().all(|one| one.latency().is_none()), "{:?}", lost.in_order());
}
