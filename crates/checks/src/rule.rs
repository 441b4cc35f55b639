//! What a rule is.

use crate::{Ask, Profile, Verdict};
use whylate_base::Severity;
use whylate_host::Snapshot;

/// A question about a machine.
#[derive(Debug)]
pub struct Rule {
    /// Stable kebab-case code; also the name of its file and of its page.
    pub code: &'static str,
    /// What is well when it passes, as a statement: "The kernel is PREEMPT_RT".
    pub title: &'static str,
    /// How much a failure matters, unless the answer says otherwise, or [`Rule::severity_for`] a profile.
    pub severity: Severity,
    /// The work it matters to.
    pub profiles: &'static [Profile],
    /// Where its facts are from: man pages, kernel files.
    pub sources: &'static [&'static str],
    /// `docs/rules/CODE.md` of this crate: what it means, how it is found out, what to do.
    pub page: &'static str,
    /// The question itself.
    pub check: fn(&Snapshot, &Ask) -> Verdict,
}

/// The page of a rule.
macro_rules! page {
    ($code:literal) => {
        include_str!(concat!("../../docs/rules/", $code, ".md"))
    };
}
pub(crate) use page;
