//! What this machine lets its user do.

use super::run::whylate;
use whylate_testing::{Need, skip};

pub(crate) fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Whether this machine lets root have a real-time policy; says what is skipped where not.
pub(crate) fn has_realtime() -> bool {
    let allowed = is_root()
        && whylate(["run", "--dry-run", "--fifo", "1", "--cpus", "0", "--", "true"]).code == Some(0);
    if !allowed {
        skip(Need::Root, "to have a real-time policy");
    }
    allowed
}
