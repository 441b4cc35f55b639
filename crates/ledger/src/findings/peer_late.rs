//! A round trip that took long because of the peer, by the peer's own recording.

use super::info::{FindingInfo, page};
use crate::causes::advised::{PEER, all_by_hand};
use crate::model::{Culprit, PeerHop, PeerPlace, PeerRecording, RoundTrip, thread_name};
use std::cmp::Reverse;
use whylate_base::{Confidence, Cpu, Evidence, Finding, Ns, Severity};

pub(super) const INFO: FindingInfo = FindingInfo { code: "peer-late", page: page!("peer-late") };

/// A peer that takes less beyond the usual makes nothing late.
const NOTABLE: Ns = Ns::from_us(200);
/// Round trips that are listed.
const LISTED: usize = 4;

/// At most one finding: a wrong one would accuse another machine, so the excess must be more than twice the error of the
/// clocks.
pub(crate) fn of_peer(peer: &PeerRecording) -> Vec<Finding> {
    let error = peer.join.error;
    let mut late: Vec<(&RoundTrip, &PeerHop)> = (peer.worst.iter())
        .filter_map(|trip| {
            let hop = trip.slowest(error)?;
            (hop.place == PeerPlace::Peer && hop.excess() > NOTABLE).then_some((trip, hop))
        })
        .collect();
    late.sort_by_key(|(trip, hop)| (Reverse(hop.excess()), trip.sent));
    let Some((trip, hop)) = late.first() else { return Vec::new() };
    vec![Finding {
        code: INFO.code,
        severity: Severity::Warning,
        title: format!(
            "an answer of the peer came after {}: {} took {} there, usually {}{}",
            trip.time(),
            thread(hop),
            hop.time(),
            hop.usually,
            charge(hop)
        ),
        why: format!(
            "{} shows what the peer did from its interrupt to its answer; its clock is joined with this machine's within {error}",
            peer.file
        ),
        evidence: late.iter().take(LISTED).map(|(trip, hop)| evidence(trip, hop)).collect(),
        fix: all_by_hand(
            PEER,
            &["on the peer: `whylate explain` of its recording has the advice for this cause"],
        ),
    }]
}

fn thread(hop: &PeerHop) -> String {
    hop.thread.map_or_else(|| "its thread".to_owned(), |(tid, comm)| thread_name(&comm, tid))
}

/// `; 3.01 ms of it is higher-priority-task by hog:80 (rt 70)`, and ` (low confidence)`.
fn charge(hop: &PeerHop) -> String {
    let by = |by: &Option<Culprit>| by.map_or_else(String::new, |by| format!(" by {by}"));
    match hop.charges.first() {
        Some((cause, culprit, time)) => {
            let doubt = match hop.confidence {
                Confidence::Low => " (low confidence)",
                _ => "",
            };
            format!("; {time} of it is {cause}{}{doubt}", by(culprit))
        }
        None => String::new(),
    }
}

fn evidence(trip: &RoundTrip, hop: &PeerHop) -> Evidence {
    let (tid, comm) = trip.thread;
    let what = format!(
        "{} sent a packet; its answer took {}, {} of it on the peer{}",
        thread_name(&comm, tid),
        trip.time(),
        hop.time(),
        charge(hop)
    );
    Evidence::at(trip.sent, Cpu::default(), what)
}
