//! A kernel image, unpacked by the host: in emulation that takes a guest seconds, and QEMU does not unpack every image.
//!
//! QEMU boots such a `vmlinux` through the PVH entry point, which kernels with CONFIG_PVH have.
//! Sources: `Documentation/arch/x86/boot.rst` (payload_offset), `include/xen/interface/elfnote.h`.

use crate::Arch;
use crate::elf::Elf;
use std::io::{Read, Write};
use std::process::{Command, Stdio};

/// `XEN_ELFNOTE_PHYS32_ENTRY`: where a PVH boot enters.
const PHYS32_ENTRY: u32 = 18;
/// The largest size of an unpacked kernel.
const LARGEST: u64 = 512 << 20;

/// What to boot instead of the image; None for the image itself.
pub(super) fn unpacked(image: &[u8]) -> Option<Vec<u8>> {
    vmlinux(image).or_else(|| arm64(image))
}

/// The image of arm64 in one packed by gzip, or in a program for EFI firmware (CONFIG_EFI_ZBOOT): its header has the place
/// and the size of the packed one (`drivers/firmware/efi/libstub/zboot-header.S`).
pub(super) fn arm64(image: &[u8]) -> Option<Vec<u8>> {
    let packed = match image.get(4..8) {
        Some(b"zimg") if image.starts_with(b"MZ") => {
            let start = number(image, 8)?;
            image.get(start..start.checked_add(number(image, 12)?)?)?
        }
        _ => image,
    };
    let unpacked = match packed {
        [0x28, 0xB5, 0x2F, 0xFD, ..] => read_all(zstd::Decoder::new(packed).ok()?.single_frame())?,
        [0x1F, 0x8B, ..] => read_all(flate2::read::GzDecoder::new(packed))?,
        [0xFD, b'7', b'z', b'X', b'Z', ..] => xz(packed)?,
        _ => return None,
    };
    is_arm64(&unpacked).then_some(unpacked)
}

/// True for an image of arm64, by its magic number (`Documentation/arch/arm64/booting.rst`).
pub(super) fn is_arm64(image: &[u8]) -> bool {
    image.get(0x38..0x3C) == Some(b"ARM\x64")
}

fn number(image: &[u8], at: usize) -> Option<usize> {
    let bytes = image.get(at..at.checked_add(4)?)?.try_into().ok()?;
    usize::try_from(u32::from_le_bytes(bytes)).ok()
}

/// The `vmlinux` of a bzImage; None where it cannot be unpacked here or has no PVH entry, and QEMU
/// boots the image itself, only more slowly.
fn vmlinux(image: &[u8]) -> Option<Vec<u8>> {
    let packed = payload(image)?;
    let unpacked = match packed {
        [0xFD, b'7', b'z', b'X', b'Z', ..] => xz(packed)?,
        [0x28, 0xB5, 0x2F, 0xFD, ..] => read_all(zstd::Decoder::new(packed).ok()?.single_frame())?,
        [0x1F, 0x8B, ..] => read_all(flate2::read::GzDecoder::new(packed))?,
        _ => return None,
    };
    let elf = Elf::new(&unpacked)?;
    (elf.is_for(Arch::X86_64) && elf.has_note("Xen", PHYS32_ENTRY)).then_some(unpacked)
}

/// The compressed kernel, without the four bytes of its unpacked size that follow it.
fn payload(image: &[u8]) -> Option<&[u8]> {
    if image.get(0x202..0x206) != Some(b"HdrS") {
        return None;
    }
    let sectors = match usize::from(*image.get(0x1F1)?) {
        0 => 4,
        sectors => sectors,
    };
    let start = ((sectors + 1) * 512).checked_add(number(image, 0x248)?)?;
    image.get(start..start.checked_add(number(image, 0x24C)?.checked_sub(4)?)?)
}

fn read_all(reader: impl Read) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    reader.take(LARGEST).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// Kernels are packed with xz's filter for x86 code, which only the program itself knows.
fn xz(packed: &[u8]) -> Option<Vec<u8>> {
    let mut command = Command::new("xz");
    command.arg("-dc").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().ok()?;
    let (mut input, output) = (child.stdin.take()?, child.stdout.take()?);
    let unpacked = std::thread::scope(|scope| {
        // It ends early only when the output is not read, and then the result is None anyway.
        scope.spawn(move || input.write_all(packed));
        read_all(output)
    });
    child.wait().ok()?.success().then_some(unpacked?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::elf::tests::file_with_note;
    use proptest::prelude::*;

    fn bzimage(payload: &[u8]) -> Vec<u8> {
        let mut image = vec![0; 1024];
        image[0x1F1] = 1;
        image[0x202..0x206].copy_from_slice(b"HdrS");
        image[0x248..0x24C].copy_from_slice(&7u32.to_le_bytes());
        image[0x24C..0x250].copy_from_slice(&(payload.len() as u32 + 4).to_le_bytes());
        image.extend_from_slice(&[0; 7]);
        image.extend_from_slice(payload);
        image.extend_from_slice(b"size");
        image
    }

    #[test]
    fn kernels_that_pvh_boots_are_unpacked() {
        let kernel = file_with_note("Xen", PHYS32_ENTRY);
        let pack = |bytes: &[u8]| zstd::encode_all(bytes, 1).expect("packed");
        assert_eq!(vmlinux(&bzimage(&pack(&kernel))), Some(kernel.clone()));
        let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gz.write_all(&kernel).expect("packed");
        assert_eq!(vmlinux(&bzimage(&gz.finish().expect("packed"))), Some(kernel));
        for other in [file_with_note("Xen", 6), file_with_note("GNU", PHYS32_ENTRY), b"text".to_vec()] {
            assert_eq!(vmlinux(&bzimage(&pack(&other))), None);
        }
        assert_eq!(vmlinux(&bzimage(b"LZ4?")), None);
    }

    proptest! {
        #[test]
        fn any_bytes_are_survived(bytes in prop::collection::vec(any::<u8>(), 0..300), at in 0usize..1100, byte: u8) {
            let _ = unpacked(&bytes);
            let mut image = bzimage(&bytes);
            if let Some(place) = image.get_mut(at) {
                *place = byte;
            }
            let _ = unpacked(&image);
        }
    }
}
