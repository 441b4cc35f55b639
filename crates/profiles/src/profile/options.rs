//! The options that any entry may have beside its value.

use super::condition::Condition;
use super::error::ProfileError;
use super::keys::unknown;
use super::node::{Node, NodeKind};

/// The options that any entry may have beside its value.
#[derive(Clone, Debug, Default)]
pub(super) struct EntryOptions {
    pub(super) reasons: crate::Reasons,
    pub(super) optional: bool,
    pub(super) when: Option<(Condition, String)>,
    pub(super) leave_alone: bool,
}

/// The keys of [`EntryOptions`].
pub(super) const OPTION_KEYS: &[&str] =
    &["why", "rule", "benefit", "risk", "optional", "when", "leave-alone"];

impl EntryOptions {
    /// Of an entry's table; `own` are the keys that hold its value. A plain value has no options.
    pub(super) fn of(node: &Node, own: &[&str]) -> Result<EntryOptions, ProfileError> {
        let mut options = EntryOptions::default();
        let NodeKind::Table(table) = &node.kind else { return Ok(options) };
        for (key, node) in table {
            match key.as_str() {
                "why" => options.reasons.why = Some(node.text(key)?),
                "benefit" => options.reasons.benefit = Some(node.text(key)?),
                "risk" => options.reasons.risk = Some(node.text(key)?),
                "rule" => options.reasons.rule = Some(rule(node)?),
                "optional" => options.optional = node.flag(key)?,
                "leave-alone" => options.leave_alone = node.flag(key)?,
                "when" => {
                    let text = node.text(key)?;
                    let condition = Condition::parse(&text).map_err(|wrong| wrong.at(&node.location))?;
                    options.when = Some((condition, text));
                }
                key if own.contains(&key) => {}
                _ => return Err(unknown(node, key, "an entry", &[own, OPTION_KEYS].concat())),
            }
        }
        Ok(options)
    }
}

fn rule(node: &Node) -> Result<String, ProfileError> {
    let code = node.text("rule")?;
    match whylate_checks::RULES.iter().any(|rule| rule.code == code) {
        true => Ok(code),
        false => Err(node.wrong(
            format!("there is no rule `{code}`"),
            "`whylate check --explain` has the codes, such as `irq-affinity`",
        )),
    }
}
