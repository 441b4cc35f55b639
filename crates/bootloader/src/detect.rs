//! Which boot loader starts this machine.
//!
//! Sure are the variables a loader leaves with the firmware (systemd's Boot Loader Interface: LoaderInfo, and of a
//! unified kernel image StubInfo). Else it is the files that are there, and where there are those of several, what
//! the loader put on the running kernel's command line: GRUB and syslinux `BOOT_IMAGE=`, systemd-boot `initrd=\`.

use crate::error::BootError;
use crate::firmware;
use crate::loader::Loader;
use crate::reading::{names, optional};
use whylate_host::{FsRoot, Unread, Why};

const VARIABLES: &str = "/sys/firmware/efi/efivars";
/// The vendor of the Boot Loader Interface's variables.
const VENDOR: &str = "4a67b082-0a4c-41cf-b6c7-440b29bb8c4f";
/// Where the EFI system partition and the extended boot partition are mounted
/// (systemd-boot(7), bootctl(1) on --esp-path= and --boot-path=).
pub(crate) const PARTITIONS: [&str; 3] = ["/efi", "/boot", "/boot/efi"];
const MENUS: [&str; 4] = [
    "/boot/extlinux/extlinux.conf",
    "/boot/extlinux.conf",
    "/boot/syslinux/syslinux.cfg",
    "/extlinux/extlinux.conf",
];

pub(crate) fn loader(tree: &FsRoot) -> Result<Loader, BootError> {
    managed(tree)?;
    let efi = !names(tree, "/sys/firmware/efi")?.is_empty();
    let info = variable(tree, "LoaderInfo");
    let stub = variable(tree, "StubInfo");
    if let Some(stub) = stub {
        return Err(BootError::Unified { evidence: format!("the firmware's variable StubInfo is {stub:?}") });
    }
    if !efi && let Some(path) = firmware::line_file(tree)? {
        return Ok(Loader::Firmware { path });
    }
    let grub = grub(tree, efi)?;
    let entries = entries(tree)?;
    let menu = menu(tree)?;
    match (info, &grub, &entries) {
        (Some(info), _, Some(entries)) if info.starts_with("systemd-boot") => return Ok(entries.clone()),
        (Some(info), Some(grub), _) if info.starts_with("GRUB") => return Ok(grub.clone()),
        _ => {}
    }
    // GRUB reads such entries itself if it is configured to.
    let entries = entries.filter(|_| !matches!(grub, Some(Loader::Grub { entries: Some(_), .. })));
    let found: Vec<Loader> = [grub, entries, menu].into_iter().flatten().collect();
    match found.as_slice() {
        [] => Err(nothing(tree)?),
        [one] => Ok(one.clone()),
        several => which(tree, several),
    }
}

/// Systems whose own tools write the loader's files.
fn managed(tree: &FsRoot) -> Result<(), BootError> {
    for (path, by, instead) in [
        ("/run/ostree-booted", "ostree", "`rpm-ostree kargs --append=NAME=VALUE` keeps it over updates"),
        ("/etc/NIXOS", "NixOS", "set `boot.kernelParams` in the system's configuration"),
        ("/etc/kernelstub/configuration", "kernelstub", "`kernelstub --add-options \"NAME=VALUE\"`"),
    ] {
        if optional(tree, path)?.is_some() {
            return Err(BootError::Managed { by, instead });
        }
    }
    Ok(())
}

/// The text of a variable of the firmware: four bytes of attributes, then UTF-16
/// (Documentation/filesystems/efivarfs.rst).
fn variable(tree: &FsRoot, name: &str) -> Option<String> {
    let bytes = tree.bytes(&format!("{VARIABLES}/{name}-{VENDOR}")).value.ok()?;
    let units = bytes.get(4..)?.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]]));
    let text: String = char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect();
    Some(text.trim_matches('\0').to_owned()).filter(|text| !text.is_empty())
}

/// GRUB's file: the one made by grub-mkconfig, not one that only leads there.
fn grub(tree: &FsRoot, efi: bool) -> Result<Option<Loader>, BootError> {
    let mut paths = vec!["/boot/grub/grub.cfg".to_owned(), "/boot/grub2/grub.cfg".to_owned()];
    let vendors = names(tree, "/boot/efi/EFI")?;
    let of_vendors = vendors.iter().map(|vendor| format!("/boot/efi/EFI/{vendor}/grub.cfg"));
    match efi {
        true => drop(paths.splice(0..0, of_vendors)),
        false => paths.extend(of_vendors),
    }
    for cfg in paths {
        let Some(text) = optional(tree, &cfg)? else { continue };
        let has = |word: &str| text.lines().any(|line| line.split_whitespace().next() == Some(word));
        let directory = "/boot/loader/entries";
        if has("blscfg") && names(tree, directory)?.iter().any(|name| name.ends_with(".conf")) {
            return Ok(Some(Loader::Grub { cfg, entries: Some(directory.to_owned()) }));
        }
        if has("menuentry") {
            return Ok(Some(Loader::Grub { cfg, entries: None }));
        }
    }
    Ok(None)
}

fn entries(tree: &FsRoot) -> Result<Option<Loader>, BootError> {
    let mut directories = Vec::new();
    for partition in PARTITIONS {
        let directory = format!("{partition}/loader/entries");
        if names(tree, &directory)?.iter().any(|name| name.ends_with(".conf")) {
            directories.push(directory);
        }
    }
    Ok(Some(directories).filter(|found| !found.is_empty()).map(|directories| Loader::Entries { directories }))
}

fn menu(tree: &FsRoot) -> Result<Option<Loader>, BootError> {
    for path in MENUS {
        if optional(tree, path)?.is_some() {
            return Ok(Some(Loader::Extlinux { path: path.to_owned() }));
        }
    }
    Ok(None)
}

/// Why nothing was found.
fn nothing(tree: &FsRoot) -> Result<BootError, BootError> {
    for partition in PARTITIONS {
        let directory = format!("{partition}/EFI/Linux");
        if let Some(image) = names(tree, &directory)?.iter().find(|name| name.ends_with(".efi")) {
            return Ok(BootError::Unified { evidence: format!("{directory}/{image}") });
        }
    }
    // If /boot was not read, nothing follows.
    match tree.list("/boot").value {
        Err(why @ Why::NotCollected) => Ok(BootError::Unread(Unread { path: "/boot".to_owned(), why })),
        _ => Ok(BootError::NotFound),
    }
}

fn which(tree: &FsRoot, found: &[Loader]) -> Result<Loader, BootError> {
    let line = optional(tree, "/proc/cmdline")?.unwrap_or_default();
    let by_grub = line.split_whitespace().any(|word| word.starts_with("BOOT_IMAGE="));
    let by_entry = line.split_whitespace().any(|word| word.starts_with("initrd=\\"));
    let right = found.iter().find(|loader| match loader {
        Loader::Grub { .. } => by_grub,
        Loader::Entries { .. } => by_entry,
        _ => false,
    });
    let names = || found.iter().map(Loader::to_string).collect::<Vec<_>>().join(" and ");
    right.cloned().ok_or_else(|| BootError::Ambiguous { found: names() })
}

#[cfg(test)]
mod tests {
    use super::*;

    const CFG: (&str, &str) = ("/boot/grub/grub.cfg", "menuentry 'x' {\n\tlinux /vmlinuz ro quiet\n}\n");
    const ENTRY: (&str, &str) = ("/boot/loader/entries/x.conf", "linux /x\noptions quiet\n");
    const MENU: (&str, &str) = ("/boot/extlinux/extlinux.conf", "label l0\n linux /x\n append quiet\n");

    fn shown(files: &[(&str, &str)]) -> String {
        match loader(&FsRoot::memory(files)) {
            Ok(loader) => loader.to_string(),
            Err(error) => error.to_string().split([':', '(']).next().unwrap_or_default().to_owned(),
        }
    }

    #[test]
    fn the_loader_that_starts_the_machine() {
        // Attributes, then UTF-16; the text files of this tree hold any byte below 128.
        let wide =
            |text: &str| format!("\x06\0\0\0{}", text.chars().map(|c| format!("{c}\0")).collect::<String>());
        let info = format!("{VARIABLES}/LoaderInfo-{VENDOR}");
        let stub = format!("{VARIABLES}/StubInfo-{VENDOR}");
        let bls = ("/boot/grub2/grub.cfg", "insmod blscfg\nblscfg\n");
        let (boot, grub) = (wide("systemd-boot 252\0"), wide("GRUB 2.12\0"));
        let cases: [(&[(&str, &str)], &str); 14] = [
            (&[CFG], "GRUB (/boot/grub/grub.cfg)"),
            (&[bls, ENTRY], "GRUB (entries in /boot/loader/entries)"),
            (&[ENTRY], "systemd-boot (entries in /boot/loader/entries)"),
            (&[MENU], "extlinux (/boot/extlinux/extlinux.conf)"),
            (
                &[("/boot/config.txt", ""), ("/boot/cmdline.txt", "quiet")],
                "Raspberry Pi firmware (/boot/cmdline.txt)",
            ),
            (&[CFG, ENTRY, (&info, &boot)], "systemd-boot (entries in /boot/loader/entries)"),
            (&[CFG, ENTRY, (&info, &grub)], "GRUB (/boot/grub/grub.cfg)"),
            (&[CFG, ENTRY, ("/proc/cmdline", "BOOT_IMAGE=/vmlinuz ro\n")], "GRUB (/boot/grub/grub.cfg)"),
            (
                &[CFG, ENTRY, ("/proc/cmdline", "initrd=\\x ro\n")],
                "systemd-boot (entries in /boot/loader/entries)",
            ),
            (&[CFG, MENU], "found GRUB "),
            (&[ENTRY, (&stub, &boot)], "this machine starts a unified kernel image "),
            (&[("/efi/EFI/Linux/x.efi", "")], "this machine starts a unified kernel image "),
            (
                &[CFG, ("/etc/NIXOS", "")],
                "NixOS writes the boot loader's files of this machine, and would undo an edit",
            ),
            (&[("/boot/vmlinuz", "")], "found no supported boot loader "),
        ];
        for (files, loader) in cases {
            assert_eq!(shown(files), loader, "{files:?}");
        }
    }

    #[test]
    fn a_file_that_only_leads_to_grubs_is_none() {
        let stub = ("/boot/efi/EFI/debian/grub.cfg", "search.fs_uuid x root\nconfigfile $prefix/grub.cfg\n");
        let efi = ("/sys/firmware/efi/runtime", "0x1");
        assert_eq!(shown(&[stub, efi, CFG]), "GRUB (/boot/grub/grub.cfg)");
        let real = ("/boot/efi/EFI/redhat/grub.cfg", CFG.1);
        assert_eq!(shown(&[real, efi, CFG]), "GRUB (/boot/efi/EFI/redhat/grub.cfg)");
    }

    #[test]
    fn what_was_not_seen_is_not_known() {
        let tree = FsRoot::memory(&[CFG]).refused("/boot/grub/grub.cfg", Why::Denied);
        assert!(matches!(loader(&tree), Err(BootError::Unread(Unread { why: Why::Denied, .. }))));
        let tree = FsRoot::refusing(Why::NotCollected);
        assert!(matches!(loader(&tree), Err(BootError::Unread(_))));
    }
}
