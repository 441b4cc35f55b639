//! The side of another machine, added to an explanation.

use crate::findings::of_peer;
use crate::model::{Explanation, PeerRecording};
use std::cmp::Reverse;

/// Adds the recording of another machine: its round trips, and the finding about those that it delayed.
pub fn add_peer(explanation: &mut Explanation, recording: PeerRecording) {
    explanation.findings.extend(of_peer(&recording));
    explanation.findings.sort_by_key(|finding| Reverse(finding.severity));
    explanation.peer = Some(recording);
}
