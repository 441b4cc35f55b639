//! Files by patterns with `*`, `?` and `[...]` (glob(7)).

use super::python::fnmatch;
use whylate_host::{FsRoot, Why};

/// A pattern that matches more files is a mistake.
const MOST: usize = 10_000;

/// Whether a pattern has more than `*`.
pub(super) fn is_rich(pattern: &str) -> bool {
    pattern.contains(['?', '['])
}

/// The files of a pattern, sorted by directory. A directory that is not there has none.
///
/// # Errors
/// Which directory cannot be read, and why; or that there are too many.
pub(super) fn files(tree: &FsRoot, pattern: &str) -> Result<Vec<String>, String> {
    let mut found = vec![String::new()];
    for part in pattern.split('/').filter(|part| !part.is_empty()) {
        if !part.contains(['*', '?', '[']) {
            found.iter_mut().for_each(|path| *path = format!("{path}/{part}"));
            continue;
        }
        let mut next = Vec::new();
        for directory in found {
            let path = if directory.is_empty() { "/" } else { &directory };
            match tree.list(path).value {
                Ok(names) => {
                    let fits = names.iter().filter(|name| {
                        fnmatch(name, part) && (part.starts_with('.') || !name.starts_with('.'))
                    });
                    next.extend(fits.map(|name| format!("{directory}/{name}")));
                }
                Err(Why::Missing) => {}
                Err(why) => return Err(format!("{path}: {why}")),
            }
            if next.len() > MOST {
                return Err(format!("{pattern} means more than {MOST} files"));
            }
        }
        found = next;
    }
    Ok(found)
}
