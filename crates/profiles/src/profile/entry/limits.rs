//! `[limits."@audio"]`: resource limits of the logins of a user, a group, or everyone.

use super::simple::{Entry, Value, simple, text};
use crate::Selector;
use crate::profile::error::ProfileError;
use crate::profile::keys::unknown;
use crate::profile::node::{Node, NodeKind};

/// Read after all others, as its name is.
const FILE: &str = "/etc/security/limits.d/zz-whylate.conf";
/// limits.conf(5)
const ITEMS: &[&str] = &[
    "rtprio",
    "memlock",
    "nice",
    "priority",
    "nofile",
    "nproc",
    "stack",
    "core",
    "data",
    "fsize",
    "rss",
    "cpu",
    "as",
    "locks",
    "sigpending",
    "msgqueue",
    "maxlogins",
    "maxsyslogins",
    "nonewprivs",
];

/// All limits of a domain.
pub(super) fn domain(domain: &str, node: &Node) -> Result<Vec<Entry>, ProfileError> {
    if domain.is_empty() || domain.contains(|c: char| c.is_whitespace() || c.is_control() || "#$".contains(c))
    {
        return Err(node.wrong(
            format!("`{domain}` is no user and no group"),
            "write [limits.\"@audio\"] for a group, [limits.jack] for a user, [limits.\"*\"] for everyone",
        ));
    }
    let items = node.table(domain).map_err(|_| {
        let possible = format!("write [limits.\"{domain}\"], and its limits below: rtprio = 95");
        node.wrong(format!("`{domain}` is {}", node.described()), possible)
    })?;
    items.iter().map(|(item, node)| limit(domain, item, node)).collect()
}

fn limit(domain: &str, item: &str, node: &Node) -> Result<Entry, ProfileError> {
    if !ITEMS.contains(&item) {
        return Err(unknown(node, item, "[limits]", ITEMS));
    }
    let selector =
        Selector::Variable { file: FILE.to_owned(), section: Some(domain.to_owned()), name: item.to_owned() };
    let value = |node: &Node| match &node.kind {
        NodeKind::Flag(false) => Ok(Value::Absent),
        NodeKind::Text(limit) if limit.contains([' ', '\t', '#']) => {
            Err(node.wrong("the value is more than one word", "write a number, or \"unlimited\""))
        }
        _ => text(node),
    };
    simple("limits", node, selector, value)
}
