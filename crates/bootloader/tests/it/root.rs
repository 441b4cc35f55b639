//! A machine that is a directory, and what is done to it.

use std::fs;
use std::io::ErrorKind;
use std::ops::Deref;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;
use whylate_bootloader::{FileChange, FileEntry, FileError, FileState, Files, Parameter, StagedEdit};
use whylate_host::FsRoot;
use whylate_testing::TestRoot;

pub(crate) struct Root {
    files: TestRoot,
}

/// As [`whylate_testing::parameter`] reads it.
pub(crate) fn parameter(text: &str) -> Parameter {
    let (name, value) = whylate_testing::parameter(text);
    Parameter { name: name.to_owned(), value: value.map(str::to_owned) }
}

impl Root {
    pub(crate) fn new(files: &[(&str, &str)]) -> Root {
        Root { files: TestRoot::new(files) }
    }

    /// Makes the edits; gives the commands, and what undoes it all.
    pub(crate) fn make(&self, edits: &[StagedEdit]) -> (Vec<String>, Vec<(String, FileEntry)>) {
        let (mut commands, mut before) = (Vec::new(), Vec::new());
        for edit in edits {
            before.push((edit.path.clone(), self.entry(&edit.path).expect("readable")));
            match &edit.change {
                FileChange::Set(entry) => self.set(&edit.path, entry),
                FileChange::Regenerate(command) => commands.push(command.join(" ")),
            }
            commands.extend(edit.notify.iter().map(|command| command.join(" ")));
        }
        (commands, before)
    }

    pub(crate) fn undo(&self, before: &[(String, FileEntry)]) {
        before.iter().rev().for_each(|(path, entry)| self.set(path, entry));
    }

    fn set(&self, path: &str, entry: &FileEntry) {
        let path = self.path(path);
        if fs::symlink_metadata(&path).is_ok() {
            let removed = if path.is_dir() { fs::remove_dir(&path) } else { fs::remove_file(&path) };
            removed.expect("it is removed");
        }
        match entry {
            FileEntry::Absent => {}
            FileEntry::Link { target } => symlink(target, path).expect("a link"),
            FileEntry::Directory { .. } => fs::create_dir(path).expect("a directory"),
            FileEntry::File(file) => {
                fs::write(&path, &file.content).expect("a file");
                fs::set_permissions(path, fs::Permissions::from_mode(file.mode)).expect("its mode");
            }
        }
    }

    /// What the shell makes of the files that grub-mkconfig reads.
    pub(crate) fn grub_line(&self) -> String {
        let script = "cd \"$1\"; set -e; [ ! -f default/grub ] || . ./default/grub; \
                      for x in default/grub.d/*.cfg; do [ ! -e \"$x\" ] || . \"./$x\"; done; \
                      printf '%s %s' \"$GRUB_CMDLINE_LINUX\" \"$GRUB_CMDLINE_LINUX_DEFAULT\"";
        let etc = self.path("/etc");
        let output = shell(script, &etc);
        String::from_utf8(output).expect("text")
    }
}

impl Deref for Root {
    type Target = TestRoot;

    fn deref(&self) -> &TestRoot {
        &self.files
    }
}

fn shell(script: &str, directory: &Path) -> Vec<u8> {
    let mut command = Command::new("sh");
    command.arg("-c").arg(script).arg("sh").arg(directory).env_clear().env("LC_ALL", "C");
    let output = command.output().expect("a shell");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

impl Files for Root {
    fn entry(&self, path: &str) -> Result<FileEntry, FileError> {
        let at = self.path(path);
        let metadata = match fs::symlink_metadata(&at) {
            Ok(metadata) => metadata,
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
                return Ok(FileEntry::Absent);
            }
            Err(error) => return Err(FileError::new(path, error)),
        };
        let cannot = |error| FileError::new(path, error);
        let (mode, uid, gid) = (metadata.mode() & 0o7777, metadata.uid(), metadata.gid());
        Ok(match metadata.file_type() {
            kind if kind.is_dir() => FileEntry::Directory { mode, uid, gid },
            kind if kind.is_symlink() => {
                let target = fs::read_link(at).map_err(cannot)?.to_string_lossy().into_owned();
                FileEntry::Link { target }
            }
            _ => FileEntry::File(FileState { content: fs::read(at).map_err(cannot)?, mode, uid, gid }),
        })
    }

    fn has_command(&self, _name: &str) -> bool {
        false
    }

    fn tree(&self) -> FsRoot {
        FsRoot::open(self.directory()).expect("a root")
    }
}
