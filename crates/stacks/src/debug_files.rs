//! Separate debug files: where distributions install them, and where the user has them.
//!
//! The places are those of GDB ("Debugging Information in Separate Files") and of a debuginfod client's cache. A file is
//! taken only if it is of the same build: names from another build would be wrong.

use crate::elf::ElfHeaders;
use crate::image::Image;
use crate::plain_file;
use flate2::Crc;
use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::path::{Path, PathBuf};
use whylate_events::CodeModule;

/// Where distributions install debug files.
const INSTALLED: &str = "/usr/lib/debug";

/// The search for one module's files.
pub(crate) struct Search<'a> {
    pub(crate) module: &'a CodeModule,
    /// The headers of the module's own file, where that can be read.
    pub(crate) headers: Option<&'a ElfHeaders>,
    /// The user's directories.
    pub(crate) directories: &'a [PathBuf],
}

/// What the search found.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// A file of the same build with debug information.
    pub(crate) debug_info: Option<PathBuf>,
    /// A file of the same build with a symbol table.
    pub(crate) symbols: Option<PathBuf>,
    /// Files at these places that are of another build.
    pub(crate) refused: Vec<PathBuf>,
}

impl Search<'_> {
    /// Looks for files of the same build, the user's directories first.
    pub(crate) fn run(&self) -> Found {
        let mut found = Found::default();
        for candidate in self.candidates() {
            let Some(headers) = read(&candidate) else { continue };
            if !headers.debug_info && !headers.symbols {
                continue;
            }
            if !self.is_same_build(&candidate, &headers) {
                found.refused.push(candidate);
                continue;
            }
            if headers.debug_info {
                found.debug_info = Some(candidate);
                break;
            }
            found.symbols.get_or_insert(candidate);
        }
        found
    }

    fn candidates(&self) -> Vec<PathBuf> {
        let path = Path::new(&self.module.path);
        let directory = path.parent().unwrap_or(Path::new("/"));
        let name = path.file_name().unwrap_or_default();
        let within = directory.strip_prefix("/").unwrap_or(directory);
        let link =
            self.headers.and_then(|headers| headers.debug_link.as_ref()).map(|(name, _)| name.as_os_str());
        let mut candidates = Vec::new();
        let installed = Path::new(INSTALLED);
        for root in self.directories.iter().map(PathBuf::as_path).chain([installed]) {
            if let Some((first, rest)) = self.module.build_id.as_deref().and_then(|id| id.split_at_checked(2))
            {
                let of_id = root.join(".build-id").join(first);
                candidates.push(of_id.join(format!("{rest}.debug")));
                candidates.push(of_id.join(rest));
                candidates.push(root.join(format!("{first}{rest}")).join("debuginfo"));
            }
            if let Some(link) = link {
                candidates.push(root.join(within).join(link));
            }
            if root != installed {
                let with_suffix = [name, OsStr::new(".debug")].into_iter().collect::<OsString>();
                for name in link.into_iter().chain([name, &with_suffix]) {
                    candidates.extend([root.join(name), root.join(within).join(name)]);
                }
            }
        }
        if let Some(link) = link {
            candidates.extend([directory.join(link), directory.join(".debug").join(link)]);
        }
        candidates
    }

    /// By the build ids; by the link's checksum where the module has none.
    fn is_same_build(&self, candidate: &Path, headers: &ElfHeaders) -> bool {
        match (&self.module.build_id, &headers.build_id) {
            (Some(own), Some(other)) => own == other,
            (None, None) => {
                let link = self.headers.and_then(|headers| headers.debug_link.as_ref());
                link.is_some_and(|&(_, sum)| checksum(candidate) == Some(sum))
            }
            _ => false,
        }
    }
}

/// The headers of a regular ELF file.
pub(crate) fn read(path: &Path) -> Option<ElfHeaders> {
    Image::of_file(plain_file::open(path).ok()?).ok().map(|image| image.headers)
}

/// The CRC-32 of the whole file, as in `.gnu_debuglink`.
fn checksum(path: &Path) -> Option<u32> {
    let mut file = plain_file::open(path).ok()?;
    let mut crc = Crc::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        match file.read(&mut buffer).ok()? {
            0 => return Some(crc.sum()),
            count => crc.update(&buffer[..count]),
        }
    }
}
