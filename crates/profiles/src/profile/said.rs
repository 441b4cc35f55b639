//! What any entry may say beside its value.

use super::condition::Condition;
use super::error::ProfileError;
use super::keys::unknown;
use super::node::{Kind, Node};

/// What any entry may say beside its value.
#[derive(Clone, Debug, Default)]
pub(super) struct Said {
    pub(super) reasons: crate::Reasons,
    pub(super) optional: bool,
    pub(super) when: Option<(Condition, String)>,
    pub(super) leave_alone: bool,
}

/// The keys of [`Said`].
pub(super) const SAID: &[&str] = &["why", "rule", "benefit", "risk", "optional", "when", "leave-alone"];

impl Said {
    /// Of an entry's table; `own` are the keys that hold its value. A plain value says nothing.
    pub(super) fn of(node: &Node, own: &[&str]) -> Result<Said, ProfileError> {
        let mut said = Said::default();
        let Kind::Table(table) = &node.kind else { return Ok(said) };
        for (key, node) in table {
            match key.as_str() {
                "why" => said.reasons.why = Some(node.text(key)?),
                "benefit" => said.reasons.benefit = Some(node.text(key)?),
                "risk" => said.reasons.risk = Some(node.text(key)?),
                "rule" => said.reasons.rule = Some(rule(node)?),
                "optional" => said.optional = node.flag(key)?,
                "leave-alone" => said.leave_alone = node.flag(key)?,
                "when" => {
                    let text = node.text(key)?;
                    let condition = Condition::parse(&text).map_err(|wrong| wrong.at(&node.place))?;
                    said.when = Some((condition, text));
                }
                key if own.contains(&key) => {}
                _ => return Err(unknown(node, key, "an entry", &[own, SAID].concat())),
            }
        }
        Ok(said)
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
