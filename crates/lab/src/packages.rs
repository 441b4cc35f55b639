//! A root directory with programs of Debian: packages unpacked, not installed, so that no program of them runs here.
//!
//! ```text
//!  programs/root/     what the guest gets; without documents and translations
//!  programs/recipe    its suite and packages; another recipe makes another root
//! ```

use crate::LabError;
use crate::console::tail;
use crate::kernels::{Store, advice, debian_source};
use crate::made::Made;
use std::path::{Path, PathBuf};
use std::process::Command;

const INSTALL: &str = "a root with packages is made with Debian's tools: apt-get install mmdebstrap";
/// Removed from the root: it travels to the guest's memory at each boot.
const REMOVED: [&str; 13] = [
    "boot",
    "usr/include",
    "usr/lib/x86_64-linux-gnu/gconv",
    "usr/lib/x86_64-linux-gnu/perl",
    "usr/share/X11",
    "usr/share/doc",
    "usr/share/i18n",
    "usr/share/icons",
    "usr/share/locale",
    "usr/share/man",
    "usr/share/perl",
    "var/cache",
    "var/lib",
];

/// Packages of one Debian suite, with those that they depend on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackageRoot {
    suite: &'static str,
    packages: Vec<String>,
}

impl PackageRoot {
    /// Of a suite, in the order of names.
    pub fn new(suite: &'static str, packages: &[&str]) -> PackageRoot {
        let mut packages: Vec<String> = packages.iter().map(|&name| name.to_owned()).collect();
        packages.sort();
        packages.dedup();
        PackageRoot { suite, packages }
    }

    /// The root in the cache of `store`, made first where it is not there: that takes a minute, apt's tools and a mirror.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn directory(&self, store: &Store) -> Result<PathBuf, LabError> {
        self.made(store).path(|work, root| self.unpack(work, root))
    }

    /// True where the cache has it.
    pub fn is_cached(&self, store: &Store) -> bool {
        self.made(store).cached().is_some()
    }

    fn made<'a>(&self, store: &'a Store) -> Made<'a> {
        let (directory, recipe) = (place(store), self.recipe());
        Made { store, directory, name: "root", is_whole: Path::is_dir, recipe }
    }

    /// Everything that determines its content, except the versions of the mirror's packages.
    fn recipe(&self) -> String {
        format!("{}\n{}\nwithout {}\n", self.suite, self.packages.join(" "), REMOVED.join(" "))
    }

    fn unpack(&self, work: &Path, root: &Path) -> Result<(), LabError> {
        let source = work.join("debian.sources");
        let stanza = debian_source(self.suite).map_err(|reason| self.failed(reason))?;
        std::fs::write(&source, stanza).map_err(LabError::file("write", &source))?;
        let mut command = Command::new("mmdebstrap");
        command
            .args(["--mode=auto", "--variant=extract"])
            .arg("--aptopt=APT::Install-Recommends \"false\"")
            .arg(format!("--include={}", self.packages.join(",")))
            .arg(self.suite)
            .args([root, &source])
            .env("LC_ALL", "C");
        whylate_sys::die_with_parent(&mut command);
        let output = command.output().map_err(LabError::tool("mmdebstrap", INSTALL))?;
        if !output.status.success() {
            let text = String::from_utf8_lossy(&output.stderr);
            let (end, advice) = (tail(&text, 12), advice(&text));
            return Err(self.failed(format!("mmdebstrap ended with {}:\n{end}{advice}", output.status)));
        }
        for name in REMOVED {
            match std::fs::remove_dir_all(root.join(name)) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    return Err(LabError::file("remove", &root.join(name))(error));
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn failed(&self, reason: String) -> LabError {
        LabError::Packages { packages: self.packages.join(", "), reason }
    }
}

fn place(store: &Store) -> PathBuf {
    store.root().join("programs")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_recipe_is_another_root() {
        let cache = tempfile::tempdir().expect("temporary directory");
        let store = Store::at(cache.path());
        let root = PackageRoot::new("bookworm", &["rt-tests", "fio", "fio"]);
        assert!(!root.is_cached(&store));
        let directory = place(&store);
        std::fs::create_dir_all(directory.join("root")).expect("directory");
        assert!(!root.is_cached(&store), "half of it");
        std::fs::write(directory.join("recipe"), root.recipe()).expect("file");
        assert_eq!(root.directory(&store).expect("cached"), directory.join("root"));
        assert!(PackageRoot::new("bookworm", &["fio", "rt-tests"]).is_cached(&store), "in any order");
        assert!(!PackageRoot::new("bookworm", &["fio"]).is_cached(&store));
    }
}
