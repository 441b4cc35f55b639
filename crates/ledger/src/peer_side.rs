//! The side of another machine, added to an explanation.

use crate::findings::{self, of_chains, of_peer};
use crate::model::{Chains, Explanation, PeerRecording};
use whylate_base::Ns;

/// Adds the recording of another machine: its round trips, and the finding about those that it delayed.
pub fn add_peer(explanation: &mut Explanation, recording: PeerRecording) {
    findings::add(&mut explanation.findings, of_peer(&recording));
    explanation.peer = Some(recording);
}

/// Adds chains across both machines, before those of this one.
pub fn add_peer_chains(explanation: &mut Explanation, mut across: Chains, deadline: Option<Ns>) {
    if let Some(deadline) = deadline {
        findings::add(&mut explanation.findings, of_chains(&across, deadline));
    }
    if let Some(own) = explanation.chains.take() {
        across.found.extend(own.found);
        across.unmatched.extend(own.unmatched);
        across.unknown.extend(own.unknown);
        across.more += own.more;
    }
    explanation.chains = Some(across);
}
