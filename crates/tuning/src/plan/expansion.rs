//! What one desired setting comes to on a machine.

use crate::Setting;
use whylate_host::Unread;
use whylate_profiles::Skipped;

/// A setting as it is and as it is desired.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) setting: Setting,
    pub(super) now: Option<String>,
    pub(super) then: Option<String>,
    pub(super) note: Option<String>,
}

impl Found {
    pub(super) fn new(setting: Setting, now: Option<String>, then: Option<String>) -> Found {
        Found { setting, now, then, note: None }
    }
}

/// What became of a desired setting.
#[derive(Debug, Default)]
pub(super) struct Expanded {
    pub(super) found: Vec<Found>,
    pub(super) left: Vec<Skipped>,
    /// Some of it could not be read: that is no absence.
    pub(super) is_unread: bool,
}

impl Expanded {
    /// Settings, and nothing left.
    pub(super) fn found(found: Vec<Found>) -> Expanded {
        Expanded { found, ..Expanded::default() }
    }

    /// One thing that is left alone.
    pub(super) fn left(what: impl ToString, why: impl ToString) -> Expanded {
        let mut expanded = Expanded::default();
        expanded.leave(what, why);
        expanded
    }

    /// Leaves something alone.
    pub(super) fn leave(&mut self, what: impl ToString, why: impl ToString) {
        self.left.push(Skipped { what: what.to_string(), why: why.to_string() });
    }

    /// Leaves alone what could not be read.
    pub(super) fn unread(&mut self, what: impl ToString, unread: &Unread) {
        let what = what.to_string();
        let why = match what == unread.path {
            true => unread.why.to_string(),
            false => unread.to_string(),
        };
        self.leave(what, why);
        self.is_unread = true;
    }

    /// One thing that cannot be read for a reason that is no file's.
    pub(super) fn hidden(what: impl ToString, why: impl ToString) -> Expanded {
        Expanded { is_unread: true, ..Expanded::left(what, why) }
    }
}
