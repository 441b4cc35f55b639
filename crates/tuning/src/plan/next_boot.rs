//! The kernel parameters of the next boot.

use whylate_bootloader::{self as bootloader, BootError};
use whylate_host::{Cmdline, FsRoot, Snapshot, Why};

/// The parameters that the next boot will have, or why that is not known.
pub(super) struct NextBoot {
    pub(super) cmdline: Result<Cmdline, String>,
    /// The boot loader's files were not collected with a captured machine: the running kernel's parameters are the
    /// best that is known.
    pub(super) assumed: bool,
}

impl NextBoot {
    pub(super) fn read(tree: &FsRoot, host: &Snapshot) -> NextBoot {
        let configured = bootloader::configured(tree);
        let unread = match configured.need() {
            Ok(cmdline) => return NextBoot { cmdline: Ok(cmdline.clone()), assumed: false },
            Err(unread) => unread,
        };
        let captured = LOADERS.iter().all(|path| tree.text(path).value == Err(Why::NotCollected));
        let loader = bootloader::loader(tree).err();
        // What was found, such as a unified kernel image, is known of a captured machine, too.
        let found_none = matches!(loader, None | Some(BootError::NotFound | BootError::Unread(_)));
        match host.kernel.cmdline.known() {
            Some(running) if captured && found_none => {
                NextBoot { cmdline: Ok(running.clone()), assumed: true }
            }
            _ => NextBoot {
                cmdline: Err(loader.map_or_else(|| unread.to_string(), |error| error.to_string())),
                assumed: false,
            },
        }
    }
}

/// Files of the commonest boot loaders.
pub(super) const LOADERS: [&str; 3] = ["/etc/default/grub", "/boot/grub/grub.cfg", "/boot/grub2/grub.cfg"];
