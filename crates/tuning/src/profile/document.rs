//! One profile as it is written: what it extends, its variables, its entries. Nothing is worked out yet.

use super::condition::Condition;
use super::entry::{self, Entry};
use super::error::{Place, ProfileError};
use super::node::{Kind, Node};
use super::variables::{self, Definition};

/// A profile.
#[derive(Debug)]
pub(super) struct Document {
    pub(super) summary: String,
    pub(super) extends: Vec<(String, Place)>,
    pub(super) variables: Vec<Definition>,
    pub(super) entries: Vec<Entry>,
}

/// The keys of a profile.
const KEYS: &[&str] = &[
    "summary",
    "extends",
    "variables",
    "kernel-parameters",
    "sysctl",
    "files",
    "irqs",
    "threads",
    "units",
    "partitions",
    "latency",
    "config",
];

impl Document {
    /// `file` is what errors call it.
    pub(super) fn parse(file: &str, text: &str) -> Result<Document, ProfileError> {
        let root = Node::parse(file, text)?;
        let mut document = Document {
            summary: String::new(),
            extends: Vec::new(),
            variables: Vec::new(),
            entries: Vec::new(),
        };
        for (key, node) in root.table("profile")? {
            match key.as_str() {
                "summary" => document.summary = node.text(key)?,
                "extends" => document.extends = node.texts(key)?,
                "variables" => document.variables = variables::definitions(node)?,
                section if KEYS.contains(&section) => document.entries.extend(entry::section(section, node)?),
                _ => return Err(unknown(node, key, "a profile", KEYS)),
            }
        }
        Ok(document)
    }
}

/// A key that nobody knows, with what there is.
pub(super) fn unknown(node: &Node, key: &str, of: &str, keys: &[&str]) -> ProfileError {
    let close = keys.iter().find(|own| distance(own, key) <= 2);
    let meant = close.map(|own| format!(": is `{own}` meant?")).unwrap_or_default();
    node.wrong(format!("{of} has no `{key}`{meant}"), format!("it may have {}", keys.join(", ")))
}

/// How many letters two words differ by, roughly: position by position, from both ends.
fn distance(a: &str, b: &str) -> usize {
    let same = a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count();
    let rest = a.chars().count().min(b.chars().count()) - same;
    let end = a.chars().rev().zip(b.chars().rev()).take(rest).take_while(|(a, b)| a == b).count();
    a.chars().count().max(b.chars().count()) - same - end
}

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
