//! Two machines with a cable between them, both booted.

use crate::cable::CableEnd;
use crate::scratch::Scratch;
use crate::visit::{Visit, Visited};
use crate::{LabError, Machine};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

/// One machine with its visit, and the directory for its results.
#[derive(Clone, Copy, Debug)]
pub struct PairSide<'a> {
    /// The machine.
    pub machine: &'a Machine,
    /// What it does.
    pub visit: &'a Visit,
    /// Where its files go.
    pub out: &'a Path,
}

/// Boots two machines with a cable between them: `main` has the address 10.0.2.1, and `peer` 10.0.2.2. Neither begins with
/// its steps before both have their addresses. When `main` has done its visit the peer's programs are interrupted, and its
/// results come back as well.
///
/// # Errors
/// As of [`Machine::run`], of either.
pub fn run_pair(
    main: PairSide<'_>,
    peer: PairSide<'_>,
    stop: &AtomicBool,
) -> Result<(Visited, Visited), LabError> {
    let parent = std::env::temp_dir();
    let directory = Scratch::new_in(&parent).map_err(LabError::file("create a directory in", &parent))?;
    let [end_of_main, end_of_peer] = CableEnd::both(directory.path());
    let main_machine = Machine { cable: Some(end_of_main), ..main.machine.clone() };
    let peer_machine = Machine { cable: Some(end_of_peer), ..peer.machine.clone() };
    let (main_done, main_failed, peer_failed) =
        (AtomicBool::new(false), AtomicBool::new(false), AtomicBool::new(false));
    let (main, peer) = std::thread::scope(|scope| {
        let beside = scope.spawn(|| {
            let ended = peer_machine.run_beside(peer.visit, peer.out, &main_failed, None, Some(&main_done));
            peer_failed.store(ended.is_err(), Ordering::Release);
            ended
        });
        let ended = main_machine.run_beside(main.visit, main.out, stop, Some(&peer_failed), None);
        match &ended {
            Ok(_) => main_done.store(true, Ordering::Release),
            Err(_) => main_failed.store(true, Ordering::Release),
        }
        (ended, beside.join().unwrap_or(Err(LabError::Stopped)))
    });
    match (main, peer) {
        (Ok(main), Ok(peer)) => Ok((main, peer)),
        // The peer's failure has stopped the other.
        (Err(LabError::Stopped), Err(why)) | (Ok(_), Err(why)) => Err(why),
        (Err(why), _) => Err(why),
    }
}
