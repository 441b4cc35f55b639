//! Files that the boot loader's configuration is read from.

use crate::error::BootError;
use crate::line::Parameter;
use whylate_host::{FsRoot, Unread};

/// A file's text; `None`: there is none, or none was collected.
pub(crate) fn optional(tree: &FsRoot, path: &str) -> Result<Option<String>, BootError> {
    match tree.text(path).value {
        Ok(text) => Ok(Some(text)),
        Err(why) if why.is_absent() => Ok(None),
        Err(why) => Err(BootError::Unread(Unread { path: path.to_owned(), why })),
    }
}

pub(crate) fn need(tree: &FsRoot, path: &str) -> Result<String, BootError> {
    tree.text(path).need().cloned().map_err(BootError::Unread)
}

/// The names in a directory; none where there is none.
pub(crate) fn names(tree: &FsRoot, path: &str) -> Result<Vec<String>, BootError> {
    match tree.list(path).value {
        Ok(names) => Ok(names),
        Err(why) if why.is_absent() => Ok(Vec::new()),
        Err(why) => Err(BootError::Unread(Unread { path: path.to_owned(), why })),
    }
}

/// An odd double quote makes one word of the rest of a line.
pub(crate) fn closed(path: &str, line: &str, wanted: &[Parameter]) -> Result<(), BootError> {
    match line.matches('"').count() % 2 {
        0 => Ok(()),
        _ => Err(BootError::NotPlain {
            path: path.to_owned(),
            name: wanted.iter().map(|want| want.name.as_str()).collect::<Vec<_>>().join(", "),
            why: "a double quote on its kernel command line is not closed",
        }),
    }
}
