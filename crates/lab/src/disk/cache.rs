//! The cache of disk images: each is made once, and copied for each machine.
//!
//! ```text
//!  disks/6.1-rt/disk.img     a disk that has been booted once
//!  disks/6.1-rt/recipe       its recipe; another recipe makes another disk
//! ```

use super::build;
use super::recipe::Image;
use crate::LabError;
use crate::kernels::Store;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicBool;

impl Image {
    /// Copies the disk to `to`, for one machine. Makes the image first where the cache does not have it: that takes two minutes and needs root, apt's tools and a mirror.
    ///
    /// # Errors
    /// When it cannot be made or copied, or `stop` became true.
    pub fn copy(&self, store: &Store, to: &Path, stop: &AtomicBool) -> Result<(), LabError> {
        let disk = match self.cached(store) {
            Some(disk) => disk,
            None => self.make(store, stop)?,
        };
        // Holes stay holes; file systems with reflinks copy nothing.
        let mut command = Command::new("cp");
        command.args(["--reflink=auto", "--sparse=always"]).args([&disk, to]);
        whylate_sys::die_with_parent(&mut command);
        let output = command.output().map_err(LabError::tool("cp", "install coreutils"))?;
        match output.status.success() {
            true => Ok(()),
            false => Err(self.failed(String::from_utf8_lossy(&output.stderr).trim().to_owned())),
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
