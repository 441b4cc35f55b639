//! Static probes of a program (USDT, `<sys/sdt.h>`): where they lie in its file.
//!
//! Each place of a probe is a note of type 3 with the owner `stapsdt` in the section `.note.stapsdt`: the addresses of the
//! probe, of the section `.stapsdt.base` as it was linked, and of a semaphore (0 without one), then provider, name and
//! arguments, each with a zero at its end. Where `.stapsdt.base` lies elsewhere now, the addresses have moved as far. A
//! probe with a semaphore is passed over while that is zero; the kernel counts it up for a probe event that names it.
//! Source: the comments of `<sys/sdt.h>` of SystemTap, and its page "UserSpaceProbeImplementation".

use crate::program_file;
use object::{Endian as _, Endianness, Object, ObjectSection, ObjectSegment};
use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};

/// Probes that an error lists.
const MOST_LISTED: usize = 12;
const OWNER: &[u8] = b"stapsdt\0";
const TYPE: u32 = 3;

/// A probe of a program, with all its places.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsdtProbe {
    /// The provider's name.
    pub provider: String,
    /// The probe's name.
    pub name: String,
    /// Its places.
    pub sites: Vec<UsdtSite>,
}

/// One place of a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct UsdtSite {
    /// Where it is in the file, in bytes.
    pub offset: u64,
    /// Where its semaphore is in the file; `None` without one.
    pub semaphore: Option<u64>,
}

impl fmt::Display for UsdtProbe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.provider, self.name)
    }
}

/// Why a probe has no place.
#[derive(Debug, thiserror::Error)]
pub enum UsdtError {
    /// The file cannot be read, or is no program.
    #[error("{}: {why}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// In words.
        why: String,
    },
    /// It has no static probes at all.
    #[error("{} has no static probes (no section .note.stapsdt; readelf -n lists them)", path.display())]
    None {
        /// The file.
        path: PathBuf,
    },
    /// It has others.
    #[error("{} has no static probe {probe}; it has {}", path.display(), listed(there))]
    NoProbe {
        /// The file.
        path: PathBuf,
        /// As asked for.
        probe: String,
        /// Those that it has.
        there: Vec<String>,
    },
}

fn listed(there: &[String]) -> String {
    let shown = there.get(..MOST_LISTED).unwrap_or(there).join(", ");
    match there.len().checked_sub(MOST_LISTED) {
        None | Some(0) => shown,
        Some(more) => format!("{shown} and {more} more (readelf -n)"),
    }
}

impl UsdtProbe {
    /// The probe of a program or library, with the file's whole path.
    ///
    /// # Errors
    /// [`UsdtError`].
    pub fn find(path: &Path, provider: &str, name: &str) -> Result<(PathBuf, UsdtProbe), UsdtError> {
        let failed = |why: String| UsdtError::File { path: path.to_owned(), why };
        let path = program_file::checked(path).map_err(failed)?;
        let bytes = std::fs::read(&path).map_err(|error| failed(error.to_string()))?;
        let file = object::File::parse(&*bytes).map_err(|error| failed(error.to_string()))?;
        let notes = notes(&file).map_err(failed)?;
        if notes.is_empty() {
            return Err(UsdtError::None { path });
        }
        let sites: BTreeSet<UsdtSite> = notes
            .iter()
            .filter(|note| (note.provider.as_str(), note.name.as_str()) == (provider, name))
            .filter_map(|note| note.site(&file))
            .collect();
        if sites.is_empty() {
            let there: BTreeSet<String> =
                notes.iter().map(|note| format!("{}:{}", note.provider, note.name)).collect();
            let probe = format!("{provider}:{name}");
            return Err(UsdtError::NoProbe { path, probe, there: there.into_iter().collect() });
        }
        let sites = sites.into_iter().collect();
        Ok((path, UsdtProbe { provider: provider.to_owned(), name: name.to_owned(), sites }))
    }
}

/// A note, with addresses as they are in the program now.
struct Note {
    provider: String,
    name: String,
    address: u64,
    semaphore: u64,
}

impl Note {
    fn site(&self, file: &object::File<'_>) -> Option<UsdtSite> {
        let in_file = |address: u64| {
            file.segments().find_map(|segment| {
                let (offset, size) = segment.file_range();
                let into = address.checked_sub(segment.address())?;
                (into < size).then_some(offset + into)
            })
        };
        let semaphore = match self.semaphore {
            0 => None,
            address => Some(in_file(address)?),
        };
        Some(UsdtSite { offset: in_file(self.address)?, semaphore })
    }
}

fn notes(file: &object::File<'_>) -> Result<Vec<Note>, String> {
    let Some(section) = file.section_by_name(".note.stapsdt") else { return Ok(Vec::new()) };
    let data = section.uncompressed_data().map_err(|error| format!("section .note.stapsdt: {error}"))?;
    let base = file.section_by_name(".stapsdt.base").map(|section| section.address());
    let (endian, width) = (file.endianness(), if file.is_64() { 8 } else { 4 });
    let (mut rest, mut all) = (&*data, Vec::new());
    while let Some((raw, after)) = split(rest, endian) {
        rest = after;
        if raw.kind == TYPE
            && raw.owner == OWNER
            && let Some(note) = note(raw.description, endian, width, base)
        {
            all.push(note);
        }
    }
    Ok(all)
}

/// A note as `elf(5)` has it.
struct RawNote<'d> {
    kind: u32,
    owner: &'d [u8],
    description: &'d [u8],
}

/// The first note, and what follows it.
fn split(data: &[u8], endian: Endianness) -> Option<(RawNote<'_>, &[u8])> {
    let word = |at: usize| Some(endian.read_u32(data.get(at..at + 4)?.try_into().ok()?));
    let (owner_size, size, kind) = (word(0)? as usize, word(4)? as usize, word(8)?);
    let owner_end = 12_usize.checked_add(owner_size)?;
    let start = owner_end.checked_next_multiple_of(4)?;
    let end = start.checked_add(size)?;
    let next = end.checked_next_multiple_of(4)?.min(data.len());
    let note = RawNote { kind, owner: data.get(12..owner_end)?, description: data.get(start..end)? };
    Some((note, data.get(next..)?))
}

fn note(description: &[u8], endian: Endianness, width: usize, base: Option<u64>) -> Option<Note> {
    let address = |at: usize| {
        let bytes = description.get(at * width..(at + 1) * width)?;
        Some(match bytes.try_into() {
            Ok(bytes) => endian.read_u64(bytes),
            Err(_) => endian.read_u32(bytes.try_into().ok()?).into(),
        })
    };
    let (at, linked_base, semaphore) = (address(0)?, address(1)?, address(2)?);
    let moved = base.map_or(0, |base| base.wrapping_sub(linked_base));
    let mut names = description.get(3 * width..)?.split(|&byte| byte == 0);
    let mut text = || Some(String::from_utf8_lossy(names.next()?).into_owned());
    Some(Note {
        provider: text()?,
        name: text()?,
        address: at.wrapping_add(moved),
        semaphore: if semaphore == 0 { 0 } else { semaphore.wrapping_add(moved) },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn description(width: usize, values: [u64; 3], text: &str) -> Vec<u8> {
        let mut bytes: Vec<u8> =
            values.iter().flat_map(|value| value.to_le_bytes()[..width].to_vec()).collect();
        bytes.extend_from_slice(text.as_bytes());
        bytes
    }

    #[test]
    fn a_note_moves_with_its_base() {
        for width in [8, 4] {
            let bytes = description(width, [0x1000, 0x500, 0x2000], "motion\0begin\0-4@%eax\0");
            for (base, address, semaphore) in
                [(None, 0x1000, 0x2000), (Some(0x500), 0x1000, 0x2000), (Some(0x700), 0x1200, 0x2200)]
            {
                let note = note(&bytes, Endianness::Little, width, base).expect("a note");
                assert_eq!((note.provider.as_str(), note.name.as_str()), ("motion", "begin"));
                assert_eq!((note.address, note.semaphore), (address, semaphore));
            }
            let bytes = description(width, [0x1000, 0x500, 0], "a\0b\0\0");
            assert_eq!(note(&bytes, Endianness::Little, width, Some(0x700)).expect("a note").semaphore, 0);
        }
    }

    #[test]
    fn notes_follow_each_other_at_multiples_of_four() {
        let one = |kind: u32, owner: &[u8], text: &[u8]| {
            let mut bytes = Vec::new();
            for word in [owner.len() as u32, text.len() as u32, kind] {
                bytes.extend_from_slice(&word.to_le_bytes());
            }
            for part in [owner, text] {
                bytes.extend_from_slice(part);
                bytes.resize(bytes.len().next_multiple_of(4), 0);
            }
            bytes
        };
        let data = [one(1, b"GNU\0", b"abcde"), one(3, OWNER, b"fg")].concat();
        let (note, rest) = split(&data, Endianness::Little).expect("a note");
        assert_eq!((note.kind, note.owner, note.description), (1, &b"GNU\0"[..], &b"abcde"[..]));
        let (note, rest) = split(rest, Endianness::Little).expect("a note");
        assert_eq!((note.kind, note.owner, note.description, rest), (TYPE, OWNER, &b"fg"[..], &b""[..]));
        assert!(split(rest, Endianness::Little).is_none());
    }

    proptest! {
        #[test]
        fn any_bytes_are_survived(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let mut rest = bytes.as_slice();
            while let Some((raw, after)) = split(rest, Endianness::Big) {
                note(raw.description, Endianness::Big, 8, Some(1));
                prop_assert!(after.len() < rest.len());
                rest = after;
            }
        }
    }

    #[test]
    fn what_is_not_there_is_named() {
        let own = std::env::current_exe().expect("this program");
        let error = UsdtProbe::find(&own, "motion", "begin").expect_err("no probes").to_string();
        assert!(error.contains("no static probes"), "{error}");
        let error = UsdtProbe::find(Path::new("/nowhere"), "a", "b").expect_err("no file").to_string();
        assert!(error.starts_with("/nowhere: no such file"), "{error}");
        let there: Vec<String> = (0..14).map(|at| format!("p:{at}")).collect();
        assert!(listed(&there).ends_with("p:11 and 2 more (readelf -n)"), "{}", listed(&there));
    }
}
