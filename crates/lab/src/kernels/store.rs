//! The cache of kernels: a directory each, made whole or not at all.
//!
//! ```text
//!  6.12-rt/vmlinuz
//!  6.12-rt/vmlinuz.unpacked
//!  6.12-rt/modules/   /lib/modules/RELEASE on a machine
//!  arm64/6.12-rt/     the same for guests of arm64
//!  apt/SUITE/         apt's lists, so that the next fetch only gets the changes
//!  lock               held while one is fetched or removed: one at a time, of all processes
//! ```

use super::{Kernel, SERIES, Series, image};
use crate::{Arch, LabError};
use std::path::{Path, PathBuf};

/// How directories begin that the next fetch removes.
pub(crate) const UNFINISHED: &str = ".unfinished-";

/// The variable for another directory than the user's cache directory.
const VARIABLE: &str = "WHYLATE_LAB_CACHE";

/// A cache of kernels, of one architecture.
#[derive(Clone, Debug)]
pub struct Store {
    pub(super) root: PathBuf,
    pub(super) arch: Arch,
}

impl Store {
    /// `$WHYLATE_LAB_CACHE`, otherwise `whylate/kernels` in the user's cache directory
    /// (`$XDG_CACHE_HOME`, `~/.cache`); for this machine's architecture.
    pub fn open_default() -> Store {
        let variable =
            |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let of_user = || {
            let home = || variable("HOME").unwrap_or_else(|| PathBuf::from("/root")).join(".cache");
            variable("XDG_CACHE_HOME").unwrap_or_else(home).join("whylate/kernels")
        };
        Store::at(&variable(VARIABLE).unwrap_or_else(of_user))
    }

    /// In that directory, which need not exist yet.
    pub fn at(root: &Path) -> Store {
        // apt and dpkg-deb run in directories of their own.
        Store { root: std::path::absolute(root).unwrap_or_else(|_| root.to_owned()), arch: Arch::native() }
    }

    /// The same cache for another architecture.
    pub fn of(self, arch: Arch) -> Store {
        Store { arch, ..self }
    }

    /// Its architecture.
    pub fn arch(&self) -> Arch {
        self.arch
    }

    /// The directory.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The kernels that are there.
    pub fn cached(&self) -> Vec<Kernel> {
        SERIES.iter().filter_map(|series| self.find(series)).collect()
    }

    /// The kernel of that name: from the cache, otherwise from Debian's mirror.
    ///
    /// # Errors
    /// When there is none of that name, or it is not cached and cannot be fetched.
    pub fn get(&self, name: &str) -> Result<Kernel, LabError> {
        let series = self.series(name)?;
        match self.find(series) {
            Some(kernel) => Ok(kernel),
            None => self.fetch_once(series),
        }
    }

    /// Removes a kernel. False when there was none.
    ///
    /// # Errors
    /// When there is none of that name, or it cannot be removed.
    pub fn remove(&self, name: &str) -> Result<bool, LabError> {
        let directory = self.directory(self.series(name)?);
        if !directory.exists() {
            return Ok(false);
        }
        let _lock = self.lock()?;
        // Renamed first: no other process may find half of it.
        let away = tempfile::Builder::new().prefix(UNFINISHED).tempdir_in(&self.root);
        let away = away.map_err(LabError::file("write", &self.root))?;
        std::fs::rename(&directory, away.path().join("old")).map_err(LabError::file("remove", &directory))?;
        away.close().map_err(LabError::file("remove", &directory))?;
        Ok(true)
    }

    /// Bytes that a cached kernel takes up.
    pub fn size(&self, kernel: &Kernel) -> u64 {
        kernel.image.parent().map_or(0, size_of_tree)
    }

    pub(crate) fn series(&self, name: &str) -> Result<&'static Series, LabError> {
        Series::find(name).ok_or_else(|| {
            let known: Vec<&str> = SERIES.iter().map(|series| series.name).collect();
            LabError::UnknownKernel {
                name: name.to_owned(),
                known: format!("there are {}", known.join(", ")),
            }
        })
    }

    pub(super) fn directory(&self, series: &Series) -> PathBuf {
        match self.arch {
            Arch::X86_64 => self.root.join(series.name),
            other => self.root.join(other.name()).join(series.name),
        }
    }

    /// apt's lists for a series.
    pub(super) fn apt_directory(&self, series: &Series) -> PathBuf {
        match self.arch {
            Arch::X86_64 => self.root.join("apt").join(series.suite),
            other => self.root.join("apt").join(format!("{}-{}", series.suite, other.name())),
        }
    }

    pub(super) fn find(&self, series: &Series) -> Option<Kernel> {
        let directory = self.directory(series);
        let image = directory.join("vmlinuz");
        let about = image::read(&image).ok().filter(|about| about.arch == self.arch)?;
        Some(Kernel {
            name: series.name.to_owned(),
            release: about.release,
            preempt_rt: about.preempt_rt,
            arch: about.arch,
            image,
            modules: Some(directory.join("modules")).filter(|modules| modules.is_dir()),
        })
    }
}

fn size_of_tree(root: &Path) -> u64 {
    let entries = std::fs::read_dir(root).into_iter().flatten().flatten();
    let size = |entry: std::fs::DirEntry| match entry.metadata() {
        Ok(about) if about.is_dir() => size_of_tree(&entry.path()),
        Ok(about) => about.len(),
        Err(_) => 0,
    };
    entries.map(size).sum()
}

#[cfg(test)]
mod tests {
    use super::super::image::tests::setup;
    use super::*;

    #[test]
    fn what_is_cached_is_found_and_removed() {
        let root = tempfile::tempdir().expect("temporary directory");
        let store = Store::at(root.path()).of(Arch::X86_64);
        assert_eq!(store.cached(), []);
        for (name, version) in
            [("6.1", "6.1.0-50-amd64 (x) #1 SMP"), ("7.2-rt", "7.2.13-rt (x) #1 SMP PREEMPT_RT")]
        {
            std::fs::create_dir_all(root.path().join(name).join("modules/kernel")).expect("directory");
            std::fs::write(root.path().join(name).join("vmlinuz"), setup(version)).expect("file");
        }
        std::fs::create_dir(root.path().join("6.12")).expect("directory");
        let cached = store.cached();
        let about: Vec<_> =
            cached.iter().map(|kernel| (kernel.name.as_str(), kernel.release.as_str())).collect();
        assert_eq!(about, [("6.1", "6.1.0-50-amd64"), ("7.2-rt", "7.2.13-rt")]);
        assert_eq!(store.get("7.2-rt").expect("cached"), cached[1]);
        assert_eq!(store.size(&cached[1]), setup("7.2.13-rt (x) #1 SMP PREEMPT_RT").len() as u64);
        assert!(store.remove("6.1").expect("removable"));
        assert!(!store.remove("6.1").expect("gone already"));
        assert_eq!(store.cached().len(), 1);
        let left = std::fs::read_dir(root.path()).expect("directory").flatten();
        let mut left: Vec<_> = left.map(|entry| entry.file_name()).collect();
        left.sort();
        assert_eq!(left, ["6.12", "7.2-rt", "lock"]);
    }

    #[test]
    fn a_relative_cache_is_one_of_this_directory() {
        let here = std::env::current_dir().expect("directory");
        assert_eq!(Store::at(Path::new("cache")).root(), here.join("cache"));
    }

    #[test]
    fn names_that_are_none_are_refused_with_those_that_are() {
        let store = Store::at(Path::new("/no/such/cache"));
        for name in ["", "6.10", "../6.1", "/boot/vmlinuz"] {
            let error = store.get(name).expect_err(name).to_string();
            assert!(error.contains("6.12-rt") && error.contains(&format!("`{name}`")), "{error}");
        }
    }
}
