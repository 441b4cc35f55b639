//! The offset and the drift between two machines' clocks, by packets of both directions.
//!
//! A packet cannot arrive before it was sent. So each packet to the peer bounds the offset from above, and each from it bounds
//! it from below. Which packet of the one recording is which of the other is not known: packets of one length are taken to
//! keep their order, and every shift of the order is tried. Wrong shifts are refuted by packets that were sent late or early,
//! as the others keep the rhythm. Of a mere rhythm nothing is refuted, and every shift is as good as the next: no join. Shifts by
//! which each packet takes some cycles longer may be left as well: the one with the least delays counts. What the packets leave
//! of it has the true offset in it, and its width is the error.

use super::error::PacketJoinError;
use super::packets::Packet;
use super::polygon::{Point, Polygon};
use whylate_base::Ns;
use whylate_ledger::PacketJoin;

/// Packets in each direction without which there is no join.
const FEWEST: usize = 50;
/// An offset that is less certain is of no use: hops are accused only where they exceed the usual by twice as much.
const MOST_ERROR: f64 = 1_000_000.0;
/// Clocks that are not set run apart by less, in ns per second.
const MOST_DRIFT: f64 = 1e6;
/// The first tests of a shift look at this many packets.
const SAMPLE: usize = 256;
/// By how much these may be off, as they know the drift only roughly.
const SLACK: f64 = 300_000.0;
/// Offsets with delays of up to this many times the least are as good as it.
const AS_GOOD: f64 = 1.5;
/// The packets leave at least this share of the typical delay of both ways: the fastest ones are not much faster. Less is left
/// where a wrong shift is not quite refuted.
const LEAST_LEFT: f64 = 0.2;
/// More answers are not compared.
const MOST_ANSWERS: usize = 64;

/// A joined clock.
#[derive(Clone, Debug)]
pub(super) struct Join {
    middle: Ns,
    base: f64,
    point: Point,
    error: Ns,
    covered: (Ns, Ns),
    /// For packet i of this machine's that were sent, the peer's packet of this index more; likewise of the peer's.
    pub(super) there: isize,
    pub(super) back: isize,
    sent: u64,
    received: u64,
}

impl Join {
    /// This machine's time of an instant of the peer's.
    pub(super) fn to_own(&self, peer: Ns) -> Ns {
        // The drift is small: one step of the fixed point is exact to well below a nanosecond per second.
        let near = peer.0 as f64 - self.offset_at(Ns(peer.0 - self.base as i64));
        Ns((peer.0 as f64 - self.offset_at(Ns(near as i64))) as i64)
    }

    fn offset_at(&self, own: Ns) -> f64 {
        self.base + self.point.at(seconds(own - self.middle))
    }

    /// No instant is off by more than this.
    pub(super) fn error(&self) -> Ns {
        self.error
    }

    /// In figures.
    pub(super) fn summary(&self) -> PacketJoin {
        PacketJoin {
            offset: Ns(self.offset_at(self.middle) as i64),
            drift_ppb: self.point.drift as i64,
            error: self.error,
            sent: self.sent,
            received: self.received,
            covered: self.covered,
        }
    }
}

/// One bound of the offset: at an instant of this machine, as peer's time less own.
#[derive(Clone, Copy, Debug)]
struct Bound {
    own: Ns,
    offset: Ns,
}

/// A direction: the bounds that a shift makes.
#[derive(Clone, Copy)]
struct Way<'p> {
    own: &'p [Packet],
    peer: &'p [Packet],
}

impl Way<'_> {
    /// The shifts of which at least half of the shorter side has a partner.
    fn shifts(&self) -> impl Iterator<Item = isize> + use<'_> {
        let (own, peer) = (self.own.len() as isize, self.peer.len() as isize);
        let least = (own.min(peer) / 2).max(FEWEST as isize);
        (-own..=peer).filter(move |&shift| {
            let (from, to) = self.overlap(shift);
            to as isize - from as isize >= least
        })
    }

    /// Of this machine's packets, those that have a partner.
    fn overlap(&self, shift: isize) -> (usize, usize) {
        let from = 0.max(-shift);
        let to = (self.own.len() as isize).min(self.peer.len() as isize - shift).max(from);
        (from as usize, to as usize)
    }

    fn bound(&self, index: usize, shift: isize) -> Option<Bound> {
        let own = self.own.get(index)?;
        let peer = self.peer.get(usize::try_from(index as isize + shift).ok()?)?;
        Some(Bound { own: own.at, offset: peer.at - own.at })
    }

    /// Every `step`th bound, those at the beginnings of strides first.
    fn bounds(&self, shift: isize, most: usize) -> impl Iterator<Item = Bound> + use<'_> {
        let (from, to) = self.overlap(shift);
        let step = (to - from).div_ceil(most).max(1);
        (from..to).step_by(step).filter_map(move |index| self.bound(index, shift))
    }
}

/// How fast the peer's clock runs away, roughly: by the fastest packets of the first and the last quarter. Others are late by what
/// the machines do, which differs from quarter to quarter.
fn drift(bounds: &[Bound], least: bool) -> f64 {
    let quarter = bounds.len() / 4;
    let fastest = |part: &[Bound]| match least {
        true => part.iter().copied().min_by_key(|bound| bound.offset),
        false => part.iter().copied().max_by_key(|bound| bound.offset),
    };
    let (Some(first), Some(last)) =
        (bounds.get(..quarter).and_then(fastest), bounds.get(bounds.len() - quarter..).and_then(fastest))
    else {
        return 0.0;
    };
    let apart = seconds(last.own - first.own);
    let run_away = (last.offset - first.offset).0 as f64;
    if apart > 0.0 { (run_away / apart).clamp(-MOST_DRIFT, MOST_DRIFT) } else { 0.0 }
}

fn seconds(time: Ns) -> f64 {
    time.0 as f64 / 1e9
}

/// Joins two clocks. `there` are this machine's packets at their send, and the peer's at their receipt; `back` the peer's at
/// their send, and this machine's at their receipt.
pub(super) fn join(
    there: (&[Packet], &[Packet]),
    back: (&[Packet], &[Packet]),
) -> Result<Join, PacketJoinError> {
    let (sent, received) = (Way { own: there.0, peer: there.1 }, Way { own: back.1, peer: back.0 });
    for (way, packets) in [("to the peer", sent), ("from the peer", received)] {
        let packets = packets.own.len().min(packets.peer.len());
        if packets < FEWEST {
            return Err(PacketJoinError::TooFew { way, packets, needed: FEWEST });
        }
    }
    let span = |packets: &[Packet]| Some((packets.first()?.at, packets.last()?.at));
    let (begin, end) = span(sent.own).unwrap_or_default();
    let middle = begin + Ns((end - begin).0 / 2);
    let left = left(sent, received, middle);
    let ends = [seconds(begin - middle), 0.0, seconds(end - middle)];
    let Some(first) = left.first() else { return Err(PacketJoinError::NoOffset) };
    if left.len() > 1 {
        let at = left.iter().filter_map(|one| Some(one.base + one.polygon.middle()?.offset));
        let (low, high) =
            at.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), at| (low.min(at), high.max(at)));
        return Err(PacketJoinError::Ambiguous { apart: Ns((high - low) as i64) });
    }
    let point = first.polygon.middle().ok_or(PacketJoinError::NoOffset)?;
    let off = |x: f64| {
        let (low, high) = first.polygon.range(x);
        (high - point.at(x)).max(point.at(x) - low)
    };
    let error = ends.map(off).into_iter().fold(0.0, f64::max).ceil();
    if error > MOST_ERROR {
        return Err(PacketJoinError::TooWide { error: Ns(error as i64), most: Ns(MOST_ERROR as i64) });
    }
    let counts =
        [sent.overlap(first.there), received.overlap(first.back)].map(|(from, to)| (to - from) as u64);
    let at = |packets: &[Packet], index: usize| packets.get(index).map_or(begin, |packet| packet.at);
    let (from, to) = sent.overlap(first.there);
    Ok(Join {
        middle,
        base: first.base,
        point,
        error: Ns(error as i64),
        covered: (at(sent.own, from), at(sent.own, to.saturating_sub(1))),
        there: first.there,
        back: first.back,
        sent: counts[0],
        received: counts[1],
    })
}

/// Shifts of both directions that no packet refutes, and what they leave, from `base` on.
struct Left {
    there: isize,
    back: isize,
    base: f64,
    polygon: Polygon,
}

/// What a sample shows of one shift: the bound that goes furthest, and that of a typical packet among the fast ones. Half of the
/// packets may be held up on a busy machine, so the median is none of the network.
struct Sampled {
    shift: isize,
    bound: f64,
    typical: f64,
}

/// Each shift has a drift of its own: one that is wrong by some packets shows another where the traffic changes its rhythm.
fn sampled(way: Way<'_>, middle: Ns, least: bool) -> Vec<Sampled> {
    let of_shift = |shift| {
        let bounds: Vec<Bound> = way.bounds(shift, SAMPLE).collect();
        let drift = drift(&bounds, least);
        let straight = |bound: &Bound| bound.offset.0 as f64 - drift * seconds(bound.own - middle);
        let mut offsets: Vec<f64> = bounds.iter().map(straight).collect();
        offsets.sort_unstable_by(f64::total_cmp);
        let bound = if least { offsets.first() } else { offsets.last() };
        let quarter = offsets.len() / 4;
        let typical = if least { quarter } else { offsets.len() - 1 - quarter };
        Some(Sampled { shift, bound: *bound?, typical: *offsets.get(typical)? })
    };
    way.shifts().filter_map(of_shift).collect()
}

/// The shifts with the least delays that no packet refutes.
fn left(sent: Way<'_>, received: Way<'_>, middle: Ns) -> Vec<Left> {
    let mut lower = sampled(received, middle, false);
    lower.sort_by(|one, other| one.bound.total_cmp(&other.bound));
    let mut possible: Vec<(f64, isize, isize, f64)> = Vec::new();
    for there in sampled(sent, middle, true) {
        let from = lower.partition_point(|back| back.bound < there.bound - 2.0 * MOST_ERROR - SLACK);
        let near = lower[from..].iter().take_while(|back| back.bound <= there.bound + SLACK);
        possible
            .extend(near.map(|back| (there.typical - back.typical, there.shift, back.shift, there.bound)));
    }
    possible.sort_by(|one, other| one.0.total_cmp(&other.0));
    let mut left: Vec<Left> = Vec::new();
    let mut most = f64::INFINITY;
    for (delays, there, back, base) in possible {
        if delays > most || left.len() >= MOST_ANSWERS {
            break;
        }
        let Some(polygon) = remaining((sent, there), (received, back), middle, base) else { continue };
        let (low, high) = polygon.range(0.0);
        if high - low >= delays * LEAST_LEFT {
            most = most.min(delays * AS_GOOD);
            left.push(Left { there, back, base, polygon });
        }
    }
    left
}

/// What two shifts leave, from `base` on; `None`: a packet refutes them.
fn remaining(sent: (Way<'_>, isize), received: (Way<'_>, isize), middle: Ns, base: f64) -> Option<Polygon> {
    let widest = MOST_DRIFT * seconds(sent.0.own.last()?.at - sent.0.own.first()?.at) + 10.0 * MOST_ERROR;
    let mut polygon = Polygon::within(widest, MOST_DRIFT);
    for most in [SAMPLE, usize::MAX] {
        for bound in sent.0.bounds(sent.1, most) {
            if !polygon.at_most(seconds(bound.own - middle), bound.offset.0 as f64 - base) {
                return None;
            }
        }
        for bound in received.0.bounds(received.1, most) {
            if !polygon.at_least(seconds(bound.own - middle), bound.offset.0 as f64 - base) {
                return None;
            }
        }
    }
    Some(polygon)
}

#[cfg(test)]
mod tests;
