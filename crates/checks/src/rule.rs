//! What a rule is.

use crate::{CheckOptions, Profile, RuleResult};
use whylate_base::Severity;
use whylate_host::Snapshot;

/// A check of one property of a machine.
#[derive(Debug)]
pub struct Rule {
    /// Stable kebab-case code; also the name of its file and of its page.
    pub code: &'static str,
    /// A statement that holds when the rule passes: "The kernel is PREEMPT_RT".
    pub title: &'static str,
    /// The severity of a failure, unless the outcome or [`Rule::severity_for`] a profile overrides it.
    pub severity: Severity,
    /// The profiles that include the rule.
    pub profiles: &'static [Profile],
    /// The sources of its facts: man pages, kernel files.
    pub sources: &'static [&'static str],
    /// `docs/rules/CODE.md` of this crate: meaning, detection, fix, sources.
    pub page: &'static str,
    /// The check itself.
    pub check: fn(&Snapshot, &CheckOptions) -> RuleResult,
}

/// The page of a rule.
macro_rules! page {
    ($code:literal) => {
        include_str!(concat!("../../docs/rules/", $code, ".md"))
    };
}
pub(crate) use page;
