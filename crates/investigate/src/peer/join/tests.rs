//! Traffic of a cyclic master, made up with a known offset.

use super::*;
use whylate_base::Tid;

const OFFSET: i64 = 5_000_000_000;

/// Packets of a cyclic master and of its slave; both directions, as sent and as received.
struct Traffic {
    sent: Vec<Packet>,
    at_peer: Vec<Packet>,
    answered: Vec<Packet>,
    received: Vec<Packet>,
}

/// `count` cycles of 1 ms, in which the master is late by `late(cycle)` ns; the peer's clock runs away by `drift` ppm.
fn traffic(count: i64, drift: i64, late: impl Fn(i64) -> i64) -> Traffic {
    let peer = |own: i64| own + OFFSET + own / 1_000_000 * drift;
    let packet = |at: i64| Packet { at: Ns(at), tid: Tid(7) };
    let mut all = Traffic { sent: vec![], at_peer: vec![], answered: vec![], received: vec![] };
    for cycle in 0..count {
        let sent = cycle * 1_000_000 + late(cycle);
        // Each takes at least 100 us, and up to 30 us more.
        let noise = |seed: i64| (cycle * seed % 31) * 1_000;
        let at_peer = sent + 100_000 + noise(7);
        let answered = at_peer + 50_000 + noise(11);
        let received = answered + 100_000 + noise(13);
        all.sent.push(packet(sent));
        all.at_peer.push(packet(peer(at_peer)));
        all.answered.push(packet(peer(answered)));
        all.received.push(packet(received));
    }
    all
}

fn joined(traffic: &Traffic) -> Result<Join, PacketJoinError> {
    join((&traffic.sent, &traffic.at_peer), (&traffic.answered, &traffic.received))
}

/// Late now and then, by up to 700 us, without any rhythm (the mixing steps of splitmix64).
fn uneven(cycle: i64) -> i64 {
    let mut mixed = cycle.unsigned_abs().wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed ^= mixed >> 27;
    if mixed % 97 == 5 { 100_000 + (mixed >> 32) as i64 % 7 * 100_000 } else { 0 }
}

#[test]
fn the_offset_is_within_the_stated_error() {
    for drift in [0, 40, -300] {
        let mut traffic = traffic(3_000, drift, uneven);
        // The recordings begin and end at different times.
        traffic.sent.drain(..120);
        traffic.answered.truncate(2_900);
        let join = joined(&traffic).expect("a packet was late");
        let summary = join.summary();
        assert!(summary.error > Ns(80_000) && summary.error < Ns(200_000), "{summary:?}");
        for own in [200_000_000, 1_500_000_000, 2_900_000_000] {
            let peer = own + OFFSET + own / 1_000_000 * drift;
            let error = join.to_own(Ns(peer)) - Ns(own);
            assert!(error.0.abs() <= summary.error.0, "drift {drift}: {error} of {}", summary.error);
        }
        assert_eq!(summary.sent, 2_880);
    }
}

#[test]
fn a_master_that_configures_its_slave_before_its_cycles_joins() {
    // Irregular frames first, then one each 20 ms; the peer's recording lacks the last ones.
    let late = |cycle: i64| match cycle {
        ..80 => cycle * 4_000_000 + cycle * 7_919 % 3_000 * 1_000,
        _ => 400_000_000 + (cycle - 80) * 19_000_000,
    };
    for lost in [2, 5] {
        let mut traffic = traffic(180, 30, late);
        traffic.at_peer.truncate(180 - lost);
        let join = joined(&traffic).expect("the first frames have no rhythm");
        assert_eq!((join.there, join.back), (0, 0));
    }
}

#[test]
fn machines_that_are_held_up_most_of_the_time_join() {
    // Each way takes 300 us at least, and half of the packets up to 8 ms.
    let mut busy = traffic(400, 0, |cycle| cycle * 9_000_000 + uneven(cycle) * 5);
    for (cycle, packet) in (0..).zip(busy.at_peer.iter_mut()) {
        packet.at += Ns(200_000 + if cycle % 2 == 0 { cycle * 131 % 8_000 * 1_000 } else { 0 });
    }
    for ((cycle, there), back) in (0..).zip(&mut busy.answered).zip(&mut busy.received) {
        there.at += Ns(8_200_000);
        back.at += Ns(8_400_000 + if cycle % 3 > 0 { cycle * 173 % 6_000 * 1_000 } else { 0 });
    }
    let summary = joined(&busy).expect("the fast packets show the offset").summary();
    assert!((summary.offset.0 - OFFSET).abs() <= summary.error.0, "{summary:?}");
}

#[test]
fn a_mere_rhythm_is_refused() {
    let error = joined(&traffic(2_000, 0, |_| 0)).expect_err("any cycle may be any other");
    assert!(matches!(error, PacketJoinError::Ambiguous { apart } if apart > Ns::from_ms(10)), "{error:?}");
}

#[test]
fn recordings_of_other_times_are_refused() {
    let (one, other) = (traffic(2_000, 0, uneven), traffic(2_000, 0, |cycle| uneven(cycle * 3 + 1)));
    let error =
        join((&one.sent, &other.at_peer), (&other.answered, &one.received)).expect_err("of other times");
    let is_refused = matches!(error, PacketJoinError::NoOffset | PacketJoinError::Ambiguous { .. });
    assert!(is_refused, "{error:?}");
    let few = traffic(20, 0, uneven);
    assert!(matches!(joined(&few), Err(PacketJoinError::TooFew { packets: 20, .. })));
}

#[test]
fn a_slow_network_is_refused() {
    let mut slow = traffic(500, 0, |cycle| cycle % 50 * 100_000);
    slow.at_peer.iter_mut().chain(&mut slow.answered).for_each(|packet| packet.at += Ns::from_ms(2));
    slow.received.iter_mut().for_each(|packet| packet.at += Ns::from_ms(4));
    assert!(joined(&slow).is_err());
}
