//! The release of a kernel image, by the header of its architecture.
//!
//! x86: the `kernel_version` field of the boot protocol's header (`Documentation/arch/x86/boot.rst`, "The Real-Mode Kernel
//! Header"). arm64: the header has no version (`Documentation/arch/arm64/booting.rst`), and the image is not compressed: the
//! kernel's own banner is in it (`linux_banner`, `init/version-timestamp.c`).

use super::unpack;
use crate::{Arch, LabError};
use std::borrow::Cow;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// The real-mode part of x86, which holds the header and the version, is at most 64 sectors and one.
const SETUP: u64 = 65 * 512;
/// How the banner begins.
const BANNER: &[u8] = b"Linux version ";
/// No banner is longer.
const LONGEST_BANNER: usize = 1024;

/// What an image says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct About {
    /// `uname -r`.
    pub(super) release: String,
    /// True when `uname -v` has the token PREEMPT_RT.
    pub(super) preempt_rt: bool,
    /// The architecture.
    pub(super) arch: Arch,
}

/// Reads an image.
pub(super) fn read(path: &Path) -> Result<About, LabError> {
    let mut bytes = Vec::new();
    let mut file = File::open(path).map_err(LabError::file("read", path))?;
    // Of an image of x86 the first sectors are enough.
    file.by_ref().take(SETUP).read_to_end(&mut bytes).map_err(LabError::file("read", path))?;
    if !is_x86(&bytes) {
        file.read_to_end(&mut bytes).map_err(LabError::file("read", path))?;
    }
    parse(&bytes).map_err(|reason| LabError::NotAKernel { path: path.to_owned(), reason })
}

fn parse(image: &[u8]) -> Result<About, &'static str> {
    if is_x86(image) {
        return x86(image);
    }
    let image = match unpack::is_arm64(image) {
        true => Cow::Borrowed(image),
        false => match unpack::arm64(image) {
            Some(unpacked) => Cow::Owned(unpacked),
            None => {
                return Err(
                    "it has no boot header of x86 or arm64: give the bzImage or the Image, which distributions \
                            call vmlinuz",
                );
            }
        },
    };
    arm64(&image)
}

fn is_x86(image: &[u8]) -> bool {
    image.get(0x202..0x206) == Some(b"HdrS")
}

fn x86(setup: &[u8]) -> Result<About, &'static str> {
    let offset =
        setup.get(0x20E..0x210).and_then(|bytes| bytes.try_into().ok()).map_or(0, u16::from_le_bytes);
    let text = setup.get(usize::from(offset) + 0x200..).unwrap_or_default();
    let text = text.split(|byte| *byte == 0).next().unwrap_or_default();
    let text = std::str::from_utf8(text).unwrap_or_default();
    match text.split_ascii_whitespace().next() {
        Some(release) if offset != 0 => Ok(about(release, text, Arch::X86_64)),
        _ => Err("its boot header has no version"),
    }
}

fn arm64(image: &[u8]) -> Result<About, &'static str> {
    let banner = |start: usize| {
        let text = image.get(start + BANNER.len()..)?;
        let text = &text[..text.len().min(LONGEST_BANNER)];
        let text = std::str::from_utf8(text.split(|byte| matches!(byte, 0 | b'\n')).next()?).ok()?;
        let release = text.split_ascii_whitespace().next()?;
        // Other texts of the kernel begin like it: `Linux version %s`.
        release.starts_with(|c: char| c.is_ascii_digit()).then(|| about(release, text, Arch::Arm64))
    };
    let mut starts = memchr::memmem::find_iter(image, BANNER);
    starts.find_map(banner).ok_or("it has no version (`Linux version ...`)")
}

fn about(release: &str, text: &str, arch: Arch) -> About {
    let preempt_rt = text.split_ascii_whitespace().any(|word| word == "PREEMPT_RT");
    About { release: release.to_owned(), preempt_rt, arch }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// An image of x86, its first sectors, with that version.
    pub(crate) fn setup(version: &str) -> Vec<u8> {
        let mut bytes = vec![0; 0x400];
        bytes[0x202..0x206].copy_from_slice(b"HdrS");
        bytes[0x20E..0x210].copy_from_slice(&0x200u16.to_le_bytes());
        bytes.extend_from_slice(version.as_bytes());
        bytes.push(0);
        bytes
    }

    /// An image of arm64 with that banner.
    pub(crate) fn arm64_image(version: &str) -> Vec<u8> {
        let mut bytes = vec![0; 0x40];
        bytes[0x38..0x3C].copy_from_slice(b"ARMd");
        bytes.extend_from_slice(b"Linux version %s\0....Linux version ");
        bytes.extend_from_slice(version.as_bytes());
        bytes.extend_from_slice(b"\n\0");
        bytes
    }

    #[test]
    fn release_and_preemption_are_read() {
        let debian =
            "6.12.107+deb13-rt-amd64 (debian-kernel@lists.debian.org) #1 SMP PREEMPT_RT Debian 6.12.107-1";
        let about = parse(&setup(debian)).expect("header");
        assert_eq!((about.release.as_str(), about.preempt_rt), ("6.12.107+deb13-rt-amd64", true));
        let about = parse(&setup("6.1.0 (x) #1 SMP PREEMPT_DYNAMIC")).expect("header");
        assert_eq!((about.release.as_str(), about.preempt_rt, about.arch), ("6.1.0", false, Arch::X86_64));
        let banner = "6.12.107+deb13-rt-arm64 (x) (aarch64-linux-gnu-gcc-14) #1 SMP PREEMPT_RT Debian";
        let about = parse(&arm64_image(banner)).expect("banner");
        assert_eq!(about.release, "6.12.107+deb13-rt-arm64");
        assert!(about.preempt_rt && about.arch == Arch::Arm64);
    }

    #[test]
    fn a_packed_image_of_arm64_is_read_as_well() {
        use std::io::Write;
        let image = arm64_image("6.1.0-49-arm64 (x) #1 SMP");
        let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gz.write_all(&image).expect("packed");
        let gz = gz.finish().expect("packed");
        // EFI_ZBOOT: `drivers/firmware/efi/libstub/zboot-header.S`.
        let mut zboot = vec![0; 0x40];
        zboot[..2].copy_from_slice(b"MZ");
        zboot[4..8].copy_from_slice(b"zimg");
        zboot[8..12].copy_from_slice(&0x40u32.to_le_bytes());
        zboot[12..16].copy_from_slice(&(gz.len() as u32).to_le_bytes());
        zboot.extend_from_slice(&gz);
        for packed in [gz, zboot] {
            assert_eq!(parse(&packed).expect("unpacked").release, "6.1.0-49-arm64");
        }
    }

    #[test]
    fn other_files_are_refused() {
        let mut no_version = setup("");
        no_version[0x20E] = 0;
        no_version[0x20F] = 0;
        let mut far = setup("6.1");
        far[0x20E..0x210].copy_from_slice(&0xFFFFu16.to_le_bytes());
        let no_banner = arm64_image("%s");
        for bytes in
            [&b"\x7fELF"[..], &[0; 0x300], &setup("")[..], &no_version, &far, &no_banner, b"\x1f\x8bxx"]
        {
            assert!(parse(bytes).is_err());
        }
    }
}
