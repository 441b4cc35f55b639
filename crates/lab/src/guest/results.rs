//! The results of a guest: the files of its out directory that are new or changed, in an
//! archive on a disk.

use crate::cpio::Writer;
use std::collections::HashMap;
use std::fs::File;
use std::io::BufWriter;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// An attached disk appears within this time.
const PATIENCE: Duration = Duration::from_secs(2);

/// The files of a directory, with size and last change.
pub(super) type Listing = HashMap<PathBuf, (u64, Option<SystemTime>)>;

/// Lists the files under `root`.
pub(super) fn listing(root: &Path) -> Listing {
    let mut files = Listing::new();
    let mut left = vec![root.to_owned()];
    while let Some(directory) = left.pop() {
        for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
            // Of the link itself, where it is one.
            match entry.metadata() {
                Ok(about) if about.is_dir() => left.push(entry.path()),
                Ok(about) if about.is_file() => {
                    files.insert(entry.path(), (about.len(), about.modified().ok()));
                }
                _ => {}
            }
        }
    }
    files
}

/// Writes what differs from `before` to the disk at `to`.
pub(super) fn send(root: &Path, before: &Listing, to: &str) -> Result<(), String> {
    let disk = open_disk(to)?;
    let mut archive = Writer::new(BufWriter::with_capacity(1 << 20, disk));
    let mut changed: Vec<PathBuf> = listing(root)
        .into_iter()
        .filter(|(path, about)| before.get(path) != Some(about))
        .map(|(path, _)| path)
        .collect();
    changed.sort();
    for path in changed {
        pack(&mut archive, root, &path)
            .map_err(|error| format!("{}: {error}{}", path.display(), remedy(&error)))?;
    }
    let out = archive.finish().and_then(|out| Ok(out.into_inner()?));
    out.and_then(|disk| disk.sync_all()).map_err(|error| format!("{to}: {error}{}", remedy(&error)))
}

/// The files are in memory, and the disk is a file of the host: only that can fail.
fn remedy(error: &std::io::Error) -> &'static str {
    match error.raw_os_error() == Some(rustix::io::Errno::IO.raw_os_error()) {
        true => ": the host cannot write it; is there room for temporary files (TMPDIR)?",
        false => "",
    }
}

fn pack(archive: &mut Writer<BufWriter<File>>, root: &Path, path: &Path) -> std::io::Result<()> {
    let file = File::open(path)?;
    let about = file.metadata()?;
    let name = path.strip_prefix(root).unwrap_or(path).to_string_lossy();
    archive.file(&name, about.permissions().mode() & 0o777, file, about.len())
}

fn open_disk(disk: &str) -> Result<File, String> {
    let mut waited = Duration::ZERO;
    loop {
        match File::options().write(true).open(disk) {
            Ok(disk) => return Ok(disk),
            Err(error) if waited >= PATIENCE => {
                return Err(format!(
                    "no disk for the results: {disk}: {error}: the kernel needs the modules virtio_pci and \
                     virtio_blk (--modules DIR), or both built in"
                ));
            }
            Err(_) => {
                std::thread::sleep(Duration::from_millis(20));
                waited += Duration::from_millis(20);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_new_or_changed_differs() {
        let root = tempfile::tempdir().expect("temporary directory");
        let file = |name: &str| root.path().join(name);
        std::fs::create_dir(file("sub")).expect("directory");
        for name in ["same", "sub/grown"] {
            std::fs::write(file(name), "1").expect("file");
        }
        std::os::unix::fs::symlink("same", file("link")).expect("link");
        let before = listing(root.path());
        assert_eq!(before.len(), 2, "{before:?}");
        std::fs::write(file("sub/grown"), "12").expect("file");
        std::fs::write(file("new"), "").expect("file");
        let mut changed: Vec<_> = listing(root.path())
            .into_iter()
            .filter(|(path, about)| before.get(path) != Some(about))
            .collect();
        changed.sort();
        let names: Vec<_> = changed.into_iter().map(|(path, _)| path).collect();
        assert_eq!(names, [file("new"), file("sub/grown")]);
    }
}
