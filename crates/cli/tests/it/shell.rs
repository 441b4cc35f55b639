//! Completions and man pages: one for each verb, and each parses.

use crate::support::run::whylate;
use std::collections::BTreeSet;
use std::fs;
use std::process::{Command, Stdio};
use whylate_testing::Need;

/// The verbs that `whylate --help` lists.
fn verbs() -> BTreeSet<String> {
    let help = whylate(["--help"]).stdout;
    let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let listed = listed.take_while(|line| !line.is_empty()).filter(|line| !line.starts_with("     "));
    let verbs = listed.filter_map(|line| line.split_whitespace().next()).filter(|verb| *verb != "help");
    verbs.map(str::to_owned).collect()
}

/// Whether a program accepts a text on its standard input or as its last argument; none, reported as a skip, where there is no
/// such program.
fn parses(program: &str, arguments: &[&str]) -> Option<Result<String, String>> {
    match Command::new(program).args(arguments).stdin(Stdio::null()).output() {
        Ok(output) if output.status.success() && output.stderr.is_empty() => {
            Some(Ok(String::from_utf8_lossy(&output.stdout).into_owned()))
        }
        Ok(output) => Some(Err(String::from_utf8_lossy(&output.stderr).into_owned())),
        Err(error) => {
            whylate_testing::skip(Need::Program, format_args!("{program}: {error}"));
            None
        }
    }
}

#[test]
fn every_shell_completes_every_verb() {
    let verbs = verbs();
    assert!(verbs.contains("explain") && verbs.contains("man-pages"), "{verbs:?}");
    let directory = tempfile::tempdir().expect("a directory");
    for shell in ["bash", "zsh", "fish"] {
        let run = whylate(["completions", shell]);
        assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""), "{shell}");
        for verb in &verbs {
            assert!(run.stdout.contains(verb.as_str()), "{shell}: {verb}");
        }
        for hidden in ["hold-latency", "load-worker", "guard-watchdog"] {
            assert!(!run.stdout.contains(hidden), "{shell}: {hidden}");
        }
        let file = directory.path().join(shell);
        fs::write(&file, &run.stdout).expect("it is written");
        let file = file.to_str().expect("a name");
        if let Some(result) = parses(shell, &["-n", file]) {
            assert_eq!(result, Ok(String::new()), "{shell} -n");
        }
    }
}

/// What bash offers is what the program has: the function is run as the shell runs it.
#[test]
fn bash_offers_verbs_options_and_values() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("whylate");
    fs::write(&file, whylate(["completions", "bash"]).stdout).expect("it is written");
    for (words, offered) in [
        ("whylate expl", "explain"),
        ("whylate guard --thr", "--threshold"),
        ("whylate explain --format sar", "sarif"),
        ("whylate lab kern", "kernels"),
    ] {
        let words: Vec<&str> = words.split(' ').collect();
        let last = words.len() - 1;
        let script = format!(
            "source {}; COMP_WORDS=({}); COMP_CWORD={last}; _whylate whylate {} {}; echo \"${{COMPREPLY[*]}}\"",
            file.display(),
            words.join(" "),
            words[last],
            words[last - 1]
        );
        match parses("bash", &["-c", &script]) {
            Some(Ok(reply)) => {
                assert!(reply.split_whitespace().any(|word| word == offered), "{words:?}: {reply}");
            }
            Some(Err(why)) => panic!("{words:?}: {why}"),
            None => return,
        }
    }
}

#[test]
fn every_verb_has_a_man_page_that_man_formats() {
    let directory = tempfile::tempdir().expect("a directory");
    let pages = directory.path().join("share/man1");
    let run = whylate(["man-pages".as_ref(), pages.as_os_str()]);
    assert_eq!((run.code, run.stdout.as_str(), run.stderr.as_str()), (Some(0), "", ""));
    let names = fs::read_dir(&pages).expect("the pages").map(|entry| entry.expect("an entry").file_name());
    let names: BTreeSet<String> = names.map(|name| name.into_string().expect("a name")).collect();
    let expected = verbs().into_iter().map(|verb| format!("whylate-{verb}.1"));
    let expected =
        expected.chain(["whylate.1", "whylate-lab-exec.1", "whylate-lab-kernels.1"].map(str::to_owned));
    assert_eq!(names, expected.collect());
    for (page, words) in [("whylate-explain.1", "--deadline"), ("whylate.1", "whylate-explain(1)")] {
        let page = pages.join(page);
        let Some(text) = parses("man", &["-l", "-P", "cat", page.to_str().expect("a name")]) else { return };
        let text = text.unwrap_or_else(|why| panic!("{}: {why}", page.display()));
        // A terminal's bold is a letter, a backspace, and the letter again.
        let mut plain = String::new();
        for letter in text.chars() {
            if letter == '\u{8}' {
                plain.pop();
            } else {
                plain.push(letter)
            }
        }
        assert!(plain.contains(words), "{}: no {words}: {plain}", page.display());
        assert!(plain.contains("Exit codes"), "{}", page.display());
    }
}

#[test]
fn a_directory_that_cannot_be_made_is_named() {
    let run = whylate(["man-pages", "/proc/self/none/here"]);
    assert_eq!(run.code, Some(2), "{run:#?}");
    assert!(run.stderr.contains("cannot create /proc/self/none/here"), "{}", run.stderr);
}
