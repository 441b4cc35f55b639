//! Files on disks: each with kind, mode, owner and a digest of its content. Times are left out: a file that was
//! replaced and restored has new ones, as expected.

use super::values::Values;
use std::fs::{File, Metadata};
use std::hash::{DefaultHasher, Hasher};
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

/// Directories that tuning may write in.
const DIRECTORIES: [&str; 9] = [
    "/etc",
    "/boot",
    "/usr/local",
    "/usr/lib/systemd",
    "/usr/lib/sysctl.d",
    "/usr/lib/udev/rules.d",
    "/usr/lib/tuned",
    "/var/lib/tuned",
    "/var/lib/systemd",
];
/// The content itself is kept of texts that every user may read and that are no longer than this, to show differences.
const SHOWN: u64 = 4096;
/// No machine has more below those directories.
const MOST: usize = 200_000;

pub(super) fn all(root: &Path) -> Values {
    let mut values = Values::new();
    let mut left: Vec<String> = DIRECTORIES.iter().map(|&path| path.to_owned()).collect();
    while let Some(name) = left.pop() {
        let path = root.join(name.trim_start_matches('/'));
        let about = match std::fs::symlink_metadata(&path) {
            Ok(about) => about,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => {
                values.insert(name, error.to_string());
                continue;
            }
        };
        if about.is_dir() && values.len() < MOST {
            for entry in std::fs::read_dir(&path).into_iter().flatten().flatten() {
                left.push(format!("{name}/{}", entry.file_name().to_string_lossy()));
            }
        }
        let value = describe(&path, &about).unwrap_or_else(|error| error.to_string());
        values.insert(name, value);
    }
    values
}

fn describe(path: &Path, about: &Metadata) -> io::Result<String> {
    let mode = about.permissions().mode() & 0o7777;
    let owned = format!("{mode:04o} {}:{}", about.uid(), about.gid());
    let kind = about.file_type();
    Ok(if kind.is_symlink() {
        // The mode of a link means nothing.
        format!("link {}:{} -> {}", about.uid(), about.gid(), std::fs::read_link(path)?.display())
    } else if kind.is_dir() {
        format!("directory {owned}")
    } else if kind.is_file() {
        let shown = about.len() <= SHOWN && mode & 0o004 != 0;
        format!("file {owned} {} bytes {}", about.len(), content(path, shown)?)
    } else {
        format!("special {owned} {}", about.rdev())
    })
}

/// The text itself, or a digest.
fn content(path: &Path, shown: bool) -> io::Result<String> {
    let mut file = File::open(path)?;
    if shown {
        let mut bytes = Vec::new();
        file.by_ref().take(SHOWN + 1).read_to_end(&mut bytes)?;
        return Ok(match String::from_utf8(bytes) {
            Ok(text) => format!("{text:?}"),
            Err(error) => format!("{:016x}", digest(&mut error.as_bytes())?),
        });
    }
    Ok(format!("{:016x}", digest(&mut file)?))
}

/// A 64-bit digest. The same program makes both sides of a comparison, so a standard digest is not needed.
fn digest(reader: &mut impl Read) -> io::Result<u64> {
    let mut hasher = DefaultHasher::new();
    let mut bytes = vec![0; 1 << 16];
    loop {
        let count = reader.read(&mut bytes)?;
        if count == 0 {
            return Ok(hasher.finish());
        }
        hasher.write(bytes.get(..count).unwrap_or_default());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{self, Permissions};

    #[test]
    fn every_change_of_a_file_shows() {
        let root = tempfile::tempdir().expect("temporary directory");
        let file = |name: &str| root.path().join("etc").join(name);
        fs::create_dir_all(file("default")).expect("directory");
        fs::write(file("default/grub"), "GRUB_TIMEOUT=0\n").expect("file");
        fs::write(file("large"), vec![1; 10_000]).expect("file");
        std::os::unix::fs::symlink("default/grub", file("link")).expect("link");
        fs::write(file("secret"), "hidden").expect("file");
        fs::set_permissions(file("secret"), Permissions::from_mode(0o640)).expect("mode");
        let before = all(root.path());
        assert!(!before.values().any(|value| value.contains("hidden")), "{before:?}");
        let before: Values = before.into_iter().filter(|(name, _)| name != "/etc/secret").collect();
        fs::remove_file(file("secret")).expect("removed");
        let names: Vec<&str> = before.keys().map(String::as_str).collect();
        assert_eq!(names, ["/etc", "/etc/default", "/etc/default/grub", "/etc/large", "/etc/link"]);
        assert!(before["/etc/default/grub"].contains("GRUB_TIMEOUT=0"), "{before:?}");
        assert_eq!(all(root.path()), before, "nothing changed");

        let changes: [(&str, &dyn Fn()); 5] = [
            ("/etc/large", &|| {
                let mut bytes = vec![1; 10_000];
                bytes[9_000] = 2;
                fs::write(file("large"), bytes).expect("file");
            }),
            ("/etc/default/grub", &|| {
                fs::set_permissions(file("default/grub"), Permissions::from_mode(0o600)).expect("mode");
            }),
            ("/etc/default/grub", &|| fs::write(file("default/grub"), "GRUB_TIMEOUT=1\n").expect("file")),
            ("/etc/new", &|| fs::write(file("new"), "").expect("file")),
            ("/etc/link", &|| {
                fs::remove_file(file("link")).expect("removed");
                std::os::unix::fs::symlink("other", file("link")).expect("link");
            }),
        ];
        let mut earlier = before;
        for (name, change) in changes {
            change();
            let later = all(root.path());
            assert_ne!(earlier.get(name), later.get(name), "{name}");
            let others = |values: &Values| {
                let mut values = values.clone();
                values.remove(name);
                values
            };
            assert_eq!(others(&earlier), others(&later), "only {name}");
            earlier = later;
        }
    }
}
