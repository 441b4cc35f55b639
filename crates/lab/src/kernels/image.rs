//! The release of a kernel image: the `kernel_version` field of the boot protocol's header.
//!
//! `Documentation/arch/x86/boot.rst`, "The Real-Mode Kernel Header".

use crate::LabError;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// The real-mode part, which holds the header and the version, is at most 64 sectors and one.
const SETUP: u64 = 65 * 512;

/// The release of an image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct About {
    /// `uname -r`.
    pub(super) release: String,
    /// True when `uname -v` has the token PREEMPT_RT.
    pub(super) preempt_rt: bool,
}

/// Reads an image's header.
pub(super) fn read(path: &Path) -> Result<About, LabError> {
    let mut setup = Vec::new();
    let file = File::open(path).map_err(LabError::file("read", path))?;
    file.take(SETUP).read_to_end(&mut setup).map_err(LabError::file("read", path))?;
    parse(&setup).map_err(|reason| LabError::NotAKernel { path: path.to_owned(), reason })
}

fn parse(setup: &[u8]) -> Result<About, &'static str> {
    if setup.get(0x202..0x206) != Some(b"HdrS") {
        return Err("it has no boot header: give the bzImage, which distributions call vmlinuz");
    }
    let offset =
        setup.get(0x20E..0x210).and_then(|bytes| bytes.try_into().ok()).map_or(0, u16::from_le_bytes);
    let text = setup.get(usize::from(offset) + 0x200..).unwrap_or_default();
    let text = text.split(|byte| *byte == 0).next().unwrap_or_default();
    let text = std::str::from_utf8(text).unwrap_or_default();
    match text.split_ascii_whitespace().next() {
        Some(release) if offset != 0 => {
            let preempt_rt = text.split_ascii_whitespace().any(|word| word == "PREEMPT_RT");
            Ok(About { release: release.to_owned(), preempt_rt })
        }
        _ => Err("its boot header has no version"),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// An image's first sectors, with that version.
    pub(crate) fn setup(version: &str) -> Vec<u8> {
        let mut bytes = vec![0; 0x400];
        bytes[0x202..0x206].copy_from_slice(b"HdrS");
        bytes[0x20E..0x210].copy_from_slice(&0x200u16.to_le_bytes());
        bytes.extend_from_slice(version.as_bytes());
        bytes.push(0);
        bytes
    }

    #[test]
    fn release_and_preemption_are_read() {
        let debian =
            "6.12.107+deb13-rt-amd64 (debian-kernel@lists.debian.org) #1 SMP PREEMPT_RT Debian 6.12.107-1";
        let about = parse(&setup(debian)).expect("header");
        assert_eq!((about.release.as_str(), about.preempt_rt), ("6.12.107+deb13-rt-amd64", true));
        let about = parse(&setup("6.1.0 (x) #1 SMP PREEMPT_DYNAMIC")).expect("header");
        assert_eq!((about.release.as_str(), about.preempt_rt), ("6.1.0", false));
    }

    #[test]
    fn other_files_are_refused() {
        let mut no_version = setup("");
        no_version[0x20E] = 0;
        no_version[0x20F] = 0;
        let mut far = setup("6.1");
        far[0x20E..0x210].copy_from_slice(&0xFFFFu16.to_le_bytes());
        for bytes in [&b"\x7fELF"[..], &[0; 0x300], &setup("")[..], &no_version, &far] {
            assert!(parse(bytes).is_err());
        }
    }
}
