//! Paths as text.

use whylate_host::normal_path;

/// The directory a path is in.
pub fn parent(path: &str) -> &str {
    match path.rsplit_once('/') {
        Some(("", _)) | None => "/",
        Some((directory, _)) => directory,
    }
}

/// Where a link leads that is at `path`.
pub(crate) fn joined(path: &str, target: &str) -> String {
    match target.starts_with('/') {
        true => normal_path(target),
        false => normal_path(&format!("{}/{target}", parent(path))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_lead_somewhere() {
        for (path, target, leads) in [
            ("/etc/grub2.cfg", "../boot/grub2/grub.cfg", "/boot/grub2/grub.cfg"),
            ("/boot/grub2/grubenv", "/boot/efi/EFI/x/grubenv", "/boot/efi/EFI/x/grubenv"),
            ("/a", "b", "/b"),
            ("/a", "../../b", "/b"),
        ] {
            assert_eq!(joined(path, target), leads);
        }
    }
}
