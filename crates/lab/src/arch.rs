//! The architectures of guests, and what differs between their machines.

use std::path::{Path, PathBuf};
use std::str::FromStr;

/// The architecture of a guest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Arch {
    /// 64-bit x86: QEMU's `q35`.
    X86_64,
    /// 64-bit ARM: QEMU's `virt`, which has no counterpart in hardware.
    Arm64,
}

impl Arch {
    /// All of them.
    pub const ALL: [Arch; 2] = [Arch::X86_64, Arch::Arm64];

    /// That of this machine; x86_64 on one that is neither.
    pub const fn native() -> Arch {
        if cfg!(target_arch = "aarch64") { Arch::Arm64 } else { Arch::X86_64 }
    }

    /// Its name here.
    pub const fn name(self) -> &'static str {
        match self {
            Arch::X86_64 => "x86_64",
            Arch::Arm64 => "arm64",
        }
    }

    /// Debian's name.
    pub(crate) const fn debian(self) -> &'static str {
        match self {
            Arch::X86_64 => "amd64",
            Arch::Arm64 => "arm64",
        }
    }

    /// The first word of its Rust targets.
    pub const fn rust(self) -> &'static str {
        match self {
            Arch::X86_64 => "x86_64",
            Arch::Arm64 => "aarch64",
        }
    }

    /// `e_machine` of its ELF files: elf(5).
    pub(crate) const fn elf_machine(self) -> u16 {
        match self {
            Arch::X86_64 => 62,
            Arch::Arm64 => 183,
        }
    }

    /// The name of the program that emulates it.
    pub const fn qemu(self) -> &'static str {
        match self {
            Arch::X86_64 => "qemu-system-x86_64",
            Arch::Arm64 => "qemu-system-aarch64",
        }
    }

    /// How to install that program.
    pub(crate) const fn install_qemu(self) -> &'static str {
        match self {
            Arch::X86_64 => "install QEMU: apt-get install qemu-system-x86, dnf install qemu-system-x86-core",
            Arch::Arm64 => {
                "install QEMU: apt-get install qemu-system-arm, dnf install qemu-system-aarch64-core"
            }
        }
    }

    /// Machine and processor of a guest. The interrupt controller of `virt` is a GIC version 3: version 2 has 8 CPUs at
    /// most, and no pseudo-NMI.
    pub(crate) const fn machine(self) -> (&'static str, &'static str) {
        match self {
            Arch::X86_64 => ("q35", "max"),
            Arch::Arm64 => ("virt,gic-version=3", "cortex-a72"),
        }
    }

    /// The serial port of the guest that is its console.
    pub(crate) const fn console(self) -> &'static str {
        match self {
            Arch::X86_64 => "ttyS0",
            Arch::Arm64 => "ttyAMA0",
        }
    }

    /// A serial port of the guest that no program of the host reads: `irq-load` writes to it.
    pub const fn spare_serial(self) -> &'static str {
        match self {
            Arch::X86_64 => "/dev/ttyS1",
            Arch::Arm64 => "/dev/ttyS0",
        }
    }

    /// Parameters of its kernel for the clock. The TSC is the emulator's own counter, so it is reliable, which the
    /// clocksource watchdog does not detect in emulation. The counter of ARM has no watchdog.
    pub(crate) const fn clock_parameters(self) -> &'static [&'static str] {
        match self {
            Arch::X86_64 => &["tsc=reliable", "clocksource=tsc"],
            Arch::Arm64 => &[],
        }
    }

    /// The loaders of glibc and musl.
    pub(crate) const fn loaders(self) -> [&'static str; 2] {
        match self {
            Arch::X86_64 => ["/lib64/ld-linux-x86-64.so.2", "/lib/ld-musl-x86_64.so.1"],
            Arch::Arm64 => ["/lib/ld-linux-aarch64.so.1", "/lib/ld-musl-aarch64.so.1"],
        }
    }

    /// The directory of its libraries in Debian.
    pub(crate) const fn multiarch(self) -> &'static str {
        match self {
            Arch::X86_64 => "x86_64-linux-gnu",
            Arch::Arm64 => "aarch64-linux-gnu",
        }
    }

    /// Rust targets whose programs run in a guest without libraries, or with those of Debian's cross compiler.
    pub const fn rust_targets(self) -> [&'static str; 2] {
        match self {
            Arch::X86_64 => ["x86_64-unknown-linux-musl", "x86_64-unknown-linux-gnu"],
            Arch::Arm64 => ["aarch64-unknown-linux-musl", "aarch64-unknown-linux-gnu"],
        }
    }

    /// Where a program of this project may lie that is built for this architecture, `own` being a program of this
    /// machine: beside it as `NAME-arm64`, and where cargo puts it: `target/TARGET/PROFILE/NAME` beside
    /// `target/PROFILE`. The program beside it for the machine's own architecture.
    pub fn places_of(self, own: &Path, name: &str) -> Vec<PathBuf> {
        if self == Arch::native() {
            return vec![own.with_file_name(name)];
        }
        let mut places = vec![own.with_file_name(format!("{name}-{}", self.name()))];
        if let Some(profile) = own.parent()
            && let (Some(target), Some(profile)) = (profile.parent(), profile.file_name())
        {
            places.extend(self.rust_targets().map(|triple| target.join(triple).join(profile).join(name)));
        }
        places
    }
}

impl FromStr for Arch {
    type Err = String;

    /// By any of its usual names.
    fn from_str(text: &str) -> Result<Arch, String> {
        match text {
            "x86_64" | "x86-64" | "amd64" => Ok(Arch::X86_64),
            "arm64" | "aarch64" => Ok(Arch::Arm64),
            _ => Err("write x86_64 or arm64".to_owned()),
        }
    }
}

impl std::fmt::Display for Arch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_they_are_written() {
        for arch in Arch::ALL {
            assert_eq!(arch.to_string().parse(), Ok(arch));
            assert_eq!(arch.debian().parse(), Ok(arch));
            assert_eq!(arch.rust().parse(), Ok(arch));
        }
        assert!("mips".parse::<Arch>().is_err());
    }

    #[test]
    fn programs_of_another_architecture_are_looked_for_where_cargo_puts_them() {
        let own = Path::new("/w/target/release/whylate-lab");
        let native = Arch::native();
        assert_eq!(native.places_of(own, "whylate"), [Path::new("/w/target/release/whylate")]);
        let other = if native == Arch::X86_64 { Arch::Arm64 } else { Arch::X86_64 };
        let places = other.places_of(own, "whylate");
        assert_eq!(places[0], Path::new("/w/target/release").join(format!("whylate-{other}")));
        let musl = format!("/w/target/{}-unknown-linux-musl/release/whylate", other.rust());
        assert!(places.contains(&PathBuf::from(musl)), "{places:?}");
    }
}
