//! Finds tracefs, or mounts it for this process alone.

use super::{TracefsError, text};
use rustix::fd::{AsRawFd, OwnedFd};
use rustix::mount::{FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsmount, fsopen};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The kernel's tracefs, as this process reaches it. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Tracefs {
    root: PathBuf,
    /// Keeps a mount that is ours alone; it is gone with its last descriptor.
    _mount: Option<Arc<OwnedFd>>,
}

impl Tracefs {
    /// Finds where tracefs is mounted. Where it is mounted nowhere, and we have the right
    /// to, takes a detached mount of it (`fsmount(2)`, Linux 5.2): no other process sees
    /// it, and it ends with the returned value.
    ///
    /// # Errors
    /// [`TracefsError::NoProc`] without /proc, [`TracefsError::NotMounted`] when there is none and none can be mounted,
    /// [`TracefsError::NotBuilt`] when the kernel has none, and
    /// [`TracefsError::Permission`] when this user may not look into it.
    pub fn open() -> Result<Tracefs, TracefsError> {
        let mountinfo = Path::new("/proc/self/mountinfo");
        let text = fs::read_to_string(mountinfo).map_err(|e| match e.kind() {
            io::ErrorKind::NotFound => TracefsError::NoProc,
            _ => TracefsError::io("read", mountinfo, e),
        })?;
        let tracefs = match mount_point(&text) {
            Some(root) => Tracefs { root, _mount: None },
            None => detached()?,
        };
        let instances = tracefs.root.join("instances");
        match fs::read_dir(&instances) {
            Ok(_) => Ok(tracefs),
            Err(e) => Err(TracefsError::io("read", &instances, e)),
        }
    }

    /// A tracefs whose place is known: another mount, or a tree that looks like one.
    pub fn at(root: impl Into<PathBuf>) -> Tracefs {
        Tracefs { root: root.into(), _mount: None }
    }

    /// The directory that holds `instances`, `events` and the rest.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// True when the mount is this process's own, because tracefs was mounted nowhere.
    pub fn is_detached(&self) -> bool {
        self._mount.is_some()
    }

    /// The text of a file of the top level, which all tracers share.
    pub fn read(&self, file: &str) -> Result<String, TracefsError> {
        text::read(&self.root.join(file))
    }

    /// Writes such a file: a change that others notice, and that stays.
    pub fn write(&self, file: &str, value: &str) -> Result<(), TracefsError> {
        text::write(&self.root.join(file), value)
    }

    /// True when the kernel has the event `group:name`, or the group when there is no colon.
    pub fn has_event(&self, event: &str) -> bool {
        let path = self.root.join("events").join(event.replacen(':', "/", 1));
        !event.is_empty() && path.join("enable").exists()
    }
}

fn detached() -> Result<Tracefs, TracefsError> {
    let mount = || -> rustix::io::Result<OwnedFd> {
        let context = fsopen("tracefs", FsOpenFlags::FSOPEN_CLOEXEC)?;
        fsconfig_create(&context)?;
        fsmount(&context, FsMountFlags::FSMOUNT_CLOEXEC, MountAttrFlags::empty())
    };
    match mount() {
        Ok(fd) => {
            let root = PathBuf::from(format!("/proc/self/fd/{}", fd.as_raw_fd()));
            Ok(Tracefs { root, _mount: Some(Arc::new(fd)) })
        }
        Err(rustix::io::Errno::NODEV) => Err(TracefsError::NotBuilt),
        Err(errno) => Err(TracefsError::NotMounted { source: io::Error::from(errno) }),
    }
}

/// The mount point of a whole tracefs in the text of `/proc/self/mountinfo` (proc(5)); the
/// one at `/sys/kernel/tracing` rather than debugfs's old automount when both are there.
fn mount_point(mountinfo: &str) -> Option<PathBuf> {
    let points = mountinfo.lines().filter_map(|line| {
        let (mount, filesystem) = line.split_once(" - ")?;
        let mut fields = mount.split(' ').skip(3);
        let (root, point) = (fields.next()?, fields.next()?);
        // Only an instance of it may have been bound into a container: that is no tracefs.
        (filesystem.split(' ').next()? == "tracefs" && root == "/").then(|| PathBuf::from(unescape(point)))
    });
    points.min_by_key(|point| point.starts_with("/sys/kernel/debug"))
}

/// Undoes mountinfo's octal escapes of blanks and backslashes (`\040`).
fn unescape(field: &str) -> String {
    let mut text = String::with_capacity(field.len());
    let mut rest = field;
    while let Some(at) = rest.find('\\') {
        text.push_str(&rest[..at]);
        let code = rest.get(at + 1..at + 4).and_then(|octal| u8::from_str_radix(octal, 8).ok());
        match code {
            Some(code) => {
                text.push(char::from(code));
                rest = &rest[at + 4..];
            }
            None => {
                text.push('\\');
                rest = &rest[at + 1..];
            }
        }
    }
    text + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mount_is_found_wherever_it_is() {
        let root = "23 1 254:0 / / rw,relatime - ext4 /dev/vda rw\n";
        let debug = "44 23 0:13 / /sys/kernel/debug/tracing rw,relatime - tracefs tracefs rw\n";
        let usual = "42 23 0:13 / /sys/kernel/tracing rw,relatime shared:3 - tracefs nodev rw\n";
        let blank = "42 23 0:13 / /mnt/a\\040b\\134c rw - tracefs nodev rw\n";
        let instance = "42 23 0:13 /instances/x /mnt/x rw - tracefs nodev rw\n";
        for (text, expected) in [
            (root.to_owned(), None),
            (format!("{root}{debug}"), Some("/sys/kernel/debug/tracing")),
            (format!("{root}{debug}{usual}"), Some("/sys/kernel/tracing")),
            (format!("{root}{usual}{debug}"), Some("/sys/kernel/tracing")),
            (blank.to_owned(), Some("/mnt/a b\\c")),
            (instance.to_owned(), None),
            ("nonsense\n - tracefs\n".to_owned(), None),
        ] {
            assert_eq!(mount_point(&text), expected.map(PathBuf::from), "{text}");
        }
    }

    #[test]
    fn a_lone_backslash_is_kept() {
        assert_eq!(unescape("a\\"), "a\\");
        assert_eq!(unescape("a\\9zü"), "a\\9zü");
    }
}
