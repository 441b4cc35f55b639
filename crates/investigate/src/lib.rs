//! Joins a probe, a recording and the ledger.
//!
//! ```text
//! record:   tracing session ──> trace.dat
//! measure:  timer probe + flight recorder ──> ledger ──> distribution, with its worst wake-ups explained
//! host_guest: a guest's recording and its host's ──clocks joined──> what the host did in the guest's stolen time
//! peer:     two machines' recordings ──clocks joined by packets──> round trips, charged on both
//! watch:    flight recorder ──every event──> ledger ──> late activations of the user's own threads, kept and grouped
//! compare:  runs, side by side ──> better or worse, which causes are gone, what was set otherwise
//! ```

pub mod compare;
pub mod doctor;
pub mod flight;
pub mod host_guest;
pub mod measure;
pub mod peer;
pub mod record;
mod symbols;
pub mod watch;

pub use symbols::with_symbols;

use std::error::Error;
use std::path::Path;

/// An error with what caused it, in one line.
fn in_full(error: &dyn Error) -> String {
    let causes = std::iter::successors(error.source(), |&cause| cause.source());
    causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}

/// True for two paths to one file.
fn is_same_file(one: &Path, other: &Path) -> bool {
    one.canonicalize().is_ok_and(|one| other.canonicalize().is_ok_and(|other| one == other))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_in_full_names_its_cause_once() {
        let refused = std::io::Error::from(std::io::ErrorKind::StorageFull);
        let error = record::RecordError::Store { directory: "/var/tmp".into(), source: refused };
        assert_eq!(in_full(&error), "cannot store recorded pages in /var/tmp: no storage space");
    }
}
