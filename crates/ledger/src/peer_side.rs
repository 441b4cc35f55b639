//! The side of another machine, added to an explanation.

use crate::findings::{self, of_peer};
use crate::model::{Explanation, PeerRecording};

/// Adds the recording of another machine: its round trips, and the finding about those that it delayed.
pub fn add_peer(explanation: &mut Explanation, recording: PeerRecording) {
    findings::add(&mut explanation.findings, of_peer(&recording));
    explanation.peer = Some(recording);
}
