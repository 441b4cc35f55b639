//! Packets and their answers: round trips.

use super::packets::Packet;
use std::collections::BTreeSet;
use whylate_base::{Ns, Tid};
use whylate_ledger::Spread;

/// A peer that was held up has answered all that waited within so many answers.
const CATCH_UP: usize = 32;

/// A packet and its answer. Instants of the peer are in its own time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Trip {
    pub(super) sent: Packet,
    pub(super) at_peer: Ns,
    pub(super) answered: Packet,
    pub(super) received: Ns,
}

impl Trip {
    pub(super) fn time(&self) -> Ns {
        self.received.since(self.sent.at)
    }
}

/// The round trips of two recordings, in order; `shifts` are those of the join, there and back. A peer answers in the order of
/// the packets, also where several wait. Packets that wait for longer than the next [`CATCH_UP`] answers were lost on the peer.
pub(super) fn trips(
    there: (&[Packet], &[Packet]),
    back: (&[Packet], &[Packet]),
    shifts: (isize, isize),
) -> Vec<Trip> {
    let partner = |all: &[Packet], index: usize, shift: isize| {
        all.get(usize::try_from(index as isize + shift).ok()?).copied()
    };
    let requests: Vec<(Packet, Ns)> = (there.0.iter().enumerate())
        .filter_map(|(index, &sent)| Some((sent, partner(there.1, index, shifts.0)?.at)))
        .collect();
    let answers: Vec<(Packet, Ns)> = (back.1.iter().enumerate())
        .filter_map(|(index, received)| Some((partner(back.0, index, shifts.1)?, received.at)))
        .collect();
    // For each answer the packets that the peer had by then, less the answers until it.
    let waiting: Vec<isize> = (answers.iter().enumerate())
        .map(|(index, (answered, _))| {
            requests.partition_point(|&(_, at_peer)| at_peer <= answered.at) as isize - index as isize - 1
        })
        .collect();
    let (mut lost, mut next) = (0, 0);
    let mut trips = Vec::new();
    for (index, &(answered, received)) in answers.iter().enumerate() {
        let until = waiting.len().min(index + CATCH_UP);
        let stale = waiting[index..until].iter().copied().min().unwrap_or_default();
        lost = stale.max(lost).min(waiting[index]);
        let Ok(request) = usize::try_from(index as isize + lost) else { continue };
        let Some(&(sent, at_peer)) = requests.get(request).filter(|(sent, _)| sent.at <= received) else {
            continue;
        };
        if request >= next {
            trips.push(Trip { sent, at_peer, answered, received });
            next = request + 1;
        }
    }
    trips
}

/// The threads that sent and that answered. What softirqs send, no thread does.
pub(super) fn threads(trips: &[Trip]) -> (BTreeSet<Tid>, BTreeSet<Tid>) {
    let of = |tid: fn(&Trip) -> Tid| trips.iter().map(tid).filter(|&tid| tid != Tid::IDLE).collect();
    (of(|trip| trip.sent.tid), of(|trip| trip.answered.tid))
}

/// The distribution of the round trips.
pub(super) fn spread(trips: &[Trip]) -> Option<Spread> {
    let mut times: Vec<Ns> = trips.iter().map(Trip::time).collect();
    times.sort_unstable();
    let at =
        |share: usize| times.get((times.len() * share / 100).min(times.len().saturating_sub(1))).copied();
    Some(Spread { min: *times.first()?, p50: at(50)?, p99: at(99)?, max: *times.last()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(ms: i64) -> Packet {
        Packet { at: Ns::from_ms(ms), tid: Tid(1) }
    }

    /// Packets each 10 ms, those of `answered` with an answer after `after` ms; all instants in one clock.
    fn answered(count: i64, after: impl Fn(i64) -> Option<i64>) -> Vec<i64> {
        let sent: Vec<Packet> = (0..count).map(|cycle| packet(cycle * 10)).collect();
        let at_peer: Vec<Packet> = (0..count).map(|cycle| packet(cycle * 10 + 1)).collect();
        let answers: Vec<i64> = (0..count).filter_map(|cycle| Some(cycle * 10 + after(cycle)?)).collect();
        let answered: Vec<Packet> = answers.iter().map(|&ms| packet(ms)).collect();
        let received: Vec<Packet> = answers.iter().map(|&ms| packet(ms + 1)).collect();
        let trips = trips((&sent, &at_peer), (&answered, &received), (0, 0));
        trips.iter().map(|trip| trip.time().0 / 1_000_000).collect()
    }

    #[test]
    fn an_answer_is_that_of_its_packet() {
        assert_eq!(answered(100, |_| Some(3)), [4; 100]);
        // Those that wait while the peer is held up are answered in their order.
        let held_up = |cycle: i64| Some(if (50..53).contains(&cycle) { 33 - (cycle - 50) * 9 } else { 3 });
        let expected = |cycle: i64| held_up(cycle).map(|after| after + 1);
        assert_eq!(answered(100, held_up), (0..100).filter_map(expected).collect::<Vec<_>>());
        // The first ones came before the peer listened; another was lost.
        let lost = |cycle: i64| (cycle >= 4 && cycle != 60).then_some(3);
        assert_eq!(answered(100, lost), [4; 95]);
        // Only each tenth is answered.
        assert_eq!(answered(500, |cycle| (cycle % 10 == 0).then_some(3)), [4; 50]);
        assert!(answered(0, |_| Some(3)).is_empty());
    }
}
