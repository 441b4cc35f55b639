//! The libraries of a program for another architecture: its loader does not run here, so they are looked for as it would,
//! in the directories of Debian's cross compilers and foreign packages.

use crate::Arch;
use crate::elf::{Elf, Needed};
use std::collections::VecDeque;
use std::path::{Path, PathBuf};

/// A library of the host, and its place in the guest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Library {
    pub(crate) from: PathBuf,
    pub(crate) to: String,
}

impl Library {
    /// At the same path in the guest.
    pub(crate) fn in_place(from: PathBuf) -> Library {
        let to = from.to_string_lossy().into_owned();
        Library { from, to }
    }
}

/// The loader and the libraries of the program with these bytes at `path`.
///
/// # Errors
/// The name of a library that is not here, and where it was looked for.
pub(crate) fn of_foreign(
    path: &Path,
    bytes: &[u8],
    loader: &str,
    arch: Arch,
) -> Result<Vec<Library>, String> {
    let own = path.parent().unwrap_or(Path::new("/"));
    let places = places(arch);
    let find = |name: &str, needed: &Needed<'_>| -> Option<PathBuf> {
        let of_program = needed.directories.iter().map(|directory| match directory.strip_prefix("$ORIGIN") {
            Some(rest) => own.join(rest.trim_start_matches('/')),
            None => PathBuf::from(directory),
        });
        let candidates = of_program.chain(places.iter().cloned()).map(|directory| directory.join(name));
        candidates.into_iter().find(|path| is_for(path, arch))
    };
    let missing = |name: &str| {
        let places: Vec<String> = places.iter().map(|place| place.display().to_string()).collect();
        format!(
            "it needs {name} for {arch}, which is not in {}: link it statically, or install the library \
             (apt-get install libc6-{}-cross)",
            places.join(", "),
            arch.debian()
        )
    };
    let loader_name = loader.rsplit('/').next().unwrap_or(loader);
    let from = find(loader_name, &Needed::default()).ok_or_else(|| missing(loader_name))?;
    let mut found = vec![Library { from, to: loader.to_owned() }];
    let mut left = VecDeque::from([bytes.to_vec()]);
    while let Some(bytes) = left.pop_front() {
        let Some(elf) = Elf::new(&bytes) else { continue };
        let needed = elf.needed();
        for name in needed.libraries.iter().filter(|name| **name != loader_name) {
            // All loaders look there.
            let to = format!("/lib/{name}");
            if found.iter().any(|library| library.to == to) {
                continue;
            }
            let from = find(name, &needed).ok_or_else(|| missing(name))?;
            left.extend(std::fs::read(&from));
            found.push(Library { from, to });
        }
    }
    Ok(found)
}

/// Directories of this machine with libraries of an architecture.
fn places(arch: Arch) -> Vec<PathBuf> {
    let name = arch.multiarch();
    [format!("/usr/{name}/lib"), format!("/lib/{name}"), format!("/usr/lib/{name}")]
        .map(PathBuf::from)
        .to_vec()
}

fn is_for(path: &Path, arch: Arch) -> bool {
    std::fs::read(path).is_ok_and(|bytes| Elf::new(&bytes).is_some_and(|elf| elf.is_for(arch)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_libraries_of_this_program_are_found_as_its_loader_finds_them() {
        let own = std::env::current_exe().expect("path");
        let bytes = std::fs::read(&own).expect("own program");
        let elf = Elf::new(&bytes).expect("ELF");
        let (Some(loader), true) = (elf.interpreter(), Path::new("/etc/debian_version").exists()) else {
            return whylate_testing::skip(
                whylate_testing::Need::Machine,
                "a static program, or libraries elsewhere than in Debian",
            );
        };
        let found = of_foreign(&own, &bytes, loader, Arch::native()).expect("its libraries are here");
        assert_eq!(found[0].to, loader);
        assert!(found.iter().any(|library| library.to.starts_with("/lib/libc.")), "{found:?}");
        assert!(found.iter().all(|library| library.from.is_file()));
    }

    #[test]
    fn a_missing_library_is_named_with_the_places() {
        let bytes = crate::elf::tests::file(Some("/lib/ld-none.so.1"), &[]);
        let error =
            of_foreign(Path::new("/x/y"), &bytes, "/lib/ld-none.so.1", Arch::Arm64).expect_err("missing");
        assert!(error.contains("ld-none.so.1") && error.contains("aarch64-linux-gnu"), "{error}");
    }
}
