//! Python: its own library, at the path where the interpreter searches for it.

use crate::GuestFile;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Prints the directories of the library: of the modules in Python, and of those in C.
const ASK: &str =
    "import sysconfig; print(sysconfig.get_path('stdlib')); print(sysconfig.get_path('platstdlib'))";
/// Parts that no program needs to run, and compiled modules, which would count as outdated in the guest.
const LEFT_OUT: [&str; 9] = [
    "__pycache__",
    "test",
    "tests",
    "idlelib",
    "lib2to3",
    "ensurepip",
    "turtledemo",
    "site-packages",
    "dist-packages",
];

/// The files of an interpreter's library; and what stays out.
pub(super) fn library(interpreter: &Path) -> (Vec<GuestFile>, Vec<String>) {
    let output = Command::new(interpreter).args(["-I", "-S", "-c", ASK]).output();
    let Some(output) = output.ok().filter(|output| output.status.success()) else {
        let note = format!(
            "{} does not name its library: bring that with --file DIRECTORY:GUEST",
            interpreter.display()
        );
        return (Vec::new(), vec![note]);
    };
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut directories: Vec<PathBuf> =
        text.lines().map(PathBuf::from).filter(|path| path.is_dir()).collect();
    directories.dedup();
    let mut files = Vec::new();
    directories.iter().for_each(|directory| add(directory, &mut files));
    (
        files,
        vec![
            "modules of Python from other packages stay out: bring them with --file DIRECTORY:GUEST"
                .to_owned(),
        ],
    )
}

/// Files and links that lead to files, below a directory; each to its own path.
fn add(directory: &Path, files: &mut Vec<GuestFile>) {
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        let (path, name) = (entry.path(), entry.file_name());
        let name = name.to_string_lossy();
        if LEFT_OUT.contains(&name.as_ref()) || name.starts_with("config-") {
            continue;
        }
        match (path.is_symlink(), path.is_dir()) {
            (false, true) => add(&path, files),
            (_, false) if path.is_file() => {
                files.extend(path.to_str().map(|to| GuestFile { from: path.clone(), to: to.to_owned() }));
            }
            _ => {}
        }
    }
}
