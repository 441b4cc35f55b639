//! The boot loaders that are known here.

use std::fmt;

/// What starts the kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Loader {
    /// GRUB 2.
    Grub {
        /// The file it reads, made by grub-mkconfig.
        cfg: String,
        /// The directory of Boot Loader Specification entries, where `blscfg` in that file reads them.
        entries: Option<String>,
    },
    /// systemd-boot, or another loader of Boot Loader Specification entries.
    Entries {
        /// The directories with entries.
        directories: Vec<String>,
    },
    /// The firmware of a Raspberry Pi.
    Firmware {
        /// The file with the one line.
        path: String,
    },
    /// U-Boot or syslinux with a menu file.
    Extlinux {
        /// The menu file.
        path: String,
    },
}

impl fmt::Display for Loader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Loader::Grub { cfg, entries: None } => write!(f, "GRUB ({cfg})"),
            Loader::Grub { entries: Some(entries), .. } => write!(f, "GRUB (entries in {entries})"),
            Loader::Entries { directories } => {
                write!(f, "systemd-boot (entries in {})", directories.join(", "))
            }
            Loader::Firmware { path } => write!(f, "Raspberry Pi firmware ({path})"),
            Loader::Extlinux { path } => write!(f, "extlinux ({path})"),
        }
    }
}
