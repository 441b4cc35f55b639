//! From Debian's mirror into the cache.

use super::apt::{self, Apt};
use super::{Kernel, Series, Store, UNFINISHED, UNPACKED, choose, image, unpack};
use crate::LabError;
use rustix::fs::{FlockOperation, flock};
use std::fs::File;
use std::path::{Path, PathBuf};

impl Store {
    /// Fetches the newest kernel of that name, and replaces the one that was there.
    ///
    /// Processes that fetch at the same time wait for each other. An interrupted fetch leaves the
    /// cache unchanged.
    ///
    /// # Errors
    /// When there is none of that name, or it cannot be fetched: no network, no apt, no room.
    pub fn fetch(&self, name: &str) -> Result<Kernel, LabError> {
        let series = self.series(name)?;
        let _lock = self.lock()?;
        self.fetch_locked(series).map_err(|reason| self.failed(name, reason))
    }

    /// Fetches it unless another process has done so while this one waited.
    pub(super) fn fetch_once(&self, series: &'static Series) -> Result<Kernel, LabError> {
        let _lock = self.lock()?;
        match self.find(series) {
            Some(kernel) => Ok(kernel),
            None => self.fetch_locked(series).map_err(|reason| self.failed(series.name, reason)),
        }
    }

    fn failed(&self, name: &str, reason: String) -> LabError {
        let cached =
            self.cached().into_iter().map(|kernel| kernel.name).filter(|cached| cached != name).collect();
        LabError::Fetch { name: name.to_owned(), reason, cached }
    }

    /// Held until the file is closed, however this process ends.
    pub(crate) fn lock(&self) -> Result<File, LabError> {
        std::fs::create_dir_all(&self.root).map_err(LabError::file("create", &self.root))?;
        let path = self.root.join("lock");
        let file = File::options().create(true).truncate(false).write(true).open(&path);
        let file = file.map_err(LabError::file("create", &path))?;
        flock(&file, FlockOperation::LockExclusive)
            .map_err(|errno| LabError::file("lock", &path)(errno.into()))?;
        Ok(file)
    }

    fn fetch_locked(&self, series: &Series) -> Result<Kernel, String> {
        self.clean_up();
        let apt = Apt::new(self.apt_directory(series), series.suite, self.arch)?;
        apt.update()?;
        let names = apt.package_names("linux-")?;
        let packages = choose::packages(names.lines(), series, self.arch).map_err(|newest| match newest {
            Some(newest) => {
                format!(
                    "{} no longer has this series for {}: its newest is {newest}",
                    series.suite, self.arch
                )
            }
            None => format!("{} has no such kernel for {}", series.suite, self.arch),
        })?;
        let work = tempfile::Builder::new().prefix(UNFINISHED).tempdir_in(&self.root);
        let work = work.map_err(|error| format!("cannot write to {}: {error}", self.root.display()))?;
        let work = work.path();
        let (debs, tree, new) = (work.join("debs"), work.join("tree"), work.join("new"));
        let io = |error: std::io::Error| format!("{}: {error}", self.root.display());
        for directory in [&debs, &tree, &new] {
            std::fs::create_dir(directory).map_err(io)?;
        }
        apt.download(&packages, &debs)?;
        for deb in std::fs::read_dir(&debs).map_err(io)?.flatten() {
            apt::unpack(&deb.path(), &tree)?;
        }
        let (vmlinuz, modules) = find_parts(&tree).ok_or_else(|| {
            format!("{} have no image and modules at the paths of Debian's kernels", packages.join(", "))
        })?;
        // The image first: it may lie in the modules tree.
        std::fs::rename(vmlinuz, new.join("vmlinuz")).map_err(io)?;
        std::fs::rename(modules, new.join("modules")).map_err(io)?;
        if let Some(vmlinux) = unpack::unpacked(&std::fs::read(new.join("vmlinuz")).map_err(io)?) {
            std::fs::write(new.join(UNPACKED), vmlinux).map_err(io)?;
        }
        // An invalid image must not replace a kernel.
        image::read(&new.join("vmlinuz")).map_err(|error| error.to_string())?;
        let directory = self.directory(series);
        if let Some(parent) = directory.parent() {
            std::fs::create_dir_all(parent).map_err(io)?;
        }
        if directory.exists() {
            std::fs::rename(&directory, work.join("old")).map_err(io)?;
        }
        std::fs::rename(&new, &directory).map_err(io)?;
        self.find(series).ok_or_else(|| "the fetched file is no kernel".to_owned())
    }

    /// Removes what an earlier fetch left that was killed.
    pub(crate) fn clean_up(&self) {
        for entry in std::fs::read_dir(&self.root).into_iter().flatten().flatten() {
            if entry.file_name().to_string_lossy().starts_with(UNFINISHED) {
                // A directory that cannot be removed only takes up space.
                let _ = std::fs::remove_dir_all(entry.path());
            }
        }
    }
}

/// Image and modules of an unpacked package.
fn find_parts(tree: &Path) -> Option<(PathBuf, PathBuf)> {
    let only = |directory: PathBuf| Some(std::fs::read_dir(directory).ok()?.flatten().next()?.path());
    let modules = only(tree.join("usr/lib/modules")).or_else(|| only(tree.join("lib/modules")))?;
    let release = modules.file_name()?.to_str()?.to_owned();
    let images = [modules.join("vmlinuz"), tree.join(format!("boot/vmlinuz-{release}"))];
    let image = images.into_iter().find(|image| image.is_file())?;
    Some((image, modules))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_found_in_both_layouts() {
        for (modules, image) in [
            ("lib/modules/6.1.0-50-amd64", "boot/vmlinuz-6.1.0-50-amd64"),
            ("usr/lib/modules/6.12.1-rt-amd64", "boot/vmlinuz-6.12.1-rt-amd64"),
            ("usr/lib/modules/7.2.13-amd64", "usr/lib/modules/7.2.13-amd64/vmlinuz"),
        ] {
            let root = tempfile::tempdir().expect("temporary directory");
            let tree = root.path();
            std::fs::create_dir_all(tree.join(modules)).expect("directory");
            assert_eq!(find_parts(tree), None);
            std::fs::create_dir_all(tree.join("boot")).expect("directory");
            std::fs::write(tree.join(image), "").expect("file");
            assert_eq!(find_parts(tree), Some((tree.join(image), tree.join(modules))));
        }
    }

    #[test]
    fn leftovers_are_removed_and_kernels_are_not() {
        let root = tempfile::tempdir().expect("temporary directory");
        for name in [".unfinished-abc/debs", "6.1/modules", "apt/sid"] {
            std::fs::create_dir_all(root.path().join(name)).expect("directory");
        }
        Store::at(root.path()).clean_up();
        let mut left: Vec<_> =
            std::fs::read_dir(root.path()).expect("directory").flatten().map(|e| e.file_name()).collect();
        left.sort();
        assert_eq!(left, ["6.1", "apt"]);
    }
}
