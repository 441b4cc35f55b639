//! A second guest, on a network with the first.

use super::names::{EXIT_CODE, STDERR, TRACE};
use crate::output::message;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use whylate_base::printable;
use whylate_lab::{LabError, Machine, PairSide, Visit, Visited, run_pair};

/// The directory of its results, in that of the first guest's.
pub(super) const PEER: &str = "peer";

/// What the second guest does.
pub(super) struct Peer {
    pub(super) visit: Visit,
    /// What the user should know of it.
    pub(super) notes: Vec<String>,
    /// Where its files go.
    pub(super) out: PathBuf,
}

impl Peer {
    /// Its recording.
    pub(super) fn trace(&self) -> PathBuf {
        self.out.join(TRACE)
    }

    /// Boots both; reports how the peer went.
    pub(super) fn run(
        &self,
        machine: &Machine,
        visit: &Visit,
        out: &Path,
        stop: &AtomicBool,
    ) -> Result<Visited, LabError> {
        let main = PairSide { machine, visit, out };
        let peer = PairSide { machine, visit: &self.visit, out: &self.out };
        let (main, peer) = run_pair(main, peer, stop)?;
        for note in self.notes.iter().chain(&peer.notes).chain(&peer.report.problems) {
            message!("note: the peer: {note}");
        }
        for error in peer.report.steps.iter().filter_map(|step| step.error.as_ref()) {
            message!("the peer {error}");
        }
        let code = std::fs::read_to_string(self.out.join(EXIT_CODE)).unwrap_or_default();
        let _ = std::fs::remove_file(self.out.join(EXIT_CODE));
        let see = self.out.join(STDERR);
        match code.trim() {
            "" => message!("the peer's program was not run to its end; see {}", see.display()),
            code if peer.interrupted => {
                message!(
                    "the peer's program was interrupted when the other had ended (exit code {})",
                    printable(code)
                );
            }
            code => {
                message!(
                    "the peer's program ended with exit code {}; see {}",
                    printable(code),
                    see.display()
                );
            }
        }
        Ok(main)
    }
}
