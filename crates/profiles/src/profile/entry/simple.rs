//! An entry, and how one with a single value is read.

use crate::Selector;
use crate::profile::error::{Location, ProfileError};
use crate::profile::node::{Node, NodeKind};
use crate::profile::options::EntryOptions;

/// One entry.
#[derive(Clone, Debug)]
pub(in crate::profile) struct Entry {
    pub(in crate::profile) section: &'static str,
    pub(in crate::profile) location: Location,
    pub(in crate::profile) selector: Selector,
    pub(in crate::profile) value: Value,
    pub(in crate::profile) options: EntryOptions,
}

/// What it is to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::profile) enum Value {
    /// A text with `${...}`.
    Text(String),
    /// CPUs, with a word before: `isolated ` for a partition.
    Cpus(&'static str, String),
    /// It is not to be there.
    Absent,
    /// The entry only takes back what an extended profile asks for.
    Nothing,
}

/// An entry with one value: by itself, or in a table as `value`.
pub(super) fn simple(
    section: &'static str,
    node: &Node,
    selector: Selector,
    value: impl Fn(&Node) -> Result<Value, ProfileError>,
) -> Result<Entry, ProfileError> {
    let options = EntryOptions::of(node, &["value"])?;
    let value = match (&node.kind, node.get("value")) {
        (NodeKind::Table(_), Some(inner)) => value(inner)?,
        (NodeKind::Table(_), None) if options.leave_alone => Value::Nothing,
        (NodeKind::Table(_), None) => {
            return Err(
                node.wrong("this entry has no value", "give it `value = ...`, or `leave-alone = true`")
            );
        }
        _ => value(node)?,
    };
    Ok(Entry { section, location: node.location.clone(), selector, value, options })
}

/// Text or a whole number, on one line.
pub(super) fn text(node: &Node) -> Result<Value, ProfileError> {
    let text = match &node.kind {
        NodeKind::Text(text) => text.clone(),
        NodeKind::Number(number) => number.to_string(),
        NodeKind::Flag(_) => {
            return Err(node.wrong(
                format!("the value is {}", node.described()),
                "write it as the file takes it: 1 or 0, \"Y\" or \"N\"",
            ));
        }
        _ => {
            let possible = "a value is text in quotes or a whole number";
            return Err(node.wrong(format!("the value is {}", node.described()), possible));
        }
    };
    if text.trim().is_empty() || text.contains(|c: char| c.is_control() && c != '\t') {
        return Err(node.wrong("the value is empty, or not one line", "give it a value on one line"));
    }
    Ok(Value::Text(text))
}
