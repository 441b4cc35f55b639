//! Builds a case and its clean twin.

use super::read::SHARED;
use super::{Case, Language};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use thiserror::Error;

/// Links what the standard library of Rust needs.
const RUST_LIBRARIES: [&str; 3] = ["-pthread", "-ldl", "-lm"];

/// The reason why a case was not built.
#[derive(Debug, Error)]
pub enum BuildError {
    /// The directory of the programs.
    #[error("cannot write {path}: {error}")]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// The compiler, or strip.
    #[error("cannot run {program}: {error}; apt-get install gcc g++ binutils rustc python3, as root")]
    Start {
        /// Its name.
        program: String,
        /// Why.
        error: std::io::Error,
    },
    /// The compiler refused the program.
    #[error("{program} cannot build {case}: {message}")]
    Refused {
        /// The compiler's name.
        program: String,
        /// The case's name.
        case: String,
        /// What the compiler printed.
        message: String,
    },
}

/// A program that can be run.
#[derive(Clone, Debug)]
pub struct Built {
    /// The program with its arguments.
    pub command: Vec<OsString>,
    /// The program with its symbols: where the one that runs has none, another file.
    pub with_symbols: Option<PathBuf>,
    /// The program that runs; none for a script.
    pub program: Option<PathBuf>,
}

/// Builds a case in `directory`, or its clean twin.
///
/// # Errors
/// When a compiler is missing or refuses the program, or a file cannot be written.
pub fn build(case: &Case, clean: bool, directory: &Path) -> Result<Built, BuildError> {
    let source = write(directory, &case.name, &case.source)?;
    for (name, text) in SHARED {
        write(directory, name, text)?;
    }
    if case.language == Language::Python {
        let command = [interpreter(case)?, "-B".into(), source.into_os_string()];
        let command = command.into_iter().chain(clean.then(|| OsString::from("clean"))).collect();
        return Ok(Built { command, with_symbols: None, program: None });
    }
    let stem = case.name.replace('.', "-");
    let full = directory.join(format!("{stem}{}", if clean { "-clean" } else { "" }));
    let mut compiler = match case.language {
        Language::Rust => {
            let library = rust_library(case, clean, directory)?;
            let mut compiler = compiler("gcc", directory);
            compiler.args(["-O2", "-g", "harness.c"]).arg(library).args(RUST_LIBRARIES);
            compiler
        }
        Language::Cpp => native("g++", case, directory),
        _ => native("gcc", case, directory),
    };
    if clean {
        compiler.arg("-DCLEAN");
    }
    done(compiler.arg("-o").arg(&full), case)?;
    let program = match case.stripped {
        true => {
            let stripped = full.with_extension("stripped");
            let mut strip = Command::new("strip");
            done(strip.arg("--strip-all").arg("-o").arg(&stripped).arg(&full), case)?;
            stripped
        }
        false => full.clone(),
    };
    Ok(Built {
        command: vec![program.clone().into_os_string()],
        with_symbols: Some(full),
        program: Some(program),
    })
}

/// The interpreter itself: `python3` may be a script of a version manager, whose processes are no part of the case.
fn interpreter(case: &Case) -> Result<OsString, BuildError> {
    let output = done(Command::new("python3").args(["-c", "import sys; print(sys.executable)"]), case)?;
    Ok(String::from_utf8_lossy(&output).trim().into())
}

fn native(name: &str, case: &Case, directory: &Path) -> Command {
    let mut compiler = compiler(name, directory);
    compiler.args(&case.flags).arg(&case.name).arg("-pthread");
    compiler
}

fn compiler(name: &str, directory: &Path) -> Command {
    let mut compiler = Command::new(name);
    // Messages are for the report: in one language, and without colours.
    compiler.current_dir(directory).env("LC_ALL", "C");
    compiler
}

fn rust_library(case: &Case, clean: bool, directory: &Path) -> Result<PathBuf, BuildError> {
    let stem = case.name.replace(['.', '-'], "_");
    let library = directory.join(format!("lib{stem}{}.a", if clean { "_clean" } else { "" }));
    let mut compiler = compiler("rustc", directory);
    compiler
        .args(["--edition", "2021", "--crate-type", "staticlib", "--crate-name", &stem])
        .args(&case.flags);
    if clean {
        compiler.args(["--cfg", "clean"]);
    }
    done(compiler.arg("-o").arg(&library).arg(&case.name), case)?;
    Ok(library)
}

/// What the program printed.
fn done(command: &mut Command, case: &Case) -> Result<Vec<u8>, BuildError> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.stdin(Stdio::null()).output();
    let output = output.map_err(|error| BuildError::Start { program: program.clone(), error })?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    let message = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    Err(BuildError::Refused { program, case: case.name.clone(), message })
}

fn write(directory: &Path, name: &str, text: &str) -> Result<PathBuf, BuildError> {
    let path = directory.join(name);
    match std::fs::write(&path, text) {
        Ok(()) => Ok(path),
        Err(error) => Err(BuildError::Write { path, error }),
    }
}
