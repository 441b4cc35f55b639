//! The files a clone would have: what git tracks, or would track with the next `git add`.

use anyhow::{Context, Result};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

/// One file.
pub(super) struct File {
    /// Relative to the root, with `/`.
    pub(super) path: String,
    /// In bytes.
    pub(super) size: usize,
    /// `None` if it is not text: not UTF-8, or with a NUL in it.
    pub(super) text: Option<String>,
}

/// The repository's files by path.
pub(super) struct Tree {
    files: BTreeMap<String, File>,
}

impl Tree {
    /// Reads the tree below `root`, by git's account; without git, everything but build output.
    pub(super) fn read(root: &Path) -> Result<Tree> {
        let paths = match listed(root) {
            Some(paths) => paths,
            None => walked(root)?,
        };
        let mut files = BTreeMap::new();
        for path in paths {
            let full = root.join(&path);
            // Deleted but still in the index, or a link that leads nowhere in a clone either.
            if !full.is_file() {
                continue;
            }
            let bytes = fs::read(&full).with_context(|| format!("{} cannot be read", full.display()))?;
            files.insert(path.clone(), File::new(path, bytes));
        }
        Ok(Tree { files })
    }

    /// A tree of these texts.
    #[cfg(test)]
    pub(super) fn of(files: &[(&str, &str)]) -> Tree {
        let files = files
            .iter()
            .map(|(path, text)| (path.to_string(), File::new(path.to_string(), text.as_bytes().to_vec())));
        Tree { files: files.collect() }
    }

    pub(super) fn len(&self) -> usize {
        self.files.len()
    }

    pub(super) fn files(&self) -> impl Iterator<Item = &File> {
        self.files.values()
    }

    /// The text of a file, if it is there.
    pub(super) fn text(&self, path: &str) -> Option<&str> {
        self.files.get(path)?.text.as_deref()
    }

    /// Path and text of every file of which the path ends so.
    pub(super) fn texts<'a>(&'a self, end: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.files
            .values()
            .filter(move |file| file.path.ends_with(end))
            .filter_map(|file| Some((file.path.as_str(), file.text.as_deref()?)))
    }

    /// Whether a file or directory is there.
    pub(super) fn has(&self, path: &str) -> bool {
        let below = format!("{path}/");
        path.is_empty()
            || self.files.contains_key(path)
            || self.files.range(below.clone()..).next().is_some_and(|(next, _)| next.starts_with(&below))
    }
}

impl File {
    fn new(path: String, bytes: Vec<u8>) -> File {
        let size = bytes.len();
        let text = if bytes.contains(&0) { None } else { String::from_utf8(bytes).ok() };
        File { path, size, text }
    }
}

/// What git tracks or would; `None` if there is no git, or it refuses to answer (a tree of another owner).
fn listed(root: &Path) -> Option<Vec<String>> {
    let output = Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(root)
        .output()
        .ok()
        .filter(|output| output.status.success())?;
    let text = String::from_utf8(output.stdout).ok()?;
    Some(text.split_terminator('\0').map(str::to_owned).collect())
}

fn walked(root: &Path) -> Result<Vec<String>> {
    let mut paths = Vec::new();
    let mut todo = vec![String::new()];
    while let Some(directory) = todo.pop() {
        let full = root.join(&directory);
        let entries = fs::read_dir(&full).with_context(|| format!("{} cannot be listed", full.display()))?;
        for entry in entries {
            let entry = entry.with_context(|| format!("{} cannot be listed", full.display()))?;
            let name = entry.file_name();
            let Some(name) = name.to_str() else { continue };
            let kind = entry.file_type().with_context(|| format!("{} is unreadable", full.display()))?;
            let path = if directory.is_empty() { name.to_owned() } else { format!("{directory}/{name}") };
            if !kind.is_dir() {
                paths.push(path);
            } else if name != ".git" && !name.starts_with("target") {
                todo.push(path);
            }
        }
    }
    Ok(paths)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_is_there_if_a_file_below_it_is() {
        let tree = Tree::of(&[("docs/causes/irq.md", ""), ("docs-old", "")]);
        assert!(tree.has("docs") && tree.has("docs/causes") && tree.has("docs/causes/irq.md"));
        assert!(!tree.has("doc") && !tree.has("docs/c"));
    }

    #[test]
    fn bytes_that_are_not_text_have_a_size_and_no_text() {
        let file = File::new("x.dat".into(), vec![0x17, 0x08, 0x44, 0]);
        assert_eq!((file.size, file.text), (4, None));
        assert_eq!(File::new("x".into(), vec![0xff, b'a']).text, None);
    }

    #[test]
    fn this_repository_is_read_the_same_way_with_and_without_git() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask is in the repository");
        let walked = walked(root).expect("the tree can be listed");
        assert!(walked.iter().any(|path| path == "xtask/src/tidy/tree.rs"));
        assert!(!walked.iter().any(|path| path.starts_with("target/") || path.starts_with(".git/")));
        if let Some(listed) = listed(root) {
            assert!(listed.iter().any(|path| path == "Cargo.toml"));
        }
    }
}
