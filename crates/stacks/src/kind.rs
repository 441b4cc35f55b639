//! Whose code a file has.

use std::path::Path;
use whylate_events::ModuleKind;

/// Where distributions install libraries (Filesystem Hierarchy Standard 3.0, sections 3.9, 4.6 and 4.7), and the stores
/// of Nix and Guix.
const LIBRARIES: [&str; 9] = [
    "/lib",
    "/lib32",
    "/lib64",
    "/usr/lib",
    "/usr/lib32",
    "/usr/lib64",
    "/usr/libexec",
    "/nix/store",
    "/gnu/store",
];

/// A library in a directory of the distribution is the system's; every program is a program, wherever it is installed,
/// and so is a library elsewhere (`/opt`, `/usr/local`, a build directory).
pub(crate) fn of_file(path: &Path, executable: bool) -> ModuleKind {
    match !executable && LIBRARIES.iter().any(|directory| path.starts_with(directory)) {
        true => ModuleKind::System,
        false => ModuleKind::Program,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_libraries_of_the_distribution_are_the_systems() {
        for (path, executable, expected) in [
            ("/usr/lib/x86_64-linux-gnu/libc.so.6", false, ModuleKind::System),
            ("/lib64/ld-linux-x86-64.so.2", false, ModuleKind::System),
            ("/nix/store/abc-glibc-2.40/lib/libc.so.6", false, ModuleKind::System),
            ("/usr/lib/systemd/systemd-journald", true, ModuleKind::Program),
            ("/usr/bin/jackd", true, ModuleKind::Program),
            ("/usr/local/lib/libcontrol.so", false, ModuleKind::Program),
            ("/opt/ros/lib/librclcpp.so", false, ModuleKind::Program),
            ("/libraries/libmine.so", false, ModuleKind::Program),
        ] {
            assert_eq!(of_file(Path::new(path), executable), expected, "{path}");
        }
    }
}
