//! Kernel modules of a guest: found in a modules tree, with their dependencies.
//!
//! Each module lists its own dependencies (`depends=` and `softdep=` of its `.modinfo` section), so no
//! `modules.dep` is needed, which only an installed kernel has.

use crate::LabError;
use crate::elf::Elf;
use std::collections::HashMap;
use std::io::Read;
use std::path::{Path, PathBuf};

/// No module is larger unpacked.
const LARGEST: u64 = 256 << 20;

/// A modules tree: the `/lib/modules/RELEASE` of a kernel.
#[derive(Debug)]
pub(crate) struct ModuleTree {
    root: PathBuf,
    files: HashMap<String, PathBuf>,
}

/// A module to load.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Loadable {
    /// Its name, as `lsmod` shows it.
    pub(crate) name: String,
    /// The module itself, unpacked.
    pub(crate) image: Vec<u8>,
}

impl std::fmt::Debug for Loadable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ({} bytes)", self.name, self.image.len())
    }
}

impl ModuleTree {
    /// Looks through a tree.
    ///
    /// # Errors
    /// When it cannot be read.
    pub(crate) fn open(root: &Path) -> Result<ModuleTree, LabError> {
        let mut files = HashMap::new();
        let mut left = vec![root.to_owned()];
        while let Some(directory) = left.pop() {
            let entries = std::fs::read_dir(&directory).map_err(LabError::file("read", &directory))?;
            for entry in entries {
                let entry = entry.map_err(LabError::file("read", &directory))?;
                // Not followed: `build` and `source` of an installed kernel lead out of the tree.
                match entry.file_type() {
                    Ok(kind) if kind.is_dir() => left.push(entry.path()),
                    Ok(_) => {
                        if let Some(name) = entry.file_name().to_str().and_then(module_name) {
                            files.insert(name, entry.path());
                        }
                    }
                    Err(_) => {}
                }
            }
        }
        Ok(ModuleTree { root: root.to_owned(), files })
    }

    /// True when the tree has the module.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.files.contains_key(&canonical(name))
    }

    /// True when the kernel lists the module as built in.
    pub(crate) fn is_built_in(&self, name: &str) -> bool {
        let list = std::fs::read_to_string(self.root.join("modules.builtin")).unwrap_or_default();
        let mut names = list.lines().filter_map(|path| module_name(path.rsplit('/').next()?));
        names.any(|built_in| built_in == canonical(name))
    }

    /// The module and all it depends on, in the order in which to load them, without those
    /// already in `loaded`, to which they are added.
    ///
    /// # Errors
    /// When one of them is not in the tree, or cannot be read.
    pub(crate) fn load(&self, name: &str, loaded: &mut Vec<Loadable>) -> Result<(), LabError> {
        self.load_below(&canonical(name), loaded, &mut Vec::new())
    }

    /// The module of a soft dependency. That of an algorithm, which a module asks the crypto API for, has the
    /// algorithm's name in an alias; its generic implementation works on every CPU. What the tree has no module for is
    /// built in, or the kernel does without it.
    fn softly_needed(&self, name: &str) -> Option<String> {
        let name = canonical(name.strip_prefix("crypto-").unwrap_or(name));
        let generic = format!("{name}_generic");
        [name, generic].into_iter().find(|name| self.files.contains_key(name))
    }

    fn load_below(
        &self,
        name: &str,
        loaded: &mut Vec<Loadable>,
        above: &mut Vec<String>,
    ) -> Result<(), LabError> {
        let seen =
            loaded.iter().any(|module| module.name == name) || above.iter().any(|module| module == name);
        if seen {
            return Ok(());
        }
        let wrong = |reason: String| LabError::Module { name: name.to_owned(), reason };
        let path =
            self.files.get(name).ok_or_else(|| wrong(format!("there is none in {}", self.root.display())))?;
        let packed = std::fs::read(path).map_err(LabError::file("read", path))?;
        let image = unpack(path, packed).map_err(|reason| wrong(format!("{}: {reason}", path.display())))?;
        let elf = Elf::new(&image).ok_or_else(|| wrong(format!("{} is no ELF file", path.display())))?;
        above.push(name.to_owned());
        for list in elf.modinfo("depends") {
            for needed in list.split(',').filter(|needed| !needed.is_empty()) {
                self.load_below(&canonical(needed), loaded, above)?;
            }
        }
        for softly in elf.modinfo("softdep").into_iter().flat_map(before) {
            if let Some(needed) = self.softly_needed(softly) {
                self.load_below(&needed, loaded, above)?;
            }
        }
        above.pop();
        loaded.push(Loadable { name: name.to_owned(), image });
        Ok(())
    }
}

/// What a module wants to be loaded before it: `pre:` of its `softdep=` (modprobe.d(5)).
fn before(softdep: &str) -> impl Iterator<Item = &str> {
    let (_, list) = softdep.split_once("pre:").unwrap_or_default();
    list.split_whitespace().take_while(|word| *word != "post:")
}

/// The kernel treats `-` and `_` in module names as equal.
fn canonical(name: &str) -> String {
    name.replace('-', "_")
}

/// `virtio_blk` of `virtio-blk.ko.xz`.
fn module_name(file: &str) -> Option<String> {
    let stem = [".ko", ".ko.xz", ".ko.zst", ".ko.gz"].iter().find_map(|end| file.strip_suffix(end))?;
    Some(canonical(stem))
}

/// The host unpacks: older kernels cannot, and none does it faster in emulation.
fn unpack(path: &Path, packed: Vec<u8>) -> Result<Vec<u8>, String> {
    let read_all = |reader: &mut dyn Read| {
        let mut image = Vec::new();
        reader.take(LARGEST).read_to_end(&mut image).map_err(|error| error.to_string())?;
        Ok(image)
    };
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("xz") => {
            let mut image = Vec::new();
            lzma_rs::xz_decompress(&mut &packed[..], &mut image).map_err(|error| format!("{error:?}"))?;
            Ok(image)
        }
        Some("zst") => {
            let mut reader = zstd::Decoder::new(&packed[..]).map_err(|error| error.to_string())?;
            read_all(&mut reader)
        }
        Some("gz") => read_all(&mut flate2::read::GzDecoder::new(&packed[..])),
        _ => Ok(packed),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::elf::tests::file;
    use std::io::Write;

    fn module(depends: &str) -> Vec<u8> {
        file(None, &["license=GPL", &format!("depends={depends}")])
    }

    fn tree() -> (tempfile::TempDir, ModuleTree) {
        let root = tempfile::tempdir().expect("temporary directory");
        let drivers = root.path().join("kernel/drivers");
        std::fs::create_dir_all(&drivers).expect("directory");
        let put = |name: &str, bytes: &[u8]| std::fs::write(drivers.join(name), bytes).expect("file");
        put("virtio.ko", &module(""));
        put("virtio_ring.ko.zst", &zstd::encode_all(&module("virtio")[..], 1).expect("packed"));
        let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gz.write_all(&module("virtio,virtio-ring")).expect("packed");
        put("virtio-blk.ko.gz", &gz.finish().expect("packed"));
        put("egg.ko", &module("hen"));
        put("hen.ko", &module("egg"));
        let softly =
            |list: &str| file(None, &["depends=", "softdep=post: egg", &format!("softdep=pre: {list}")]);
        put("libcrc32c.ko", &softly("crc32c xxhash64 post: egg"));
        put("ext4.ko", &softly("virtio crypto-crc32c"));
        put("crc32c_generic.ko", &module(""));
        put("orphan.ko", &module("nobody"));
        put("broken.ko", b"text");
        put("short.ko.xz", b"\xfd7zXZ\0\0");
        std::fs::write(root.path().join("modules.builtin"), "kernel/fs/fuse/virtio-fs.ko\n").expect("file");
        let tree = ModuleTree::open(root.path()).expect("readable");
        (root, tree)
    }

    #[test]
    fn what_is_needed_comes_first_and_once() {
        let (_root, tree) = tree();
        for (asked, expected) in [
            (vec!["virtio_blk"], vec!["virtio", "virtio_ring", "virtio_blk"]),
            (vec!["virtio-ring", "virtio-blk", "virtio"], vec!["virtio", "virtio_ring", "virtio_blk"]),
            (vec!["egg"], vec!["hen", "egg"]),
            (vec!["libcrc32c"], vec!["crc32c_generic", "libcrc32c"]),
            (vec!["ext4"], vec!["virtio", "crc32c_generic", "ext4"]),
        ] {
            let mut loaded = Vec::new();
            for name in asked {
                tree.load(name, &mut loaded).expect("there");
            }
            let names: Vec<&str> = loaded.iter().map(|module| module.name.as_str()).collect();
            assert_eq!(names, expected);
            assert!(loaded.iter().all(|module| Elf::new(&module.image).is_some()), "unpacked");
        }
    }

    #[test]
    fn what_is_missing_or_broken_is_named() {
        let (_root, tree) = tree();
        for (asked, named) in
            [("nobody", "nobody"), ("orphan", "nobody"), ("broken", "no ELF"), ("short", "short")]
        {
            let error = tree.load(asked, &mut Vec::new()).expect_err(asked).to_string();
            assert!(error.contains(named), "{error}");
        }
        assert!(tree.is_built_in("virtio_fs") && !tree.is_built_in("virtio") && tree.has("virtio-ring"));
    }
}
