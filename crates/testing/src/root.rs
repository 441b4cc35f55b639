//! A root directory that stands for a machine.

use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A temporary directory with the files of a machine; it is removed when this is dropped.
///
/// # Panics
/// Every method does where a file cannot be read or written: the test has failed then.
pub struct TestRoot {
    directory: TempDir,
}

impl TestRoot {
    /// With these files, by their paths on the machine, and an `/etc`.
    pub fn new(files: &[(&str, &str)]) -> TestRoot {
        let directory = tempfile::tempdir().expect("a directory");
        fs::create_dir_all(directory.path().join("etc")).expect("etc");
        let root = TestRoot { directory };
        for (path, text) in files {
            fs::write(root.with_parent(path), text).expect("a file");
        }
        root
    }

    /// The directory.
    pub fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// Where a path of the machine is.
    pub fn path(&self, path: &str) -> PathBuf {
        self.directory.path().join(path.trim_start_matches('/'))
    }

    /// The text of a file; `None` where there is none.
    pub fn text(&self, path: &str) -> Option<String> {
        fs::read_to_string(self.path(path)).ok()
    }

    /// Makes a symbolic link.
    pub fn link(&self, path: &str, target: &str) {
        std::os::unix::fs::symlink(target, self.with_parent(path)).expect("a link");
    }

    /// Every directory, file and link with its content, sorted by path.
    pub fn everything(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let mut found = Vec::new();
        let mut open = vec![self.directory.path().to_owned()];
        while let Some(directory) = open.pop() {
            for entry in fs::read_dir(&directory).expect("a directory") {
                let entry = entry.expect("an entry");
                let path = entry.path();
                match entry.file_type().expect("its type") {
                    kind if kind.is_dir() => {
                        found.push((path.clone(), Vec::new()));
                        open.push(path);
                    }
                    kind if kind.is_symlink() => {
                        let target = fs::read_link(&path).expect("a link");
                        found.push((path, target.to_string_lossy().into_owned().into_bytes()));
                    }
                    _ => found.push((path.clone(), fs::read(&path).expect("a file"))),
                }
            }
        }
        found.sort();
        found
    }

    fn with_parent(&self, path: &str) -> PathBuf {
        let path = self.path(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("its directory");
        path
    }
}

/// The name and the value of a kernel parameter as tests write it: `isolcpus=2-3`, `threadirqs`, or `-quiet` for one
/// that must be absent.
pub fn parameter(text: &str) -> (&str, Option<&str>) {
    match (text.strip_prefix('-'), text.split_once('=')) {
        (Some(name), _) => (name, None),
        (None, Some((name, value))) => (name, Some(value)),
        (None, None) => (text, Some("")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_root_has_its_files_and_links() {
        let root = TestRoot::new(&[("/etc/a/b", "text")]);
        root.link("/lib/c", "/etc/a");
        assert_eq!(root.text("/etc/a/b").as_deref(), Some("text"));
        assert_eq!(root.text("/none"), None);
        let found: Vec<(PathBuf, Vec<u8>)> = ["etc", "etc/a", "etc/a/b", "lib", "lib/c"]
            .map(|path| root.path(path))
            .into_iter()
            .zip([&b""[..], b"", b"text", b"", b"/etc/a"].map(<[u8]>::to_vec))
            .collect();
        assert_eq!(root.everything(), found);
    }

    #[test]
    fn a_parameter_has_a_value_or_none() {
        assert_eq!(parameter("isolcpus=2-3"), ("isolcpus", Some("2-3")));
        assert_eq!(parameter("threadirqs"), ("threadirqs", Some("")));
        assert_eq!(parameter("-quiet"), ("quiet", None));
    }
}
