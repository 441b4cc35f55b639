//! The files of a guest's root: the archive that the kernel unpacks at boot.

use crate::cpio::Writer;
use crate::elf::Elf;
use crate::needed::Library;
use crate::{Arch, LabError, libraries};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// The default directories of loaders: `ld.so(8)`, and musl's `/lib` and `/usr/lib`.
const USUAL: [&str; 4] = ["/lib", "/usr/lib", "/lib64", "/usr/lib64"];

/// Files of a guest, gathered.
#[derive(Debug)]
pub(crate) struct Initramfs {
    /// Of the programs.
    arch: Arch,
    /// By path without the leading `/`; a directory sorts before what is in it.
    nodes: BTreeMap<String, Node>,
    /// Directories of libraries outside of the default ones.
    library_directories: Vec<String>,
}

#[derive(Debug)]
enum Node {
    Directory,
    /// A file of the host.
    File(PathBuf),
    /// A file made here.
    Bytes(Vec<u8>),
    Symlink(String),
    /// The device that init's standard input, output and error are opened on.
    Console,
}

impl Initramfs {
    /// Empty: for a guest that has a root.
    pub(crate) fn empty(arch: Arch) -> Initramfs {
        Initramfs { arch, nodes: BTreeMap::new(), library_directories: Vec::new() }
    }

    /// With directories to mount on, and a console.
    pub(crate) fn new(arch: Arch) -> Initramfs {
        let mut new = Initramfs::empty(arch);
        for directory in ["dev", "proc", "sys", "tmp", "run", "root", "out"] {
            new.put(directory, Node::Directory);
        }
        new.put("dev/console", Node::Console);
        new
    }

    /// Adds a file of the host as it is: the guest has the libraries.
    pub(crate) fn file(&mut self, from: &Path, to: &str) {
        self.put(to, Node::File(from.to_owned()));
    }

    /// Adds a file that is made here.
    pub(crate) fn bytes(&mut self, to: &str, bytes: Vec<u8>) {
        self.put(to, Node::Bytes(bytes));
    }

    /// Adds a file or a whole directory of the host. A dynamic program brings its libraries along.
    ///
    /// # Errors
    /// When it cannot be read, or a library is missing.
    pub(crate) fn add(&mut self, from: &Path, to: &str) -> Result<(), LabError> {
        let kind = std::fs::metadata(from).map_err(LabError::file("read", from))?;
        if kind.is_dir() {
            return self.add_directory(from, to);
        }
        if !kind.is_file() {
            let source = io::Error::new(io::ErrorKind::InvalidInput, "neither a file nor a directory");
            return Err(LabError::File { doing: "put into the guest", path: from.to_owned(), source });
        }
        if is_dynamic(from).map_err(LabError::file("read", from))? {
            for library in libraries::of_program(from, self.arch)? {
                self.add_library(&library);
            }
        }
        for library in libraries::of_plugin(from, self.arch) {
            self.add_library(&library);
        }
        self.put(to, Node::File(from.to_owned()));
        Ok(())
    }

    /// Adds a directory of the host as it is: its programs find their libraries in it.
    ///
    /// # Errors
    /// When it cannot be read.
    pub(crate) fn root(&mut self, from: &Path, to: &str) -> Result<(), LabError> {
        self.put(to, Node::Directory);
        for entry in std::fs::read_dir(from).map_err(LabError::file("read", from))? {
            let entry = entry.map_err(LabError::file("read", from))?;
            let path = entry.path();
            let kind = entry.file_type().map_err(LabError::file("read", &path))?;
            // A name that is not UTF-8 is of no program that a job could start.
            let Ok(name) = entry.file_name().into_string() else { continue };
            let to = format!("{}/{name}", to.trim_end_matches('/'));
            if kind.is_dir() {
                self.root(&path, &to)?;
            } else if kind.is_symlink() {
                let target = std::fs::read_link(&path).map_err(LabError::file("read", &path))?;
                self.put(&to, Node::Symlink(target.to_string_lossy().into_owned()));
            } else if kind.is_file() {
                self.put(&to, Node::File(path));
            }
        }
        Ok(())
    }

    fn add_directory(&mut self, from: &Path, to: &str) -> Result<(), LabError> {
        self.put(to, Node::Directory);
        for entry in std::fs::read_dir(from).map_err(LabError::file("read", from))? {
            let entry = entry.map_err(LabError::file("read", from))?;
            let path = entry.path();
            let Ok(name) = entry.file_name().into_string() else {
                let source = io::Error::new(io::ErrorKind::InvalidData, "its name is not UTF-8");
                return Err(LabError::File { doing: "put into the guest", path, source });
            };
            let to = format!("{}/{name}", to.trim_end_matches('/'));
            // As links: following them could lead round in a circle.
            match std::fs::read_link(&path) {
                Ok(target) => self.put(&to, Node::Symlink(target.to_string_lossy().into_owned())),
                Err(_) => self.add(&path, &to)?,
            }
        }
        Ok(())
    }

    /// Puts a library where its program searches for it.
    fn add_library(&mut self, Library { from, to }: &Library) {
        if let Some((directory, _)) = to.rsplit_once('/') {
            let of_arch = directory.strip_suffix(self.arch.multiarch());
            let known = USUAL.contains(&directory)
                || matches!(of_arch, Some("/lib/" | "/usr/lib/"))
                || self.library_directories.iter().any(|dir| dir == directory);
            if !known {
                self.library_directories.push(directory.to_owned());
            }
        }
        self.put(to, Node::File(from.clone()));
    }

    fn put(&mut self, to: &str, node: Node) {
        let to = to.trim_matches('/');
        for (slash, _) in to.match_indices('/') {
            let parent = &to[..slash];
            if !self.nodes.contains_key(parent) {
                self.nodes.insert(parent.to_owned(), Node::Directory);
            }
        }
        // A directory that is asked for twice keeps what it is.
        if !(matches!(node, Node::Directory) && self.nodes.contains_key(to)) {
            self.nodes.insert(to.to_owned(), node);
        }
    }

    /// The value of LD_LIBRARY_PATH, for libraries outside of the default directories.
    pub(crate) fn library_path(&self) -> Option<String> {
        (!self.library_directories.is_empty()).then(|| self.library_directories.join(":"))
    }

    /// Writes the archive.
    ///
    /// # Errors
    /// When a file cannot be read, or the archive not written.
    pub(crate) fn write(&self, to: &Path) -> Result<(), LabError> {
        let file = File::create(to).map_err(LabError::file("create", to))?;
        let mut archive = Writer::new(BufWriter::with_capacity(1 << 20, file));
        for (name, node) in &self.nodes {
            put_node(&mut archive, name, node).map_err(|source| match node {
                Node::File(from) if !is_no_room(&source) => {
                    LabError::File { doing: "put into the guest", path: from.clone(), source }
                }
                _ => LabError::File { doing: "write", path: to.to_owned(), source },
            })?;
        }
        archive.finish().map(drop).map_err(LabError::file("write", to))
    }
}

/// The error of a copy that failed, other than in reading.
fn is_no_room(error: &io::Error) -> bool {
    use io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
    matches!(error.kind(), StorageFull | QuotaExceeded | FileTooLarge)
}

fn put_node(archive: &mut Writer<impl Write>, name: &str, node: &Node) -> io::Result<()> {
    match node {
        Node::Directory => archive.directory(name, 0o755),
        Node::File(from) => {
            let file = File::open(from)?;
            let about = file.metadata()?;
            archive.file(name, about.permissions().mode() & 0o777, file, about.len())
        }
        Node::Bytes(bytes) => archive.file(name, 0o644, &bytes[..], bytes.len() as u64),
        Node::Symlink(target) => archive.symlink(name, target),
        Node::Console => archive.character_device(name, 0o600, (5, 1)),
    }
}

/// True for a program that has a loader, whatever it was built for.
fn is_dynamic(path: &Path) -> io::Result<bool> {
    let mut start = Vec::new();
    // Programs have their headers, and the loader's path, in their first pages.
    File::open(path)?.take(64 << 10).read_to_end(&mut start)?;
    Ok(Elf::new(&start).is_some_and(|elf| elf.interpreter().is_some()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpio::{EntryKind, Reader};

    fn names(archive: &Path) -> Vec<(String, EntryKind, u32)> {
        let mut reader = Reader::new(File::open(archive).expect("written"));
        let mut names = Vec::new();
        while let Some(entry) = reader.next(|_, _| Ok(())).expect("whole") {
            names.push((entry.name, entry.kind, entry.permissions));
        }
        names
    }

    #[test]
    fn directories_come_before_their_files() {
        let host = tempfile::tempdir().expect("temporary directory");
        let app = host.path().join("app");
        std::fs::create_dir_all(app.join("etc")).expect("directory");
        std::fs::write(app.join("etc/settings"), "x").expect("file");
        std::os::unix::fs::symlink("etc/settings", app.join("link")).expect("link");
        std::fs::set_permissions(app.join("etc/settings"), PermissionsExt::from_mode(0o640)).expect("mode");
        let mut files = Initramfs::new(Arch::native());
        files.add(&app, "/out/files").expect("readable");
        files.bytes("/job.json", b"{}".to_vec());
        let archive = host.path().join("initramfs");
        files.write(&archive).expect("written");
        let names = names(&archive);
        for (name, kind, permissions) in [
            ("dev/console", EntryKind::Other, 0o600),
            ("out/files/etc/settings", EntryKind::File, 0o640),
            ("out/files/link", EntryKind::Symlink, 0o777),
            ("job.json", EntryKind::File, 0o644),
        ] {
            assert!(names.contains(&(name.to_owned(), kind, permissions)), "{name}: {names:?}");
        }
        for (index, (name, ..)) in names.iter().enumerate() {
            if let Some((parent, _)) = name.rsplit_once('/') {
                assert!(
                    names[..index]
                        .iter()
                        .any(|(earlier, kind, _)| earlier == parent && *kind == EntryKind::Directory)
                );
            }
        }
    }

    #[test]
    fn a_root_is_added_as_it_is() {
        let host = tempfile::tempdir().expect("temporary directory");
        let root = host.path().join("root");
        std::fs::create_dir_all(root.join("bin")).expect("directory");
        std::fs::copy(std::env::current_exe().expect("path"), root.join("bin/program")).expect("file");
        std::os::unix::fs::symlink("program", root.join("bin/sh")).expect("link");
        let mut files = Initramfs::empty(Arch::native());
        files.root(&root, "/programs").expect("readable");
        let names: Vec<&str> = files.nodes.keys().map(String::as_str).collect();
        assert_eq!(names, ["programs", "programs/bin", "programs/bin/program", "programs/bin/sh"]);
        assert_eq!(files.library_path(), None);
        assert!(files.root(&root.join("none"), "/x").is_err());
    }

    #[test]
    fn a_dynamic_program_brings_its_libraries() {
        let own = std::env::current_exe().expect("path");
        let mut files = Initramfs::new(Arch::native());
        if !is_dynamic(&own).expect("readable") {
            return whylate_testing::skip(whylate_testing::Need::Machine, "this test is a static program");
        }
        files.add(&own, "/bin/test").expect("runs here");
        for library in libraries::of_program(&own, Arch::native()).expect("runs here") {
            assert!(files.nodes.contains_key(library.to.trim_matches('/')));
        }
        files.add_library(&Library::in_place("/opt/x/libx.so".into()));
        files.add_library(&Library::in_place("/opt/x/liby.so".into()));
        assert_eq!(files.library_path().as_deref(), Some("/opt/x"));
    }

    #[test]
    fn what_is_missing_is_named() {
        let error = Initramfs::new(Arch::native())
            .add(Path::new("/no/such/file"), "/x")
            .expect_err("missing")
            .to_string();
        assert!(error.contains("/no/such/file"), "{error}");
    }
}
