//! One profile as it is written: what it extends, its variables, its entries. Nothing is worked out yet.

use super::entry::{self, Entry};
use super::error::{Location, ProfileError};
use super::keys::unknown;
use super::node::Node;
use super::variables::{self, Definition};

/// A profile.
#[derive(Debug)]
pub(super) struct Document {
    pub(super) summary: String,
    pub(super) extends: Vec<(String, Location)>,
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
    "limits",
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
