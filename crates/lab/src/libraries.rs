//! The files that a program of the host needs in a guest: its loader and shared libraries.

use crate::elf::Elf;
use crate::needed::{self, Library};
use crate::{Arch, LabError};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The loader and the libraries of the program at `path` in a guest of `arch`; none for a static program. They have the
/// same paths in the guest, except for a guest of another architecture than this machine's.
///
/// The loader is asked for the list (`--list`, which both glibc's and musl's know); none of the
/// program's own code runs. A loader of another architecture does not run here: see [`needed`].
///
/// # Errors
/// When it is no program for that architecture, or a library is missing.
pub(crate) fn of_program(path: &Path, arch: Arch) -> Result<Vec<Library>, LabError> {
    let bytes = std::fs::read(path).map_err(LabError::file("read", path))?;
    let wrong = |reason: String| LabError::Program { path: path.to_owned(), reason };
    let Some(loader) = needed_loader(&bytes, arch).map_err(wrong)? else {
        return Ok(Vec::new());
    };
    if arch != Arch::native() {
        return needed::of_foreign(path, &bytes, loader, arch).map_err(wrong);
    }
    // By its full path: a name without a slash would be looked for among the libraries.
    let full = path.canonicalize().map_err(LabError::file("read", path))?;
    let output = Command::new(loader).arg("--list").arg(full).env_remove("LD_PRELOAD").output().map_err(|error| {
        wrong(format!("it is linked dynamically, and its loader {loader} cannot be run here ({error}): link it statically"))
    })?;
    if !output.status.success() {
        let errors = String::from_utf8_lossy(&output.stderr);
        return Err(wrong(format!("its loader cannot find all of its libraries: {}", errors.trim())));
    }
    let mut files = parse_list(&String::from_utf8_lossy(&output.stdout)).map_err(wrong)?;
    let loader = PathBuf::from(loader);
    if !files.contains(&loader) {
        files.push(loader);
    }
    Ok(files.into_iter().map(Library::in_place).collect())
}

/// The libraries that a plug-in needs, as paths of the host, with the loader of this host's programs; what is missing
/// here is left out. None for other files.
pub(crate) fn of_plugin(path: &Path, arch: Arch) -> Vec<Library> {
    if arch != Arch::native() {
        return Vec::new();
    }
    let is_named_so = path.file_name().is_some_and(|name| name.to_string_lossy().contains(".so"));
    let is_plugin =
        is_named_so && std::fs::read(path).is_ok_and(|bytes| matches!(needed_loader(&bytes, arch), Ok(None)));
    let Some(loader) = arch.loaders().into_iter().find(|loader| is_plugin && Path::new(loader).exists())
    else {
        return Vec::new();
    };
    let Ok(full) = path.canonicalize() else { return Vec::new() };
    let output = Command::new(loader).arg("--list").arg(full).env_remove("LD_PRELOAD").output();
    let Ok(output) = output else { return Vec::new() };
    let text = String::from_utf8_lossy(&output.stdout);
    let found = text.lines().filter(|line| !line.contains("not found")).collect::<Vec<_>>().join("\n");
    parse_list(&found).unwrap_or_default().into_iter().map(Library::in_place).collect()
}

/// Whether a guest of `arch` could run the program at `path`.
///
/// # Errors
/// When it is a script, is for another processor, or is no program; the error has an alternative.
pub fn check_program(path: &Path, arch: Arch) -> Result<(), LabError> {
    of_program(path, arch).map(drop)
}

/// The loader of a program that a guest could run.
fn needed_loader(bytes: &[u8], arch: Arch) -> Result<Option<&str>, String> {
    if bytes.starts_with(b"#!") {
        return Err("it is a script, and the guest has no interpreter: give the interpreter as PROGRAM, \
                    and the script with --file"
            .to_owned());
    }
    let elf = Elf::new(bytes).ok_or("it is no 64-bit ELF program")?;
    match elf.is_for(arch) {
        true => Ok(elf.interpreter()),
        false => {
            let [musl, gnu] = arch.rust_targets();
            Err(format!(
                "it is not for {arch}, which the guest is: build it for that (for Rust the target {musl} or {gnu}, for C \
                 {}-gcc)",
                arch.multiarch()
            ))
        }
    }
}

/// The paths of a loader's list: `libm.so.6 => /lib/libm.so.6 (0x7f...)`, `/lib64/ld.so (0x7f...)`.
fn parse_list(text: &str) -> Result<Vec<PathBuf>, String> {
    let mut files = Vec::new();
    for line in text.lines().map(str::trim) {
        let found = line.split_once(" => ").map_or(line, |(_, found)| found);
        if found.starts_with("not found") {
            return Err(format!("its library is missing here: {line}"));
        }
        let path = found.rsplit_once(" (0x").map_or(found, |(path, _)| path);
        // The vDSO has no path; it comes from the kernel.
        if path.starts_with('/') && !files.contains(&PathBuf::from(path)) {
            files.push(PathBuf::from(path));
        }
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::elf::tests::file;

    #[test]
    fn lists_of_both_loaders_are_read() {
        let glibc = "\tlinux-vdso.so.1 (0x00007ffd5d3f2000)\n\tlibm.so.6 => /lib/x86_64-linux-gnu/libm.so.6 (0x00007f)\n\
                     \tlibc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x00007f)\n\t/lib64/ld-linux-x86-64.so.2 (0x00007f)\n";
        let musl = "\t/lib/ld-musl-x86_64.so.1 (0x7f)\n\tlibc.so => /lib/ld-musl-x86_64.so.1 (0x7f)\n";
        for (text, expected) in [
            (
                glibc,
                vec![
                    "/lib/x86_64-linux-gnu/libm.so.6",
                    "/lib/x86_64-linux-gnu/libc.so.6",
                    "/lib64/ld-linux-x86-64.so.2",
                ],
            ),
            (musl, vec!["/lib/ld-musl-x86_64.so.1"]),
            ("\tstatically linked\n", vec![]),
        ] {
            let expected: Vec<PathBuf> = expected.into_iter().map(PathBuf::from).collect();
            assert_eq!(parse_list(text).expect("complete"), expected);
        }
        let missing = parse_list("\tlibx.so.1 => not found\n").expect_err("missing");
        assert!(missing.contains("libx.so.1"), "{missing}");
    }

    #[test]
    fn what_cannot_run_says_why() {
        let mut other = file(None, &[]);
        other[18] = Arch::Arm64.elf_machine() as u8;
        for (bytes, named) in [(&b"#!/bin/sh\n"[..], "script"), (b"text", "ELF"), (&other, "not for x86_64")]
        {
            assert!(needed_loader(bytes, Arch::X86_64).expect_err(named).contains(named));
        }
        assert_eq!(needed_loader(&other, Arch::Arm64), Ok(None));
        assert!(
            needed_loader(&file(None, &[]), Arch::Arm64).expect_err("x86").contains("aarch64-linux-gnu-gcc")
        );
        assert_eq!(needed_loader(&file(None, &[]), Arch::X86_64), Ok(None));
        assert_eq!(needed_loader(&file(Some("/l"), &[]), Arch::X86_64), Ok(Some("/l")));
    }

    #[test]
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    fn this_program_has_what_it_needs() {
        let own = std::env::current_exe().expect("path");
        for library in of_program(&own, Arch::native()).expect("runs here") {
            assert!(library.from.exists(), "{library:?}");
        }
    }
}
