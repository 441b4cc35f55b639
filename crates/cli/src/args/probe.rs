//! `--at`, `--usdt`: where in a program activations begin and end, as probes see it.

use anyhow::{Result, bail};
use clap::Args;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use whylate_stacks::{FunctionPlace, MapsLine, ProbedPlace, UsdtError, parse_maps};
use whylate_threads::select::{all_threads, is_meant};

/// `--at`, `--usdt`
#[derive(Debug, Default, Args)]
pub(crate) struct ProbeArgs {
    /// An activation is a call of this function of a program or library, such as ./ctl:Controller::step, by a probe that is removed
    /// at the end; sleeps in it belong to it. With +ret behind it, it goes from one return to the next
    #[arg(long, value_name = "FILE:FUNCTION[+ret]", value_parser = place, conflicts_with = "begin_marker")]
    at: Option<Box<ProbedPlace>>,
    /// An activation goes from one static probe (USDT) of the program to another, such as motion:begin,end; without END to the next
    /// BEGIN. FILE is the program or library; default: the command, or the running program of --task, and its libraries
    #[arg(long, value_name = "[FILE:]PROVIDER:BEGIN[,END]", value_parser = StaticProbes::parse, conflicts_with_all = ["begin_marker", "at"])]
    usdt: Option<Box<StaticProbes>>,
}

impl ProbeArgs {
    /// The place that is asked for. Without a file it is looked for in the program of `command`, else in those of running
    /// `threads`.
    ///
    /// # Errors
    /// If there is no such probe, or it is not known in which file.
    pub(crate) fn place(&self, command: &[OsString], threads: &[String]) -> Result<Option<ProbedPlace>> {
        let Some(probes) = &self.usdt else { return Ok(self.at.as_deref().cloned()) };
        if let Some(file) = &probes.file {
            return Ok(Some(probes.of(file)?));
        }
        let files = match command.first() {
            Some(program) => vec![in_path(program)],
            None => running(threads),
        };
        let mut other = None;
        for file in &files {
            match probes.of(file) {
                Ok(place) => return Ok(Some(place)),
                // A library that has probes, and not this one, says more than one without.
                Err(error @ UsdtError::NoProbe { .. }) => other = Some(error),
                Err(error) => other = other.or(Some(error)),
            }
        }
        match other {
            Some(error) => {
                bail!("--usdt {}: {error}; give the file: --usdt FILE:{}", probes.text, probes.text)
            }
            None => bail!(
                "--usdt {}: the program is not running, so its file is not known: give it, --usdt FILE:{}",
                probes.text,
                probes.text
            ),
        }
    }
}

fn place(text: &str) -> Result<Box<ProbedPlace>, String> {
    // A name may have `::`, a file seldom has a colon.
    let form = "give a file and a function, such as ./ctl:step";
    let (file, function) = text.split_once(':').ok_or(form)?;
    let (function, at_return) = match function.strip_suffix("+ret") {
        Some(function) => (function, true),
        None => (function, false),
    };
    if file.is_empty() || function.is_empty() {
        return Err(form.to_owned());
    }
    let place = FunctionPlace::find(Path::new(file), function).map_err(|error| error.to_string())?;
    Ok(Box::new(if at_return { ProbedPlace::Return(place) } else { ProbedPlace::Function(place) }))
}

/// The value of `--usdt`.
#[derive(Clone, Debug, PartialEq, Eq)]
struct StaticProbes {
    /// Without the file.
    text: String,
    file: Option<PathBuf>,
    provider: String,
    begin: String,
    end: Option<String>,
}

impl StaticProbes {
    fn parse(text: &str) -> Result<Box<StaticProbes>, String> {
        let parts: Vec<&str> = text.split(':').collect();
        let (file, provider, names) = match parts[..] {
            [provider, names] => (None, provider, names),
            [file, provider, names] if !file.is_empty() => (Some(PathBuf::from(file)), provider, names),
            _ => {
                return Err(
                    "give a provider and a probe, such as motion:begin,end or ./ctl:motion:begin,end"
                        .to_owned(),
                );
            }
        };
        let (begin, end) = names.split_once(',').map_or((names, None), |(begin, end)| (begin, Some(end)));
        if provider.is_empty()
            || begin.is_empty()
            || end.is_some_and(|end| end.is_empty() || end.contains(','))
        {
            return Err(
                "give one probe, or two with a comma between them, such as motion:begin,end".to_owned()
            );
        }
        Ok(Box::new(StaticProbes {
            text: format!("{provider}:{names}"),
            file,
            provider: provider.to_owned(),
            begin: begin.to_owned(),
            // The same at both ends: each ends one and begins the next.
            end: end.filter(|&end| end != begin).map(str::to_owned),
        }))
    }

    fn of(&self, file: &Path) -> Result<ProbedPlace, UsdtError> {
        ProbedPlace::usdt(file, &self.provider, &self.begin, self.end.as_deref())
    }
}

/// Where execvp(3) finds a program.
fn in_path(program: &OsString) -> PathBuf {
    let name = Path::new(program);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found =
        || std::env::split_paths(&path).map(|directory| directory.join(name)).find(|file| file.exists());
    let is_path = name.as_os_str().as_encoded_bytes().contains(&b'/');
    Some(name.to_owned()).filter(|_| is_path).or_else(found).unwrap_or_else(|| name.to_owned())
}

/// The programs of running threads, and then their libraries.
fn running(threads: &[String]) -> Vec<PathBuf> {
    let pids: BTreeSet<i32> = all_threads()
        .into_iter()
        .filter(|thread| threads.iter().any(|pattern| is_meant(thread, pattern)))
        .map(|thread| thread.pid.0)
        .collect();
    let mut files: Vec<PathBuf> =
        pids.iter().filter_map(|pid| fs::read_link(format!("/proc/{pid}/exe")).ok()).collect();
    for pid in pids {
        let maps = fs::read(format!("/proc/{pid}/maps")).unwrap_or_default();
        for MapsLine { mapping, is_executable, .. } in parse_maps(&maps) {
            if is_executable && mapping.path.is_absolute() && !files.contains(&mapping.path) {
                files.push(mapping.path);
            }
        }
    }
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn static_probes_are_given_with_and_without_their_file() {
        let parsed = |text: &str| StaticProbes::parse(text).expect(text);
        let both = parsed("motion:begin,end");
        assert_eq!(
            (both.file.as_deref(), both.begin.as_str(), both.end.as_deref()),
            (None, "begin", Some("end"))
        );
        let of_file = parsed("./ctl:motion:begin");
        assert_eq!((of_file.file.as_deref(), of_file.end.as_deref()), (Some(Path::new("./ctl")), None));
        assert_eq!(of_file.text, "motion:begin");
        assert_eq!(parsed("motion:begin,begin").end, None);
        for text in
            ["", "motion", "motion:", ":begin", "a:b:c:d", ":motion:begin", "motion:a,", "motion:a,b,c"]
        {
            assert!(StaticProbes::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_program_is_where_it_would_be_executed() {
        assert!(in_path(&"sh".into()).is_absolute());
        assert_eq!(in_path(&"./sh".into()), Path::new("./sh"));
        assert_eq!(in_path(&"no-such-program-here".into()), Path::new("no-such-program-here"));
    }

    #[test]
    fn the_file_of_a_running_program_is_found_by_the_name_of_its_thread() {
        let own = std::process::id().to_string();
        let files = running(&[own]);
        assert_eq!(files.first(), std::env::current_exe().ok().as_ref());
        assert!(files.len() > 1, "{files:?}");
        assert!(running(&["no-such-thread-name".to_owned()]).is_empty());
    }
}
