//! Packets that a device of software hands to a thread of NAPI, as veth does with threaded NAPI.

use crate::support::*;
use whylate_base::{Confidence, Ns};
use whylate_events::{EventKind, Packet, PacketStep};
use whylate_ledger::{Cause, ChainOptions, ChainPattern, Options, Select};

const VICTIM: Thread = rt("reader", 11, 60);
const OTHER: Thread = rt("other", 12, 55);
const HOG: Thread = rt("hog", 13, 30);
const SENDER: Thread = rt("sender", 14, 70);
const NAPI: Thread = fair("napi/v1-8193", 24);
const CARD: Thread = fair("napi/eth0-8194", 25);
const FIRST: u64 = 0xabc0;
const SECOND: u64 = 0xabd0;

fn packet(skb: u64, dev: &str, step: PacketStep) -> EventKind {
    EventKind::Packet(Packet { skb, len: 60, dev: dev.into(), step })
}

/// The victim and another thread wait for packets on CPU 0, and the hog has CPU 1.
fn waiting() -> Scene {
    let scene = Scene::new().cpu(0).at(0).run(OTHER).at(10).sleep(VICTIM).at(20).sleep(IDLE);
    scene.cpu(1).at(30).run(HOG)
}

impl Scene {
    /// The sender has CPU 1 for 20 us and sends a packet in the middle; it wakes this thread, if one is to be woken.
    fn sends(self, at: i64, skb: Option<u64>, dev: &str, wakes: Option<Thread>) -> Scene {
        let event = |scene: Scene, step| match skb {
            Some(skb) => scene.event(packet(skb, dev, step)),
            None => scene,
        };
        let scene = event(self.cpu(1).at(at - 10).timer_wakes(SENDER).run(SENDER).at(at), PacketStep::Queued);
        let scene = match wakes {
            Some(thread) => scene.at(at + 2).wake(thread, 1),
            None => scene,
        };
        event(scene.at(at + 4), PacketStep::Sent).at(at + 10).sleep(HOG)
    }

    /// The thread on CPU 1 receives a packet and wakes this one.
    fn receives(self, at: i64, skb: Option<u64>, dev: &str, wakes: Thread) -> Scene {
        let scene = self.cpu(1).at(at);
        let scene = match skb {
            Some(skb) => scene.event(packet(skb, dev, PacketStep::Received)),
            None => scene,
        };
        scene.at(at + 5).wake(wakes, 0)
    }

    /// This thread has CPU 0 for 40 us.
    fn reads(self, at: i64, thread: Thread) -> Scene {
        self.cpu(0).at(at).run(thread).at(at + 40).sleep(IDLE)
    }
}

#[test]
fn a_packet_waits_for_the_napi_thread_that_its_sender_woke() {
    let scene = waiting().sends(1_000, Some(FIRST), "v0", Some(NAPI)).at(4_000).sleep(NAPI);
    let explained = scene.receives(4_010, Some(FIRST), "v1", VICTIM).reads(4_020, VICTIM).explain("reader");
    let worst = explained.worst();
    assert_eq!(worst.due, Ns::from_us(1_000));
    assert_blames(worst, Cause::NapiThreadDelayed, Some(HOG));
    assert_eq!((worst.verdict.charged, worst.verdict.confidence), (Ns::from_us(2_990), Confidence::High));
    assert!(worst.verdict.why.contains("(napi/v1-8193:24"), "{}", worst.verdict.why);
}

#[test]
fn a_chain_goes_on_with_the_thread_that_receives_the_packet() {
    let scene = waiting().sends(1_000, Some(FIRST), "v0", Some(NAPI)).at(4_000).sleep(NAPI);
    let scene = scene.receives(4_010, Some(FIRST), "v1", VICTIM).reads(4_020, VICTIM);
    let chosen = vec![ChainPattern::parse("timer -> sender -> net:v0 -> reader").expect("a chain")];
    let explained = scene.explain_with(&Options {
        tasks: vec![Select::Comm("reader".into())],
        chains: Some(ChainOptions { chosen, deadline: None }),
        ..Options::default()
    });
    let chains = explained.0.chains.expect("chains");
    let [chain] = chains.found.as_slice() else { panic!("{chains:#?}") };
    let hops: Vec<_> = chain.worst[0].hops.iter().map(|hop| (hop.kind, hop.length().0 / 1_000)).collect();
    assert_eq!(hops, [("timer", 0), ("send", 10), ("packet", 3_015), ("done", 45)]);
}

/// The thread of NAPI is runnable already when the victim's packet is sent.
#[test]
fn each_packet_of_a_poll_is_due_since_its_own_sending() {
    let scene = waiting().sends(1_000, Some(FIRST), "v0", Some(NAPI)).sends(3_500, Some(SECOND), "v0", None);
    let scene = scene.at(4_000).sleep(NAPI).receives(4_010, Some(FIRST), "v1", OTHER);
    let explained = scene
        .receives(4_020, Some(SECOND), "v1", VICTIM)
        .reads(4_030, OTHER)
        .reads(4_080, VICTIM)
        .explain("reader");
    let worst = explained.worst();
    assert_eq!(worst.due, Ns::from_us(3_500));
    assert_eq!(charged_to(worst, Cause::NapiThreadDelayed, HOG), Ns::from_us(490));
}

/// Two packets that the kernel has merged are received at once.
#[test]
fn a_packet_makes_a_thread_due_once() {
    let scene = waiting().sends(1_000, Some(FIRST), "v0", Some(NAPI)).sends(3_500, Some(SECOND), "v0", None);
    let scene = scene.at(4_000).sleep(NAPI).receives(4_010, Some(FIRST), "v1", VICTIM).reads(4_020, VICTIM);
    let scene = scene.cpu(1).at(4_100).wake(VICTIM, 0).reads(4_110, VICTIM);
    let explained = scene.explain("reader");
    let dues: Vec<_> = explained.in_order().iter().map(|one| one.due).collect();
    assert_eq!(dues[dues.len() - 2..], [Ns::from_us(1_000), Ns::from_us(4_100)]);
}

/// What a card receives is at the address of a packet that was sent before.
#[test]
fn what_another_thread_of_napi_receives_is_not_that_packet() {
    let scene = waiting().sends(1_000, Some(FIRST), "v0", Some(NAPI)).cpu(1).at(3_990).wake(CARD, 1);
    let scene = scene.at(4_000).sleep(CARD).receives(4_010, Some(FIRST), "eth0", VICTIM);
    let explained = scene.reads(4_020, VICTIM).explain("reader");
    assert_eq!(explained.worst().due, Ns::from_us(4_015));
    assert_eq!(explained.codes(), Vec::<&str>::new());
}

/// The card wakes its own thread to take back what it has sent; later a packet from elsewhere comes at the same address.
#[test]
fn a_card_that_takes_back_what_it_sent_hands_nothing_over() {
    let scene = waiting().sends(1_000, Some(FIRST), "eth0", Some(CARD)).at(4_000).sleep(CARD);
    let scene = scene.receives(4_010, Some(FIRST), "eth0", VICTIM);
    let explained = scene.reads(4_020, VICTIM).explain("reader");
    assert_eq!(explained.worst().due, Ns::from_us(4_015));
}

#[test]
fn without_packets_the_first_thread_that_is_woken_was_waited_for() {
    let scene = waiting().sends(1_000, None, "", Some(NAPI)).at(4_000).sleep(NAPI);
    let scene = scene.receives(4_010, None, "", VICTIM).receives(4_020, None, "", OTHER);
    let scene = scene.reads(4_030, VICTIM).reads(4_080, OTHER);
    let explained = scene.explain_with(&Options {
        tasks: ["reader", "other"].map(|comm| Select::Comm(comm.into())).into(),
        ..Options::default()
    });
    let last = |comm: &str| {
        let mut of = explained.in_order().into_iter().filter(|one| one.comm.as_str() == comm);
        of.next_back().expect("an activation").clone()
    };
    let first = last("reader");
    assert_eq!(first.due, Ns::from_us(1_002));
    assert_blames(&first, Cause::NapiThreadDelayed, Some(HOG));
    assert_eq!(first.verdict.confidence, Confidence::Medium);
    // For this one the packet may have come later.
    assert_eq!(last("other").due, Ns::from_us(4_025));
}
