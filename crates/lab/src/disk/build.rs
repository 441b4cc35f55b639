//! From packages to a disk that the firmware boots, without mounting anything.
//!
//! ```text
//!  mmdebstrap   a root directory; its programs run natively, in a chroot
//!  mke2fs -d    the root as a file system, 1 MiB into a file
//!  boot sector  GRUB's boot.img with a partition table, then its core.img: what grub-setup does
//!  first boot   update-grub, which needs the real disk
//! ```

use super::guest::Guest;
use super::recipe::{CUSTOMIZE, FEATURES, Image, PARAMETERS};
use crate::console::tail;
use crate::job::{GuestStep, Program};
use crate::kernels::{advice, debian_source};
use crate::session::Booted;
use crate::visit::Visit;
use crate::{Arch, LabError};
use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;
use std::process::Command;
use std::sync::atomic::AtomicBool;

const SECTOR: u64 = 512;
/// Where the partition begins; GRUB's core lies before it.
const OFFSET: u64 = 1 << 20;
/// The size of the file system. Unused space is a hole in the file.
const SIZE: u64 = 3 << 30;
const INSTALL: &str = "a disk is made with Debian's tools: apt-get install mmdebstrap e2fsprogs";

/// Makes the disk at `to`, with `work` for temporary files.
pub(super) fn build(image: &Image, work: &Path, to: &Path, stop: &AtomicBool) -> Result<(), LabError> {
    if !rustix::process::geteuid().is_root() {
        return Err(image.failed("its files belong to several users: run it as root".to_owned()));
    }
    let (root, script, source) = (work.join("root"), work.join("customize.sh"), work.join("debian.sources"));
    std::fs::write(&script, CUSTOMIZE).map_err(LabError::file("write", &script))?;
    let stanza = debian_source(image.suite()).map_err(|reason| image.failed(reason))?;
    std::fs::write(&source, stanza).map_err(LabError::file("write", &source))?;
    let parameters = format!("{PARAMETERS} {}", Arch::X86_64.clock_parameters().join(" "));
    let mut command = Command::new("mmdebstrap");
    command
        .args(["--mode=root", "--variant=minbase"])
        .arg("--aptopt=APT::Install-Recommends \"false\"")
        // Both take space and are not needed.
        .args(["--dpkgopt=path-exclude=/usr/share/doc/*", "--dpkgopt=path-exclude=/usr/share/man/*"])
        .arg(format!("--include={}", image.packages().join(",")))
        .arg(format!("--customize-hook=sh '{}' \"$1\" '{parameters}'", script.display()))
        .arg(image.suite())
        .args([&root, &source])
        .env("LC_ALL", "C");
    run(image, command, "mmdebstrap")?;
    let mut command = Command::new("mke2fs");
    command
        .args(["-q", "-t", "ext4", "-O", FEATURES, "-E"])
        .arg(format!("offset={OFFSET}"))
        .arg("-d")
        .args([&root, to])
        .arg(format!("{}k", SIZE >> 10));
    run(image, command, "mke2fs")?;
    let grub = root.join("boot/grub/i386-pc");
    let read = |name: &str| {
        let path = grub.join(name);
        std::fs::read(&path).map_err(LabError::file("read", &path))
    };
    let start =
        boot_sectors(&read("boot.img")?, &read("core.img")?).map_err(|reason| image.failed(reason))?;
    let written = File::options().write(true).open(to).and_then(|mut disk| {
        disk.set_len(OFFSET + SIZE)?;
        disk.seek(SeekFrom::Start(0))?;
        disk.write_all(&start)
    });
    written.map_err(LabError::file("write", to))?;
    first_boot(image, work, to, stop)
}

/// After it, no task of a first boot is left.
fn first_boot(image: &Image, work: &Path, disk: &Path, stop: &AtomicBool) -> Result<(), LabError> {
    let command = ["update-grub".to_owned()].to_vec();
    let visit =
        Visit { steps: vec![GuestStep::Run(Program { command, ..Program::default() })], ..Visit::default() };
    match Guest::new(disk)?.boot(&visit, &work.join("out"), stop)? {
        Booted::Done(done) if done.report.steps.first().is_some_and(|step| step.code == Some(0)) => Ok(()),
        Booted::Done(done) => Err(image.failed(format!("update-grub failed in it:\n{}", done.console))),
        Booted::Cut { console, .. } => Err(image.failed(format!("its power was cut:\n{console}"))),
    }
}

/// A disk's sectors before the first partition.
///
/// boot.img loads the one sector at its `kernel_sector`, which is 1 as it is built; that sector is the first of
/// core.img, and loads the rest of it from sector 2 on, as `grub-mkimage` has written into its block list
/// (grub-core/boot/i386/pc/{boot,diskboot}.S). The partition table is at 446, of four times 16 bytes.
fn boot_sectors(boot: &[u8], core: &[u8]) -> Result<Vec<u8>, String> {
    let wrong = |what: &str| Err(format!("GRUB's {what}: this version of GRUB is not supported"));
    let mut start = match boot.get(..SECTOR as usize) {
        Some(sector) if sector.ends_with(&[0x55, 0xAA]) => sector.to_vec(),
        _ => return wrong("boot.img is no boot sector"),
    };
    if start.get(0x5C..0x64) != Some(&1u64.to_le_bytes()) {
        return wrong("boot.img does not load sector 1");
    }
    if core.len() as u64 + SECTOR > OFFSET {
        return wrong("core.img has no room before the partition");
    }
    let mut table = [0u8; 64];
    let word = |sectors: u64| u32::try_from(sectors).unwrap_or(u32::MAX).to_le_bytes();
    // Active, of Linux; its place by sectors only.
    (table[0], table[4]) = (0x80, 0x83);
    table[8..12].copy_from_slice(&word(OFFSET / SECTOR));
    table[12..16].copy_from_slice(&word(SIZE / SECTOR));
    start[446..510].copy_from_slice(&table);
    start.extend_from_slice(core);
    Ok(start)
}

fn run(image: &Image, mut command: Command, program: &'static str) -> Result<(), LabError> {
    whylate_sys::die_with_parent(&mut command);
    let output = command.output().map_err(LabError::tool(program, INSTALL))?;
    if output.status.success() {
        return Ok(());
    }
    let text = String::from_utf8_lossy(&output.stderr);
    let (end, advice) = (tail(&text, 12), advice(&text));
    Err(image.failed(format!("{program} ended with {}:\n{end}{advice}", output.status)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn boot_image() -> Vec<u8> {
        let mut sector = vec![0x90; 512];
        sector[0x5C..0x64].copy_from_slice(&1u64.to_le_bytes());
        sector[510..].copy_from_slice(&[0x55, 0xAA]);
        sector
    }

    #[test]
    fn the_firmware_finds_grub_and_grub_the_partition() {
        let start = boot_sectors(&boot_image(), &[7; 1000]).expect("as built");
        assert_eq!(start.len(), 1512);
        assert_eq!(start[..446], boot_image()[..446]);
        assert_eq!(start[446..462], [0x80, 0, 0, 0, 0x83, 0, 0, 0, 0, 8, 0, 0, 0, 0, 0x60, 0]);
        assert_eq!(start[462..512], [&[0u8; 48][..], &[0x55, 0xAA]].concat());
        assert!(start[512..].iter().all(|byte| *byte == 7));
    }

    #[test]
    fn another_boot_sector_is_not_written() {
        let mut elsewhere = boot_image();
        elsewhere[0x5C] = 2;
        for (boot, core) in [
            (Vec::new(), vec![1]),
            (vec![0; 512], vec![1]),
            (elsewhere, vec![1]),
            (boot_image(), vec![1; 1 << 20]),
        ] {
            assert!(boot_sectors(&boot, &core).is_err());
        }
    }
}
