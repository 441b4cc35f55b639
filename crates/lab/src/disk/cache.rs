//! Disk images: a distribution for each kernel series, made once and kept in the cache.
//!
//! ```text
//!  disks/6.1-rt/disk.img     a disk that has been booted once
//!  disks/6.1-rt/recipe       what it was made of; another recipe makes another disk
//! ```

use super::build;
use crate::LabError;
use crate::kernels::{Series, Store};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicBool;

/// Packages of every image, apart from the kernel: what boots, and what tuning has to do with.
const PACKAGES: [&str; 12] = [
    "systemd",
    "systemd-sysv",
    "udev",
    "dbus",
    "kmod",
    "procps",
    "cpio",
    "zstd",
    "initramfs-tools",
    "grub-pc",
    "irqbalance",
    "fdisk",
];

/// What a disk holds: Debian's suite that has the kernel, and the kernel as Debian installs it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    series: &'static Series,
    /// Packages beside the usual ones.
    more: Vec<String>,
}

impl Image {
    /// The distribution of that kernel series ([`SERIES`](crate::kernels::SERIES)), with packages beside the usual
    /// ones.
    ///
    /// # Errors
    /// When there is no such series.
    pub fn debian(store: &Store, series: &str, more: &[&str]) -> Result<Image, LabError> {
        let mut more: Vec<String> = more.iter().map(|&name| name.to_owned()).collect();
        more.sort();
        Ok(Image { series: store.series(series)?, more })
    }

    /// Its name in the cache.
    pub fn name(&self) -> String {
        std::iter::once(self.series.name)
            .chain(self.more.iter().map(String::as_str))
            .collect::<Vec<_>>()
            .join("+")
    }

    /// Debian's suite.
    pub(super) fn suite(&self) -> &'static str {
        self.series.suite
    }

    pub(super) fn packages(&self) -> Vec<String> {
        let kernel = if self.series.preempt_rt { "linux-image-rt-amd64" } else { "linux-image-amd64" };
        let usual = PACKAGES.into_iter().chain([kernel]).map(str::to_owned);
        usual.chain(self.more.iter().cloned()).collect()
    }

    /// All that decides what is in it, but for how new the mirror's packages are.
    pub(super) fn recipe(&self) -> String {
        let packages = self.packages().join(" ");
        [self.suite(), &packages, build::PARAMETERS, build::FEATURES, build::CUSTOMIZE].join("\n")
    }

    /// Puts a copy of the disk at `to`, which is then a machine's own. Makes the image first where the cache does
    /// not have it: that takes two minutes and needs root, apt's tools and a mirror.
    ///
    /// # Errors
    /// When it cannot be made or copied, or `stop` became true.
    pub fn copy(&self, store: &Store, to: &Path, stop: &AtomicBool) -> Result<(), LabError> {
        let disk = match self.cached(store) {
            Some(disk) => disk,
            None => self.make(store, stop)?,
        };
        // The holes stay holes; where the file system can, nothing is copied at all.
        let mut command = Command::new("cp");
        command.args(["--reflink=auto", "--sparse=always"]).args([&disk, to]);
        whylate_sys::die_with_parent(&mut command);
        let said = command.output().map_err(LabError::tool("cp", "install coreutils"))?;
        match said.status.success() {
            true => Ok(()),
            false => Err(self.failed(String::from_utf8_lossy(&said.stderr).trim().to_owned())),
        }
    }

    /// The cache's disk, where it was made by this recipe.
    fn cached(&self, store: &Store) -> Option<PathBuf> {
        let directory = self.directory(store);
        let made_of = std::fs::read_to_string(directory.join("recipe")).unwrap_or_default();
        let disk = directory.join("disk.img");
        (made_of == self.recipe() && disk.is_file()).then_some(disk)
    }

    /// True where the cache has it.
    pub fn is_cached(&self, store: &Store) -> bool {
        self.cached(store).is_some()
    }

    fn make(&self, store: &Store, stop: &AtomicBool) -> Result<PathBuf, LabError> {
        let _lock = store.lock()?;
        if let Some(disk) = self.cached(store) {
            return Ok(disk);
        }
        store.clean_up();
        let work = tempfile::Builder::new().prefix(crate::kernels::UNFINISHED).tempdir_in(store.root());
        let work = work.map_err(LabError::file("write", store.root()))?;
        let new = work.path().join("new");
        std::fs::create_dir(&new).map_err(LabError::file("create", &new))?;
        build::build(self, work.path(), &new.join("disk.img"), stop)?;
        std::fs::write(new.join("recipe"), self.recipe()).map_err(LabError::file("write", &new))?;
        let directory = self.directory(store);
        let parent = store.root().join("disks");
        std::fs::create_dir_all(&parent).map_err(LabError::file("create", &parent))?;
        if directory.exists() {
            let old = work.path().join("old");
            std::fs::rename(&directory, &old).map_err(LabError::file("replace", &directory))?;
        }
        std::fs::rename(&new, &directory).map_err(LabError::file("create", &directory))?;
        Ok(directory.join("disk.img"))
    }

    fn directory(&self, store: &Store) -> PathBuf {
        store.root().join("disks").join(self.name())
    }

    pub(super) fn failed(&self, reason: String) -> LabError {
        LabError::Disk { name: self.name(), reason }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_recipe_is_another_disk() {
        let root = tempfile::tempdir().expect("temporary directory");
        let store = Store::at(root.path());
        let plain = Image::debian(&store, "6.1-rt", &[]).expect("known");
        let more = Image::debian(&store, "6.1-rt", &["tuned"]).expect("known");
        assert_eq!((plain.name(), more.name()), ("6.1-rt".to_owned(), "6.1-rt+tuned".to_owned()));
        assert!(plain.packages().contains(&"linux-image-rt-amd64".to_owned()));
        assert!(Image::debian(&store, "5.4", &[]).is_err());

        let directory = plain.directory(&store);
        std::fs::create_dir_all(&directory).expect("directory");
        std::fs::write(directory.join("disk.img"), "disk").expect("file");
        assert!(!plain.is_cached(&store), "half of it");
        std::fs::write(directory.join("recipe"), plain.recipe()).expect("file");
        assert!(plain.is_cached(&store) && !more.is_cached(&store));
        let copy = root.path().join("copy");
        plain.copy(&store, &copy, &AtomicBool::new(false)).expect("copied");
        assert_eq!(std::fs::read_to_string(copy).expect("file"), "disk");
        std::fs::write(directory.join("recipe"), more.recipe()).expect("file");
        assert!(!plain.is_cached(&store), "made of something else");
    }
}
