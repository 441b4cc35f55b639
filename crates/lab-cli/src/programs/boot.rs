//! From cases to a guest's steps, and from their files to judgements.
//!
//! The programs live in a root of their own, at `/programs` of the guest. `whylate record` runs beside it, and starts a
//! shell in it by the root's own loader.

use super::judge::{judge, of_victims, options};
use super::truth::{self, Figures};
use super::{Case, packages};
use crate::matrix::{End, RunResult, said};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use whylate_lab::job::{GuestStep, Program};
use whylate_lab::machine::PROGRAM_PATH;
use whylate_lab::{GuestFile, Kernel, LabError, Machine, PackageRoot, Store, TimeSource, Visit, Visited};
use whylate_ledger::explain;

/// One boot has at most this many cases: if it fails, all are repeated one by one.
const MOST_CASES: usize = 10;
/// The host's time for a case, and for a boot: far more than they need, on a busy host too.
const LIMIT: (Duration, Duration) = (Duration::from_secs(180), Duration::from_secs(90));
/// MiB: the programs, the recordings and what the cases use.
const MEMORY: u32 = 1536;
/// Characters of a program's standard error that are shown.
const MOST_WORDS: usize = 300;

/// Seconds of the guest's time after which a script is ended: a program that waits for ever must not hold up the others.
const LONGEST: &str = "20";
/// The loader of the programs' root, and where its libraries are.
const LOADER: &str = "/programs/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2";
const LIBRARIES: &str = "/programs/lib/x86_64-linux-gnu:/programs/usr/lib/x86_64-linux-gnu";
/// Functions for the scripts of cases.
const FUNCTIONS: &str = include_str!("../../programs/functions.sh");
/// The guest's own file systems, in the programs' root as well.
const SET_UP: &str = "for dir in dev proc sys tmp run out; do
$0 --library-path $1 /programs/bin/mkdir -p /programs/$dir || exit 1
$0 --library-path $1 /programs/bin/mount -n --rbind /$dir /programs/$dir || exit 1
done
$0 --library-path $1 /programs/bin/ln -sf mawk /programs/usr/bin/awk";
/// Where the set-up reports its errors.
const SET_UP_ERRORS: &str = "set-up.err";
/// After a case: no process and no group of it is left.
const CLEAN_UP: &str =
    "kill -9 -1; sleep 0.1; rmdir /sys/fs/cgroup/*/ 2>/dev/null; rm -rf /tmp/* /dev/shm/*; true";

/// The settings of all cases.
#[derive(Clone, Debug)]
pub struct Programs {
    /// The program under test, `whylate`.
    pub whylate: PathBuf,
    /// The directory for recordings and figures.
    pub keep: PathBuf,
    /// Check whether the faults take place, and explain nothing: a label is written before its answer is known.
    pub truth_only: bool,
}

/// Cases that need the same machine.
#[derive(Clone, Debug)]
pub struct ProgramBoot {
    kernel: Kernel,
    cases: Vec<Arc<Case>>,
}

impl ProgramBoot {
    /// How many cases it runs.
    pub fn count(&self) -> usize {
        self.cases.len()
    }
}

/// The cases on the kernels that they apply to, by boots.
pub fn plan(cases: &[Arc<Case>], kernels: &[Kernel]) -> Vec<ProgramBoot> {
    let mut boots: Vec<ProgramBoot> = Vec::new();
    for kernel in kernels {
        for case in cases.iter().filter(|case| case.applies_to(&kernel.name)) {
            let fits = |boot: &&mut ProgramBoot| {
                // A module that another case needs does no harm, but with other parameters.
                let alike = |other: &Arc<Case>| {
                    (other.cpus, &other.append) == (case.cpus, &case.append) && have_no_conflict(other, case)
                };
                boot.kernel == *kernel && boot.cases.len() < MOST_CASES && boot.cases.iter().all(alike)
            };
            match boots.iter_mut().find(fits) {
                Some(boot) => boot.cases.push(Arc::clone(case)),
                None => boots.push(ProgramBoot { kernel: kernel.clone(), cases: vec![Arc::clone(case)] }),
            }
        }
    }
    boots
}

/// True where no module is loaded by both with different parameters: a boot loads each once.
fn have_no_conflict(one: &Case, other: &Case) -> bool {
    let name = |module: &String| module.split_whitespace().next().map(str::to_owned);
    one.modules
        .iter()
        .all(|module| other.modules.iter().all(|its| name(module) != name(its) || module == its))
}

/// What is kept of a case beside its recording, so that it can be judged again.
#[derive(Debug, Serialize, Deserialize)]
struct Kept {
    case: String,
    kernel: String,
    release: String,
    host_noise: bool,
    code: Option<i32>,
    text: String,
    notes: Vec<String>,
}

/// Runs all boots, one after the other, and reports each case as it ends. The cases of a failed boot are repeated in
/// boots of their own; a second failure is a result with [`End::NoRun`].
///
/// # Errors
/// When the programs cannot be fetched, QEMU is missing, or `stop` became true.
pub fn run(
    boots: Vec<ProgramBoot>,
    programs: &Programs,
    store: &Store,
    stop: &AtomicBool,
    mut report: impl FnMut(&RunResult),
) -> Result<Vec<RunResult>, LabError> {
    let cases: Vec<Case> = super::built_in().unwrap_or_default();
    let mine = boots.iter().flat_map(|boot| &boot.cases).map(|case| case.as_ref().clone());
    let cases: Vec<Case> = cases.into_iter().chain(mine).collect();
    let root = PackageRoot::new(super::SUITE, &packages(&cases)).directory(store)?;
    let mut results = Vec::new();
    let mut done = |result: RunResult| {
        report(&result);
        results.push(result);
    };
    for boot in &boots {
        match one(boot, programs, &root, stop) {
            Ok(results) => results.into_iter().for_each(&mut done),
            Err(error) if is_final(&error) => return Err(error),
            Err(_) => {
                for case in &boot.cases {
                    let alone = ProgramBoot { kernel: boot.kernel.clone(), cases: vec![Arc::clone(case)] };
                    match one(&alone, programs, &root, stop) {
                        Ok(results) => results.into_iter().for_each(&mut done),
                        Err(error) if is_final(&error) => return Err(error),
                        Err(error) => {
                            done(failed(case, &boot.kernel.name, format!("no guest, twice: {error}")))
                        }
                    }
                }
            }
        }
    }
    Ok(results)
}

/// Judges what an earlier run kept in `directory`; no guest is booted.
///
/// # Errors
/// When the directory cannot be read.
pub fn again(
    cases: &[Arc<Case>],
    directory: &Path,
    mut report: impl FnMut(&RunResult),
) -> Result<Vec<RunResult>, LabError> {
    let mut files = Vec::new();
    for kernel in std::fs::read_dir(directory).map_err(LabError::file("read", directory))?.flatten() {
        let inside = std::fs::read_dir(kernel.path()).into_iter().flatten().flatten();
        files.extend(inside.map(|file| file.path()).filter(|path| path.extension() == Some("json".as_ref())));
    }
    files.sort();
    let mut results = Vec::new();
    for file in files {
        let text = std::fs::read(&file).map_err(LabError::file("read", &file))?;
        let kept: Kept =
            serde_json::from_slice(&text).map_err(|error| LabError::file("read", &file)(error.into()))?;
        let Some(case) = cases.iter().find(|case| case.name == kept.case) else { continue };
        if case.applies_to(&kept.kernel) {
            let result = judged(case, &kept, &file.with_extension("dat"), false)
                .unwrap_or_else(|why| failed(case, &kept.kernel, why));
            report(&result);
            results.push(result);
        }
    }
    Ok(results)
}

/// True for an error that a second try or another kernel does not change.
fn is_final(error: &LabError) -> bool {
    matches!(error, LabError::Stopped | LabError::Tool { .. } | LabError::Program { .. })
}

fn one(
    boot: &ProgramBoot,
    programs: &Programs,
    root: &Path,
    stop: &AtomicBool,
) -> Result<Vec<RunResult>, LabError> {
    let Some(first) = boot.cases.first() else { return Ok(Vec::new()) };
    let mut machine = Machine::new(boot.kernel.clone(), &programs.whylate);
    machine.cpus = first.cpus;
    machine.append = first.append.clone();
    machine.memory_mib = MEMORY;
    machine.limit = LIMIT.1 + LIMIT.0 * u32::try_from(boot.cases.len()).unwrap_or(u32::MAX);
    let out = tempfile::Builder::new().prefix("whylate-lab-programs-").tempdir();
    let out = out.map_err(LabError::file("create", &std::env::temp_dir()))?;
    let (visit, places) = visit(boot, root);
    let visited = machine.run(&visit, out.path(), stop)?;
    if visited.report.steps.first().is_none_or(|step| step.code != Some(0)) {
        let errors = std::fs::read_to_string(out.path().join(SET_UP_ERRORS)).unwrap_or_default();
        let reason = format!("the root of the programs could not be set up in it: {}", errors.trim());
        return Err(LabError::Died { reason, console: visited.console });
    }
    let share = visited.total.as_secs_f64() / boot.cases.len() as f64;
    let mut results = Vec::new();
    for (number, case) in boot.cases.iter().enumerate() {
        let result = kept(case, boot, number, places.get(number).copied(), &visited, out.path(), programs);
        let result =
            result.and_then(|(kept, recording)| judged(case, &kept, &recording, programs.truth_only));
        let mut result = result.unwrap_or_else(|why| failed(case, &boot.kernel.name, why));
        result.seconds = share;
        results.push(result);
    }
    Ok(results)
}

/// The job of a boot, and for each case the number of the step that checks its truth.
fn visit(boot: &ProgramBoot, root: &Path) -> (Visit, Vec<usize>) {
    let modules: BTreeSet<&String> = boot.cases.iter().flat_map(|case| &case.modules).collect();
    let modules = modules.into_iter().map(|module| {
        let (name, parameters) = module.split_once(' ').unwrap_or((module, ""));
        (name.to_owned(), parameters.trim().to_owned())
    });
    let set_up = [LOADER, "--library-path", LIBRARIES, "/programs/bin/dash", "-c", SET_UP, LOADER, LIBRARIES];
    let set_up = Program {
        command: set_up.map(str::to_owned).to_vec(),
        stderr: Some(SET_UP_ERRORS.to_owned()),
        ..Program::default()
    };
    let mut steps = vec![GuestStep::Run(set_up)];
    let mut places = Vec::new();
    for (number, case) in boot.cases.iter().enumerate() {
        let shell = |script: &str, directory: &str| {
            let text = format!("{FUNCTIONS}\nmkdir -p {directory} && cd {directory} || exit 125\n{script}\n");
            in_root(&["/usr/bin/timeout", "--signal=KILL", LONGEST, "/bin/bash", "-c", &text])
        };
        let run = |command: Vec<String>, name: &str| {
            let (stdout, stderr) = (Some(format!("c{number}.{name}")), Some(format!("c{number}.{name}.err")));
            GuestStep::Run(Program { command, stdout, stderr, ..Program::default() })
        };
        let directory = "/tmp/case";
        if let Some(control) = &case.control {
            steps.push(run(shell(control, &format!("{directory}/control")), "control"));
        }
        let record = [PROGRAM_PATH, "record", "--output", &format!("/out/c{number}.dat"), "--"];
        let record = record.into_iter().map(str::to_owned).chain(shell(&case.script, directory));
        steps.push(run(record.collect(), "script"));
        places.push(steps.len());
        steps.push(run(shell(case.truth.as_deref().unwrap_or("true"), directory), "truth"));
        // It kills all other processes: as the job's own child, so that the next case begins after its end.
        steps.push(run(in_root(&["/bin/bash", "-c", CLEAN_UP]), "clean-up"));
    }
    let roots = vec![GuestFile { from: root.to_owned(), to: "/programs".to_owned() }];
    (Visit { modules: modules.collect(), steps, roots, ..Visit::default() }, places)
}

/// A command in the programs' root.
fn in_root(command: &[&str]) -> Vec<String> {
    let entry = [LOADER, "--library-path", LIBRARIES, "/programs/usr/sbin/chroot", "/programs"];
    entry.iter().chain(command).map(|&word| word.to_owned()).collect()
}

/// Keeps a case's recording and figures as `KERNEL/CASE.dat` and `.json`.
fn kept(
    case: &Case,
    boot: &ProgramBoot,
    number: usize,
    place: Option<usize>,
    visited: &Visited,
    out: &Path,
    programs: &Programs,
) -> Result<(Kept, PathBuf), String> {
    let read =
        |name: &str| std::fs::read_to_string(out.join(format!("c{number}.{name}"))).unwrap_or_default();
    let from = out.join(format!("c{number}.dat"));
    if !from.is_file() {
        let errors: String = read("script.err").trim().chars().take(MOST_WORDS).collect();
        return Err(format!("no recording: {errors}"));
    }
    let step = place.and_then(|place| visited.report.steps.get(place));
    let errors: String = read("truth.err").trim().chars().take(MOST_WORDS).collect();
    let kept = Kept {
        case: case.name.clone(),
        kernel: boot.kernel.name.clone(),
        release: visited.report.kernel.split(' ').next().unwrap_or_default().to_owned(),
        host_noise: visited.time == TimeSource::Free || case.cpus > 1,
        code: step.and_then(|step| step.code),
        text: format!("{}\n{errors}", read("truth")),
        notes: visited.notes.iter().chain(&visited.report.problems).cloned().collect(),
    };
    let directory = programs.keep.join(&boot.kernel.name);
    let write = || {
        std::fs::create_dir_all(&directory)?;
        let recording = directory.join(format!("{}.dat", case.name));
        std::fs::copy(&from, &recording)?;
        std::fs::write(recording.with_extension("json"), serde_json::to_vec_pretty(&kept)?)?;
        for name in ["script", "script.err", "truth.err", "control"] {
            std::fs::write(directory.join(format!("{}.{name}", case.name)), read(name))?;
        }
        Ok(recording)
    };
    let recording = write().map_err(|error: std::io::Error| format!("{}: {error}", directory.display()))?;
    Ok((kept, recording))
}

fn judged(case: &Case, kept: &Kept, recording: &Path, truth_only: bool) -> Result<RunResult, String> {
    let figures = Figures { code: kept.code, text: kept.text.clone() };
    let truth = truth::of(case, &kept.kernel, &figures, recording);
    let mut result = failed(case, &kept.kernel, String::new());
    result.release.clone_from(&kept.release);
    result.recording = Some(recording.to_owned());
    result.notes = truth.words.into_iter().chain(kept.notes.iter().cloned()).collect();
    result.end = if truth.holds { End::Right } else { End::NotProvoked };
    if truth_only {
        return Ok(result);
    }
    let source =
        || whylate_intake::open(recording, whylate_ledger::WANTED).map_err(|error| error.to_string());
    let mut explanation = explain(source()?, &options(case));
    if let Some(options) = of_victims(case, &explanation) {
        explanation = explain(source()?, &options);
    }
    let judgement = judge(case, &kept.kernel, &explanation, kept.host_noise);
    if truth.holds {
        result.end = End::from(judgement.outcome);
    }
    result.late_jobs = judgement.jobs.len() as u64;
    result.causes_right = judgement.causes_right() && judgement.missing_findings.is_empty();
    result.culprits_right = judgement.culprits_right() && judgement.missing_findings.is_empty();
    result.said = said(&judgement);
    result.judgement = Some(judgement);
    Ok(result)
}

/// Of a case that did not run.
fn failed(case: &Case, kernel: &str, why: String) -> RunResult {
    let first = case.faults_on(kernel).next().and_then(|fault| fault.causes.first());
    let expected = first.cloned().unwrap_or_else(|| "nothing".to_owned());
    RunResult { programs: case.programs.clone(), ..RunResult::no_run(&case.name, kernel, expected, why) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cases_share_a_boot_unless_a_module_has_other_parameters() {
        let slow = "null_blk completion_nsec=4000000";
        let case = |modules: &[&str]| {
            let modules: Vec<String> = modules.iter().map(|module| format!("{module:?}")).collect();
            let text = format!(
                "title = \"a\"\nprograms = []\npackages = []\nmodules = [{}]\nvictims = []\nscript = \"\"\n",
                modules.join(", ")
            );
            Arc::new(toml::from_str::<Case>(&text).expect("a case"))
        };
        let kernel = Kernel {
            name: "6.1".to_owned(),
            release: "6.1.0".to_owned(),
            preempt_rt: false,
            arch: whylate_lab::Arch::X86_64,
            image: "/k".into(),
            modules: None,
        };
        let boots = |cases: &[Arc<Case>]| -> Vec<usize> {
            plan(cases, std::slice::from_ref(&kernel)).iter().map(ProgramBoot::count).collect()
        };
        assert_eq!(boots(&[case(&[slow]), case(&["veth"]), case(&[slow, "loop"])]), [3]);
        assert_eq!(boots(&[case(&[slow]), case(&["null_blk completion_nsec=0"]), case(&[])]), [2, 1]);
    }
}
