//! What a program of the host needs in a guest beside its libraries: the interpreter of a script, the library of Python,
//! the programs that a shell script runs. As far as can be known: what a program opens by itself is brought with `--file`.

mod python;
mod shell;

use crate::{Arch, GuestFile, LabError, check_program};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Scripts are read so far.
const MOST_BYTES: u64 = 1 << 20;
/// How a script begins (execve(2)).
const SHEBANG: &[u8] = b"#!";
/// A script may run scripts.
const DEEPEST: usize = 3;

/// A program, and what it needs beside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Companions {
    /// The program itself; another one where the given file only starts it, as the shims of pyenv do.
    pub program: PathBuf,
    /// What it needs beside.
    pub files: Vec<GuestFile>,
    /// What is done otherwise than asked for, and what stays out.
    pub notes: Vec<String>,
}

/// What a program needs beside in a guest of `arch`; `texts` are its arguments, and the scripts that are among them. This
/// machine's interpreters and tools do not run in a guest of another architecture.
///
/// # Errors
/// If it cannot run in such a guest, or its interpreter is missing here.
pub fn companions(program: &Path, texts: &[String], arch: Arch) -> Result<Companions, LabError> {
    if arch != Arch::native() {
        check_program(program, arch)?;
        return Ok(Companions { program: program.to_owned(), files: Vec::new(), notes: Vec::new() });
    }
    let mut all = Companions { program: program.to_owned(), files: Vec::new(), notes: Vec::new() };
    if let Some(real) = behind_shim(program) {
        all.notes.push(format!("{} is a shim of pyenv: {} runs", program.display(), real.display()));
        all.program = real;
    }
    let program = all.program.clone();
    all.needs(&program, texts, 0)?;
    Ok(all)
}

/// A program of this host, by its path or from PATH.
pub fn find_program(name: &str) -> Option<PathBuf> {
    if name.contains('/') {
        return Some(PathBuf::from(name)).filter(|path| path.is_file());
    }
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|directory| directory.join(name)).find(|path| path.is_file())
}

impl Companions {
    fn needs(&mut self, program: &Path, texts: &[String], depth: usize) -> Result<(), LabError> {
        let Some(script) = script(program).filter(|_| depth < DEEPEST) else {
            check_program(program, Arch::native())?;
            return self.of_interpreter(program, texts, depth);
        };
        let Some((first, argument)) = interpreter(&script) else {
            return check_program(program, Arch::native());
        };
        let missing = |name: &str| LabError::Program {
            path: program.to_owned(),
            reason: format!("it is a script, and its interpreter {name} is missing here"),
        };
        // The kernel starts the interpreter by this path.
        let found = find_program(first).ok_or_else(|| missing(first))?;
        self.add(&found, first);
        let texts = [std::slice::from_ref(&script), texts].concat();
        if first.rsplit('/').next() != Some("env") {
            return self.of_interpreter(&found, &texts, depth);
        }
        let name =
            argument.split_ascii_whitespace().find(|word| !word.starts_with('-') && !word.contains('='));
        let name = name.ok_or_else(|| missing("after env"))?;
        let found = find_program(name).ok_or_else(|| missing(name))?;
        let found = behind_shim(&found).unwrap_or(found);
        check_program(&found, Arch::native())?;
        self.add(&found, &in_bin(name));
        self.of_interpreter(&found, &texts, depth)
    }

    fn of_interpreter(&mut self, program: &Path, texts: &[String], depth: usize) -> Result<(), LabError> {
        let real = program.canonicalize().unwrap_or_else(|_| program.to_owned());
        let name = real.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        if name.starts_with("python") {
            let (files, notes) = python::library(program);
            self.files.extend(files);
            self.notes.extend(notes);
        } else if shell::is_shell(&name) {
            for tool in shell::words(texts) {
                self.tool(&tool, depth)?;
            }
        } else if name.starts_with("perl") || name.starts_with("ruby") || name.starts_with("node") {
            let note =
                format!("the library of {name} stays out: bring its modules with --file DIRECTORY:GUEST");
            self.notes.push(note);
        }
        Ok(())
    }

    /// A word of a script that is the name of a program. It may be anything else: what cannot run is left out.
    fn tool(&mut self, name: &str, depth: usize) -> Result<(), LabError> {
        let to = if name.contains('/') { name.to_owned() } else { in_bin(name) };
        let Some(found) = find_program(name).filter(|_| !self.files.iter().any(|file| file.to == to)) else {
            return Ok(());
        };
        let found = behind_shim(&found).unwrap_or(found);
        if script(&found).is_none() && check_program(&found, Arch::native()).is_err() {
            return Ok(());
        }
        self.add(&found, &to);
        match self.needs(&found, &[], depth + 1) {
            Err(LabError::Program { .. }) => Ok(()),
            other => other,
        }
    }

    fn add(&mut self, from: &Path, to: &str) {
        if !self.files.iter().any(|file| file.to == to) {
            self.files.push(GuestFile { from: from.to_owned(), to: to.to_owned() });
        }
    }
}

fn in_bin(name: &str) -> String {
    format!("/bin/{name}")
}

/// The text of a script; `None`: the file is no script.
fn script(path: &Path) -> Option<String> {
    let mut file = File::open(path).ok()?;
    let mut bytes = vec![0; SHEBANG.len()];
    // Most programs are none: of these nothing more is read.
    file.read_exact(&mut bytes).ok().filter(|()| bytes == SHEBANG)?;
    file.take(MOST_BYTES).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// The interpreter of a script, and its one argument (execve(2)).
fn interpreter(script: &str) -> Option<(&str, &str)> {
    let line = script.strip_prefix("#!")?.lines().next()?.trim();
    Some(line.split_once([' ', '\t']).map_or((line, ""), |(first, rest)| (first, rest.trim())))
        .filter(|(first, _)| first.starts_with('/'))
}

/// The program that a shim of pyenv starts: `exec ".../libexec/pyenv" exec "$program" "$@"`.
fn behind_shim(path: &Path) -> Option<PathBuf> {
    let script = script(path)?;
    let pyenv = script.split('"').find(|part| part.starts_with('/') && part.ends_with("/pyenv"))?;
    let name = path.file_name()?;
    let output =
        Command::new(pyenv).arg("which").arg(name).output().ok().filter(|output| output.status.success())?;
    let real = PathBuf::from(String::from_utf8_lossy(&output.stdout).trim());
    (real.is_file() && real != path).then_some(real)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn put(directory: &Path, name: &str, text: &str) -> PathBuf {
        let path = directory.join(name);
        std::fs::write(&path, text).expect("a file");
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).expect("its mode");
        path
    }

    fn places(found: &Companions) -> Vec<&str> {
        found.files.iter().map(|file| file.to.as_str()).collect()
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn a_shell_script_brings_its_shell_and_its_tools() {
        let host = tempfile::tempdir().expect("a directory");
        let script =
            put(host.path(), "load", "#!/bin/sh -e\n# tail\nfor i in 1 2; do sleep $i | cat; done\n");
        let found = companions(&script, &[], Arch::native()).expect("a shell");
        assert_eq!(found.program, script);
        let places = places(&found);
        assert!(["/bin/sh", "/bin/sleep", "/bin/cat"].iter().all(|path| places.contains(path)), "{places:?}");
        assert!(!places.contains(&"/bin/tail"), "a comment: {places:?}");
        let by_env = put(host.path(), "by-env", "#!/usr/bin/env -S A=1 sh\nhead -1 /proc/stat\n");
        let found = companions(&by_env, &[], Arch::native()).expect("a shell");
        let places = self::places(&found);
        assert!(
            ["/usr/bin/env", "/bin/sh", "/bin/head"].iter().all(|path| places.contains(path)),
            "{places:?}"
        );
        let direct = companions(Path::new("/bin/sh"), &["-c".into(), "sleep 1".into()], Arch::native())
            .expect("a shell");
        assert!(self::places(&direct).contains(&"/bin/sleep"), "{direct:?}");
    }

    #[test]
    fn a_missing_interpreter_is_named() {
        let host = tempfile::tempdir().expect("a directory");
        let script = put(host.path(), "x", "#!/no/such/interpreter\n");
        let error = companions(&script, &[], Arch::native()).expect_err("missing").to_string();
        assert!(error.contains("/no/such/interpreter"), "{error}");
        let letter = put(host.path(), "letter", "Dear all,\n");
        assert!(
            companions(&letter, &[], Arch::native()).expect_err("no program").to_string().contains("ELF")
        );
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn a_shim_leads_to_the_program() {
        let host = tempfile::tempdir().expect("a directory");
        let (shims, root) = (host.path().join("shims"), host.path().join("root"));
        std::fs::create_dir_all(&shims).and_then(|()| std::fs::create_dir_all(&root)).expect("directories");
        let real = root.join("true");
        std::fs::copy("/bin/true", &real).expect("a program");
        let pyenv = put(&root, "pyenv", &format!("#!/bin/sh\necho {}\n", real.display()));
        let text = format!("#!/usr/bin/env bash\nexec \"{}\" exec \"$program\" \"$@\"\n", pyenv.display());
        let found = companions(&put(&shims, "true", &text), &[], Arch::native()).expect("behind it");
        assert_eq!((found.program, found.files), (real, vec![]));
        assert!(found.notes[0].contains("shim of pyenv"), "{:?}", found.notes);
    }
}
