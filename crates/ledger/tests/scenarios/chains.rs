//! What happens before a wake-up: a device's interrupt, a packet, a work item; and chains of threads.

use crate::support::*;
use whylate_base::{Action, Confidence, Ns};
use whylate_events::{EventKind, Fact, Packet, PacketStep, Work, WorkStep};
use whylate_ledger::{
    Activation, Cause, ChainOptions, ChainPattern, Culprit, Explanation, Options, Select, explain,
};

const VICTIM: Thread = rt("reader", 11, 50);
const HOG: Thread = rt("hog", 12, 30);
const SENDER: Thread = rt("sender", 13, 40);
const KSOFTIRQD: Thread = fair("ksoftirqd/1", 21);
const KWORKER: Thread = fair("kworker/u8:2", 22);
const IRQ_THREAD: Thread = rt("irq/27-eth0", 23, 50);
const NAPI_THREAD: Thread = fair("napi/eth0-8193", 24);
const NET_RX: u32 = 3;

fn packet(step: PacketStep) -> EventKind {
    EventKind::Packet(Packet { skb: 0xabc0, len: 60, dev: "lo".into(), step })
}

fn work(step: WorkStep) -> EventKind {
    EventKind::Work(Work { work: 0xdef0, function: "flush_to_ldisc".into(), step })
}

fn polled() -> EventKind {
    EventKind::NapiPoll { dev: "eth0".into(), work: 1, budget: 64 }
}

impl Scene {
    /// The victim has CPU 0 in between, and sleeps then.
    fn victim_works(self, from: i64, until: i64) -> Scene {
        self.cpu(0).at(from).run(VICTIM).at(until).sleep(IDLE)
    }
}

/// The victim sleeps on CPU 0, and CPU 1 is idle.
fn idle() -> Scene {
    Scene::new().cpu(0).at(0).run(VICTIM).at(10).sleep(IDLE).cpu(1).at(20).run(IDLE)
}

/// The victim sleeps on CPU 0, and the hog has CPU 1.
fn asleep() -> Scene {
    Scene::new().cpu(0).at(0).run(VICTIM).at(10).sleep(IDLE).cpu(1).at(20).run(HOG)
}

/// The first advice is to give this thread a priority.
fn assert_raises(activation: &Activation, thread: &str) {
    let verdict = &activation.verdict;
    assert!(verdict.why.contains(&format!("was runnable ({thread}:")), "{}", verdict.why);
    let Action::Thread { set, .. } = &verdict.fix[0].action else { panic!("{:?}", verdict.fix[0]) };
    assert_eq!((set[0].thread.as_str(), set[0].priority.is_some()), (thread, true));
}

#[test]
fn an_interrupt_makes_its_thread_due() {
    let explained = asleep()
        .cpu(0)
        .at(1_000)
        .irq(27, "eth0")
        .at(1_040)
        .wake(VICTIM, 0)
        .at(1_050)
        .irq_exit(27)
        .at(1_055)
        .run(VICTIM)
        .at(1_100)
        .sleep(IDLE)
        .explain("reader");
    let last = *explained.in_order().last().expect("an activation");
    assert_eq!(last.due, Ns::from_us(1_000));
    assert_charges(last, &[(Cause::Irq, 50), (Cause::Dispatch, 5), (Cause::OwnWork, 45)]);
}

/// The interrupt of a network card, on the CPU of the hog.
fn card_interrupts() -> Scene {
    asleep().cpu(1).at(1_000).irq(27, "eth0")
}

/// ksoftirqd gets the hog's CPU after 3 ms, and wakes the victim.
fn received_late(interrupted: Scene) -> Scene {
    interrupted
        .at(1_003)
        .wake(KSOFTIRQD, 1)
        .at(1_005)
        .irq_exit(27)
        .at(4_000)
        .sleep(KSOFTIRQD)
        .at(4_010)
        .softirq(NET_RX)
        .at(4_030)
        .wake(VICTIM, 0)
        .victim_works(4_035, 4_100)
}

#[test]
fn a_packet_waits_for_ksoftirqd_behind_a_real_time_thread() {
    let interrupted = card_interrupts().at(1_002).event(EventKind::SoftirqRaise { vec: NET_RX });
    let explained = received_late(interrupted).explain("reader");
    let worst = explained.worst();
    assert_eq!(worst.due, Ns::from_us(1_000));
    assert_charges(
        worst,
        &[
            (Cause::Irq, 5),
            (Cause::SoftirqDeferred, 2_995),
            (Cause::NapiPoll, 30),
            (Cause::IdleExit, 5),
            (Cause::OwnWork, 65),
        ],
    );
    assert_blames(worst, Cause::SoftirqDeferred, Some(HOG));
    assert!(
        worst.verdict.why.contains("while ksoftirqd/1:21 (nice 0) was runnable"),
        "{}",
        worst.verdict.why
    );
}

/// The doubt about handlers on such a guest is none about a thread that had the CPU.
#[test]
fn where_cpus_stand_still_the_thread_that_had_the_cpu_is_still_named() {
    let interrupted = card_interrupts().at(1_002).event(EventKind::SoftirqRaise { vec: NET_RX });
    let mut scene = received_late(interrupted.fact(Fact::Hypervisor(true)));
    for n in 1..=5 {
        scene = scene.at(n * 10_000).vector("local_timer").callback(7, "tick_nohz_handler", 5);
        scene = scene.at(n * 10_000 + 3_000).vector_exit("local_timer");
    }
    let explained = scene.explain("reader");
    let verdict = &explained.worst().verdict;
    assert_eq!((verdict.cause, verdict.confidence), (Cause::SoftirqDeferred, Confidence::High));
}

/// As before, but no event shows that a softirq was raised, nor by what: nothing before the wake-up is charged.
#[test]
fn without_the_raise_nothing_before_the_wake_up_is_charged() {
    let explained = received_late(card_interrupts()).explain("reader");
    let worst = explained.worst();
    assert_eq!(worst.due, Ns::from_us(4_030));
    assert_charges(worst, &[(Cause::IdleExit, 5), (Cause::OwnWork, 65)]);
}

/// A thread that ksoftirqd outranks had its CPU: no rule lets it go first, and it is not accused.
#[test]
fn a_thread_that_does_not_go_first_is_not_accused() {
    let boosted = rt("ksoftirqd/1", 21, 60);
    let explained = asleep()
        .cpu(1)
        .at(1_000)
        .event(EventKind::SoftirqRaise { vec: NET_RX })
        .at(1_003)
        .wake(boosted, 1)
        .at(2_000)
        .sleep(boosted)
        .at(2_010)
        .softirq(NET_RX)
        .at(2_030)
        .wake(VICTIM, 0)
        .victim_works(2_035, 2_100)
        .explain("reader");
    let worst = explained.worst();
    assert!(worst.ledger.iter().all(|segment| segment.cause != Cause::SoftirqDeferred), "{worst:#?}");
    assert!(!matches!(worst.verdict.by, Some(Culprit::Task { tid, .. }) if tid.0 == HOG.tid), "{worst:#?}");
}

#[test]
fn the_thread_of_an_interrupt_waits_for_the_cpu() {
    let higher = rt("busy", 14, 80);
    let explained = asleep()
        .cpu(1)
        .at(900)
        .sleep(higher)
        .at(1_000)
        .irq(27, "eth0")
        .at(1_004)
        .irq_exit_wakes(27, IRQ_THREAD, 1)
        .at(3_000)
        .sleep(IRQ_THREAD)
        .at(3_050)
        .wake(VICTIM, 0)
        .victim_works(3_055, 3_100)
        .explain("reader");
    let worst = explained.worst();
    assert_charges(
        worst,
        &[
            (Cause::Irq, 4),
            (Cause::IrqThreadDelayed, 1_996),
            (Cause::IrqThread, 50),
            (Cause::IdleExit, 5),
            (Cause::OwnWork, 45),
        ],
    );
    assert_blames(worst, Cause::IrqThreadDelayed, Some(higher));
    assert_raises(worst, "irq/27-eth0");
}

/// The thread has run for 20 us each time.
#[test]
fn an_interrupts_thread_that_does_nothing_for_much_longer_than_usual_is_in_doubt() {
    let often = |mut scene: Scene, from: i64| {
        for start in (0..60).map(|run| from + run * 1_000) {
            scene = scene.cpu(1).at(start).irq(27, "eth0").at(start + 4).irq_exit_wakes(27, IRQ_THREAD, 1);
            scene = scene.at(start + 10).sleep(IRQ_THREAD).at(start + 30).sleep(IDLE);
        }
        scene
    };
    let delayed = |scene: Scene| {
        let scene = scene.cpu(1).at(100_000).irq(27, "eth0").at(100_004).irq_exit_wakes(27, IRQ_THREAD, 1);
        let scene =
            scene.at(100_010).sleep(IRQ_THREAD).at(103_050).wake(VICTIM, 0).victim_works(103_055, 103_100);
        scene.explain("reader")
    };
    let (unusual, unknown) = (delayed(often(idle(), 1_000)), delayed(idle()));
    assert_eq!(unusual.worst().verdict.cause, Cause::IrqThread);
    assert_eq!(unusual.worst().verdict.confidence, Confidence::Low);
    assert_eq!(unknown.worst().verdict.confidence, Confidence::High, "what is usual is not known");
}

/// The card's interrupt wakes the thread that polls it, which is SCHED_OTHER; it gets the CPU after the hog.
fn polled_by_a_thread() -> Scene {
    card_interrupts().at(1_003).wake(NAPI_THREAD, 1).at(1_005).irq_exit(27).at(4_000).sleep(NAPI_THREAD)
}

#[test]
fn a_packet_waits_for_the_napi_thread_behind_a_real_time_thread() {
    let explained = polled_by_a_thread()
        .at(4_030)
        .wake(VICTIM, 0)
        .at(4_032)
        .event(polled())
        .victim_works(4_035, 4_100)
        .explain("reader");
    let worst = explained.worst();
    assert_eq!(worst.due, Ns::from_us(1_000));
    assert_charges(
        worst,
        &[
            (Cause::Irq, 5),
            (Cause::NapiThreadDelayed, 2_995),
            (Cause::NapiPoll, 30),
            (Cause::IdleExit, 5),
            (Cause::OwnWork, 65),
        ],
    );
    assert_blames(worst, Cause::NapiThreadDelayed, Some(HOG));
    assert_raises(worst, "napi/eth0-8193");
}

/// What the second poll finds may have come after the first: the hog is not accused of its delay.
#[test]
fn a_later_poll_has_packets_of_its_own() {
    let explained = polled_by_a_thread()
        .at(4_020)
        .event(polled())
        .at(4_030)
        .wake(VICTIM, 0)
        .victim_works(4_035, 4_100)
        .explain("reader");
    let worst = explained.worst();
    assert_eq!(worst.due, Ns::from_us(4_030));
    assert_charges(worst, &[(Cause::IdleExit, 5), (Cause::OwnWork, 65)]);
}

/// The sender queues a work item on CPU 0; its kworker waits on CPU 1.
fn by_work_item() -> Scene {
    asleep()
        .cpu(0)
        .at(990)
        .timer_wakes(SENDER)
        .at(992)
        .run(SENDER)
        .at(1_000)
        .event(work(WorkStep::Queued))
        .at(1_002)
        .wake(KWORKER, 1)
        .at(1_010)
        .sleep(IDLE)
        .cpu(1)
        .at(3_000)
        .sleep(KWORKER)
        .at(3_005)
        .event(work(WorkStep::Started))
        .at(3_020)
        .wake(VICTIM, 0)
        .at(3_022)
        .event(work(WorkStep::Ended))
        .victim_works(3_025, 3_100)
}

#[test]
fn a_work_item_waits_for_its_kworker() {
    let explained = by_work_item().explain("reader");
    let worst = explained.worst();
    assert_eq!(worst.due, Ns::from_us(1_000));
    assert_charges(
        worst,
        &[
            (Cause::Dispatch, 2),
            (Cause::WorkItemDelayed, 1_998),
            (Cause::WorkItem, 20),
            (Cause::IdleExit, 5),
            (Cause::OwnWork, 75),
        ],
    );
    assert_blames(worst, Cause::WorkItemDelayed, Some(HOG));
}

fn with_chains(scene: Scene, chosen: &[&str]) -> Explanation {
    let chosen = chosen.iter().map(|text| ChainPattern::parse(text).expect("a chain")).collect();
    let options = Options {
        tasks: vec![Select::Comm("reader".into())],
        chains: Some(ChainOptions { chosen, deadline: Some(Ns::from_us(500)) }),
        ..Options::default()
    };
    explain(scene.source(), &options)
}

#[test]
fn a_chain_goes_by_the_work_item_and_its_hops_tile_it() {
    let explanation = with_chains(by_work_item(), &["sender -> work:flush_to_ldisc -> reader"]);
    let chains = explanation.chains.expect("chains");
    let [chain] = chains.found.as_slice() else { panic!("{chains:#?}") };
    assert_eq!(chain.names(), ["sender", "work:flush_to_ldisc", "reader"]);
    let [instance] = chain.worst.as_slice() else { panic!("{chain:#?}") };
    let hops: Vec<_> = instance.hops.iter().map(|hop| (hop.kind, hop.length().0 / 1_000)).collect();
    assert_eq!(hops, [("work", 10), ("work", 2_020), ("done", 80)]);
    let mut at = instance.start;
    for hop in &instance.hops {
        assert_eq!(hop.start, at);
        assert_eq!(hop.charges().iter().map(|(_, _, time)| *time).sum::<Ns>(), hop.length());
        at = hop.end;
    }
    assert_eq!((at, chain.late), (instance.end, 1));
    assert!(explanation.findings.iter().any(|finding| finding.code == "chain-late"));
}

#[test]
fn a_packet_leads_from_its_sender_to_its_reader() {
    let scene = asleep()
        .cpu(0)
        .at(990)
        .timer_wakes(SENDER)
        .at(992)
        .run(SENDER)
        .at(1_000)
        .event(packet(PacketStep::Queued))
        .at(1_003)
        .event(packet(PacketStep::Looped))
        .at(1_004)
        .event(EventKind::SoftirqRaise { vec: NET_RX })
        .at(1_005)
        .softirq(NET_RX)
        .at(1_006)
        .event(packet(PacketStep::Received))
        .at(1_010)
        .wake(VICTIM, 0)
        .at(1_012)
        .softirq_exit(NET_RX)
        .at(1_015)
        .run(VICTIM)
        .at(1_020)
        .event(packet(PacketStep::Copied))
        .at(1_100)
        .sleep(SENDER);
    let explanation = with_chains(scene, &["timer -> sender -> net:lo -> reader"]);
    let chains = explanation.chains.expect("chains");
    let [chain] = chains.found.as_slice() else { panic!("{chains:#?}") };
    let hops: Vec<_> = chain.worst[0].hops.iter().map(|hop| (hop.kind, hop.length().0 / 1_000)).collect();
    assert_eq!(hops, [("timer", 0), ("send", 10), ("packet", 10), ("done", 90)]);
}

#[test]
fn a_hop_that_the_trace_does_not_have_is_named_with_the_nearest() {
    let chains = with_chains(by_work_item(), &["sendr -> reader"]).chains.expect("chains");
    assert_eq!(chains.unknown[0].hop, "sendr");
    assert!(chains.unknown[0].nearest.contains(&"sender".to_owned()), "{chains:#?}");
    assert_eq!(chains.unmatched, ["sendr -> reader"]);
    // Known, and in another order: no instance, and no unknown hop.
    let chains = with_chains(by_work_item(), &["reader -> sender"]).chains.expect("chains");
    assert!(chains.unknown.is_empty() && chains.unmatched.len() == 1 && chains.found.is_empty());
}

/// A thread that serves several callbacks is a hop of several chains.
#[test]
fn the_callbacks_of_a_thread_are_hops() {
    let callback = |name: &str| Fact::Callback { name: name.into() };
    let scene = asleep()
        .cpu(0)
        .at(990)
        .timer_wakes(SENDER)
        .at(1_000)
        .run(SENDER)
        .at(1_010)
        .fact(callback("timer"))
        .at(1_030)
        .wake(VICTIM, 0)
        .at(1_035)
        .run(VICTIM)
        .at(1_050)
        .fact(callback("/image"))
        .at(1_060)
        .fact(callback("/scan"))
        .at(1_100)
        .sleep(SENDER);
    let explanation =
        with_chains(scene, &["timer -> callback:t* -> callback:/scan", "sender -> callback:/map"]);
    let chains = explanation.chains.expect("chains");
    let [chain] = chains.found.as_slice() else { panic!("{chains:#?}") };
    assert_eq!(chain.names(), ["timer", "sender", "callback:timer", "reader", "callback:/scan"]);
    let hops: Vec<_> = chain.worst[0].hops.iter().map(|hop| (hop.kind, hop.length().0 / 1_000)).collect();
    assert_eq!(hops, [("timer", 0), ("call", 20), ("wake", 20), ("call", 30), ("done", 40)]);
    assert_eq!(chains.unknown[0].hop, "callback:/map");
    assert!(!chains.unknown[0].nearest.iter().any(|name| name.starts_with("net:")), "{:?}", chains.unknown);
}

/// The hard interrupt of a thread of its own takes `length` us before it wakes it.
fn own_handler(length: i64) -> Explained {
    let scene = asleep().cpu(1).at(1_000).irq(27, "eth0").at(1_000 + length);
    let scene = scene.irq_exit_wakes(27, IRQ_THREAD, 1).at(1_010 + length).run(IRQ_THREAD);
    scene.at(1_030 + length).sleep(IDLE).explain("irq/27-eth0")
}

#[test]
fn the_hard_handler_of_an_interrupts_own_thread_is_no_culprit_unless_it_is_long() {
    let usual = own_handler(55);
    assert!(usual.finding("irq").is_none(), "{:#?}", usual.0.findings);
    let verdict = &usual.only().verdict;
    assert_eq!(verdict.cause, Cause::Irq, "{verdict:#?}");
    assert!(verdict.why.contains("whose thread this is"), "{}", verdict.why);
    let advice =
        |fixes: &[whylate_base::AdvisedFix]| fixes.iter().any(|fix| fix.text.contains("smp_affinity"));
    assert!(!advice(&verdict.fix), "the thread moves with it: {:?}", verdict.fix);
    let long = own_handler(400);
    assert!(long.finding("irq").is_some_and(|finding| !advice(&finding.fix)), "{:#?}", long.0.findings);
}
