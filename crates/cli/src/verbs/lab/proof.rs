//! `whylate lab exec --prove`: the words of `whylate prove` for the guest, checked here, and its exit code.

use crate::args::ProveArgs;
use crate::exit_status::ExitStatus;
use anyhow::{Context, Result, bail};
use clap::Parser;
use std::path::{Path, PathBuf};
use whylate_lab::{Arch, GuestFile, find_program};

/// Where the guest finds the document of `--from`.
const DOCUMENT: &str = "/prove-from.json";
/// What starts the program of each round.
const SHELL: &str = "/bin/sh";

/// What `whylate prove` reads.
#[derive(Debug, Parser)]
#[command(name = "whylate prove", no_binary_name = true)]
struct ProveWords {
    #[command(flatten)]
    args: ProveArgs,
}

/// A proof for a guest.
#[derive(Debug)]
pub(super) struct Proof {
    /// The arguments of the guest's own whylate, before the `--` and the program.
    pub(super) arguments: Vec<String>,
    /// Files that it needs.
    pub(super) files: Vec<GuestFile>,
}

impl Proof {
    /// From the words of the option, which are split at blanks, as those of `--with`.
    ///
    /// # Errors
    /// Words that `whylate prove` refuses, a document that is no file, or no shell for the guest.
    pub(super) fn of(options: &str, json: bool, arch: Arch) -> Result<Proof> {
        let words: Vec<String> = options.split_ascii_whitespace().map(str::to_owned).collect();
        let ProveWords { args } = ProveWords::try_parse_from(&words)
            .map_err(|error| anyhow::anyhow!("--prove \"{options}\": {}", error.to_string().trim_end()))?;
        if !args.command.is_empty() {
            bail!(
                "--prove takes options alone: the program of each round comes after the `--` of `whylate lab exec`"
            );
        }
        let mut files = vec![shell(arch)?];
        let mut arguments = vec!["prove".to_owned()];
        match &args.from {
            None => arguments.extend(words),
            Some(document) => {
                files.push(GuestFile { from: readable(document)?, to: DOCUMENT.to_owned() });
                arguments.extend(with_document(words));
            }
        }
        if json && !arguments.iter().any(|word| word == "--json") {
            arguments.push("--json".to_owned());
        }
        Ok(Proof { arguments, files })
    }
}

/// The document of `--from`, which the guest reads from a file.
fn readable(document: &Path) -> Result<PathBuf> {
    if document.as_os_str() == "-" {
        bail!(
            "--prove: --from - is not supported: the guest has no standard input; write the document to a file"
        );
    }
    std::fs::File::open(document).with_context(|| format!("cannot read {}", document.display()))?;
    Ok(document.to_owned())
}

/// The words with the guest's path of the document.
fn with_document(words: Vec<String>) -> Vec<String> {
    let mut follows = false;
    let mut each = Vec::with_capacity(words.len());
    for word in words {
        each.push(match (follows, word.strip_prefix("--from=")) {
            (true, _) => DOCUMENT.to_owned(),
            (false, Some(_)) => format!("--from={DOCUMENT}"),
            (false, None) => word.clone(),
        });
        follows = !follows && word == "--from";
    }
    each
}

/// The shell by which `whylate prove` starts a program.
fn shell(arch: Arch) -> Result<GuestFile> {
    match find_program("sh") {
        Some(from) if arch == Arch::native() => Ok(GuestFile { from, to: SHELL.to_owned() }),
        _ => bail!(
            "--prove starts the program of each round by {SHELL}, and there is none for {arch} here: run the program beside \
             instead, with --no-record --with PROGRAM -- /whylate prove ..."
        ),
    }
}

/// The exit code of `whylate prove`, as its own.
pub(super) fn status(code: Option<i32>) -> ExitStatus {
    match code {
        Some(0) => ExitStatus::Done,
        Some(1) => ExitStatus::Found,
        Some(3) => ExitStatus::CannotTell,
        _ => ExitStatus::Failed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_checked_here_and_the_document_comes_along() {
        let directory = tempfile::tempdir().expect("a directory");
        let document = directory.path().join("ex.json");
        std::fs::write(&document, "{}").expect("a file");
        let document = document.display().to_string();
        let of = |options: &str| Proof::of(options, true, Arch::native());
        for (options, expected) in [
            ("--set ctl.priority=70 --round 1s", "prove --set ctl.priority=70 --round 1s --json".to_owned()),
            (
                &format!("--from {document} --fix 2"),
                "prove --from /prove-from.json --fix 2 --json".to_owned(),
            ),
            (&format!("--from={document} --json"), "prove --from=/prove-from.json --json".to_owned()),
        ] {
            let Ok(proof) = of(options) else {
                // A machine without a shell has none to bring.
                assert!(find_program("sh").is_none(), "{options}");
                continue;
            };
            assert_eq!(proof.arguments.join(" "), expected);
            assert_eq!(proof.files.len(), if options.contains("--from") { 2 } else { 1 });
        }
        for (options, words) in [
            ("--round 1", "--round"),
            ("--no-such", "--no-such"),
            ("--set a.priority=1 -- ./a", "after the `--` of `whylate lab exec`"),
            ("--from -", "standard input"),
            ("--from /no/such.json", "cannot read /no/such.json"),
        ] {
            let error = format!("{:#}", of(options).expect_err(options));
            assert!(error.contains(words), "{options}: {error}");
        }
        let other = if Arch::native() == Arch::Arm64 { Arch::X86_64 } else { Arch::Arm64 };
        let error = Proof::of("--set a.priority=1", false, other).expect_err("no shell").to_string();
        assert!(error.contains("--with PROGRAM"), "{error}");
    }
}
