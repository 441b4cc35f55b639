//! The steps of a job, one after the other.

use super::console::CUT;
use super::processes::Processes;
use crate::job::{GuestStep, GuestStepReport, OUT_DIR, Program};
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// The host cuts the power at once, unless the machine has no disk.
const CUT_PATIENCE: Duration = Duration::from_secs(60);

/// Does steps, and keeps track of background programs.
#[derive(Debug)]
pub(super) struct Steps<'a> {
    environment: &'a [(String, String)],
    processes: Processes,
    /// Step and process of each program in the background.
    background: Vec<(usize, i32)>,
}

impl<'a> Steps<'a> {
    pub(super) fn new(environment: &'a [(String, String)]) -> Steps<'a> {
        Steps { environment, processes: Processes::default(), background: Vec::new() }
    }

    /// Does all of them. A background program's report is complete once a later step waited for it.
    pub(super) fn run(mut self, steps: &[GuestStep]) -> Vec<GuestStepReport> {
        let mut reports = Vec::with_capacity(steps.len());
        for (index, step) in steps.iter().enumerate() {
            let result = match step {
                GuestStep::Write { path, value, optional } => {
                    write_all(path, value, *optional).map(|()| None)
                }
                GuestStep::Run(program) => self.start(program, index),
                GuestStep::Sleep(milliseconds) => {
                    std::thread::sleep(Duration::from_millis(*milliseconds));
                    Ok(None)
                }
                GuestStep::Wait => {
                    self.wait_for_background(&mut reports);
                    Ok(None)
                }
                GuestStep::Cut => cut(reports.last().and_then(|report: &GuestStepReport| report.code)),
            };
            reports.push(match result {
                Ok(code) => GuestStepReport { code, error: None },
                Err(error) => {
                    println!("whylate-guest: {error}");
                    GuestStepReport { code: None, error: Some(error) }
                }
            });
        }
        reports
    }

    fn start(&mut self, program: &Program, index: usize) -> Result<Option<i32>, String> {
        let (path, arguments) = program.command.split_first().ok_or("a program without a name")?;
        let directory = program.directory.as_deref().unwrap_or("/");
        std::fs::create_dir_all(directory).map_err(|error| format!("{directory}: {error}"))?;
        let child = Command::new(path)
            .args(arguments)
            .current_dir(directory)
            .env("PATH", "/bin:/usr/bin:/sbin:/usr/sbin:/")
            .env("HOME", "/root")
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stdout(output(program.stdout.as_deref())?)
            .stderr(output(program.stderr.as_deref())?)
            .spawn()
            .map_err(|error| format!("cannot run {path}: {error}"))?;
        let id = i32::try_from(child.id()).map_err(|error| error.to_string())?;
        if program.background {
            self.background.push((index, id));
            return Ok(None);
        }
        self.processes.wait_for(id).map(Some)
    }

    fn wait_for_background(&mut self, reports: &mut [GuestStepReport]) {
        for (index, id) in std::mem::take(&mut self.background) {
            let ended = self.processes.wait_for(id);
            if let Some(report) = reports.get_mut(index) {
                *report = GuestStepReport { code: ended.as_ref().ok().copied(), error: ended.err() };
            }
        }
    }
}

/// Requests a power cut from the host, and waits for it.
fn cut(code: Option<i32>) -> Result<Option<i32>, String> {
    println!("{CUT} {}", code.map_or("-".to_owned(), |code| code.to_string()));
    std::thread::sleep(CUT_PATIENCE);
    Err("the host did not cut the power".to_owned())
}

fn output(name: Option<&str>) -> Result<Stdio, String> {
    let Some(name) = name else { return Ok(Stdio::inherit()) };
    let path = Path::new(OUT_DIR).join(name);
    File::create(&path).map(Stdio::from).map_err(|error| format!("{}: {error}", path.display()))
}

/// Writes `value` to every file that `pattern` stands for.
fn write_all(pattern: &str, value: &str, optional: bool) -> Result<(), String> {
    let files = expand(pattern);
    if files.is_empty() && !optional {
        return Err(format!("{pattern}: no such file"));
    }
    for file in files {
        // Opened without creating: a setting that the kernel does not have must not become a file.
        let written = File::options().write(true).open(&file);
        let written = written.and_then(|mut file| file.write_all(value.as_bytes()));
        if let Err(error) = written
            && !optional
        {
            return Err(format!("cannot write `{value}` to {}: {error}", file.display()));
        }
    }
    Ok(())
}

/// The files that exist among those that a path with `*` stands for.
fn expand(pattern: &str) -> Vec<PathBuf> {
    let mut found = vec![PathBuf::from("/")];
    for part in pattern.split('/').filter(|part| !part.is_empty()) {
        let Some((start, end)) = part.split_once('*') else {
            found.iter_mut().for_each(|path| path.push(part));
            continue;
        };
        let entries = found.iter().filter_map(|path| std::fs::read_dir(path).ok()).flatten().flatten();
        let matching = entries.filter(|entry| {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            name.len() >= start.len() + end.len() && name.starts_with(start) && name.ends_with(end)
        });
        found = matching.map(|entry| entry.path()).collect();
        found.sort();
    }
    found.retain(|path| path.exists());
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_every_match() {
        let root = tempfile::tempdir().expect("temporary directory");
        for cpu in ["cpu0", "cpu1", "cpu10"] {
            std::fs::create_dir(root.path().join(cpu)).expect("directory");
            std::fs::write(root.path().join(cpu).join("runtime"), "1").expect("file");
        }
        std::fs::write(root.path().join("cpux"), "").expect("file");
        let root = root.path().display().to_string();
        let name = |path: &PathBuf| path.display().to_string().replace(&root, "");
        let expand = |pattern: &str| expand(&format!("{root}{pattern}")).iter().map(name).collect::<Vec<_>>();
        assert_eq!(expand("/cpu*/runtime"), ["/cpu0/runtime", "/cpu1/runtime", "/cpu10/runtime"]);
        assert_eq!(expand("/cpu*0/runtime"), ["/cpu0/runtime", "/cpu10/runtime"]);
        assert_eq!(expand("/cpu0/runtime"), ["/cpu0/runtime"]);
        assert_eq!(expand("/cpu*/period"), Vec::<String>::new());
        assert_eq!(expand("/none*"), Vec::<String>::new());

        write_all(&format!("{root}/cpu*/runtime"), "0", false).expect("writable");
        assert_eq!(std::fs::read_to_string(format!("{root}/cpu10/runtime")).expect("file"), "0");
        write_all(&format!("{root}/none"), "0", true).expect("optional");
        assert!(write_all(&format!("{root}/none"), "0", false).expect_err("missing").contains("/none"));
        assert!(!Path::new(&format!("{root}/none")).exists(), "nothing is created");
    }

    #[test]
    fn programs_report_how_they_ended() {
        // An init waits for every child, and other tests of this process have children of their own.
        const ALONE: &str = "WHYLATE_TEST_ALONE";
        if std::env::var_os(ALONE).is_none() {
            let own = std::env::current_exe().expect("path");
            let test = ["--exact", "guest::steps::tests::programs_report_how_they_ended"];
            let output = Command::new(own).args(test).env(ALONE, "1").output().expect("it starts");
            let stdout = String::from_utf8_lossy(&output.stdout);
            assert!(output.status.success() && stdout.contains("1 passed"), "{stdout}");
            return;
        }
        let program = |script: &str, background| {
            let command = ["/bin/sh", "-c", script].map(str::to_owned).to_vec();
            GuestStep::Run(Program { command, background, ..Program::default() })
        };
        let environment = [("ANSWER".to_owned(), "7".to_owned())];
        let steps = [
            program("sleep 0.05; exit 3", true),
            program("exit $ANSWER", false),
            program("kill -9 $$", false),
            GuestStep::Run(Program { command: vec!["/no/such".into()], ..Program::default() }),
            GuestStep::Run(Program::default()),
            GuestStep::Sleep(1),
            GuestStep::Wait,
            GuestStep::Wait,
        ];
        let reports = Steps::new(&environment).run(&steps);
        let codes: Vec<Option<i32>> = reports.iter().map(|report| report.code).collect();
        assert_eq!(codes, [Some(3), Some(7), Some(137), None, None, None, None, None]);
        let failed: Vec<bool> = reports.iter().map(|report| report.error.is_some()).collect();
        assert_eq!(failed, [false, false, false, true, true, false, false, false]);
    }
}
