//! `whylate lab exec`

use crate::args::{ExecArgs, GuestArgs, OutputArgs};
use crate::exit_status::ExitStatus;
use crate::output::message;
use crate::report::Destination;
use crate::{atomic_file, output, signals, verbs};
use anyhow::{Context, Error, Result, bail};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;
use whylate_lab::job::{GuestStep, OUT_DIR, Program, REPORT_NAME};
use whylate_lab::machine::{PROGRAM_PATH, files_directory, guest_path};
use whylate_lab::{GuestFile, LabError, Machine, Visit, Visited};
use whylate_ledger::Explanation;
use whylate_report::Format;

/// Names among the files that come back.
const TRACE: &str = "trace.dat";
const STDOUT: &str = "stdout.txt";
const STDERR: &str = "stderr.txt";
const CONSOLE: &str = "console.txt";
const EXIT_CODE: &str = "exit-code";

pub(crate) fn run(args: &ExecArgs) -> Result<ExitStatus> {
    let output = OutputArgs::new(if args.json { Format::Json } else { Format::Text }, args.report.clone());
    let destination = Destination::of::<Explanation>(&output, &[])?;
    let visit = visit(args)?;
    let machine = machine(&args.guest)?;
    forget_earlier(&args.output)?;
    let stop = signals::stop_flags()?;
    let visited = machine.run(&visit, &args.output, &stop.asked).map_err(|error| match error {
        LabError::Limit { .. } => Error::new(error).context("it took too long (--limit gives it longer)"),
        error => error.into(),
    })?;
    atomic_file::write(&args.output.join(CONSOLE), |out| Ok(out.write_all(visited.console.as_bytes())?))?;
    let ended = report_run(args, &visited)?;
    if args.no_record {
        output::print(&std::fs::read_to_string(args.output.join(STDOUT)).unwrap_or_default())?;
        return Ok(if ended { ExitStatus::Done } else { ExitStatus::Failed });
    }
    let trace = args.output.join(TRACE);
    let explanation = verbs::explain::explain_recording(&trace, &args.selection).with_context(|| {
        format!("the guest made no recording that can be read; see {}", stderr_path(args).display())
    })?;
    verbs::explain::answer(&explanation, &args.selection, &destination)
}

/// The machine to boot; this program is its init.
fn machine(args: &GuestArgs) -> Result<Machine> {
    let fetching = |name: &str| message!("kernel {name} is not cached: fetching it ...");
    let kernel = whylate_lab::kernels::pick(&args.kernel, args.modules.as_deref(), fetching)?;
    let own = std::env::current_exe().context("cannot find this program")?;
    Ok(Machine {
        cpus: args.cpus,
        time: args.time.into(),
        append: args.append.clone(),
        memory_mib: args.memory,
        limit: Duration::from_nanos(args.limit.0.unsigned_abs()),
        ..Machine::new(kernel, &own)
    })
}

/// Removes what an earlier run left of ours in the directory: it must not pass for this one's. What its program
/// wrote stays until it is written over: the directory is the user's, and so may those files be.
fn forget_earlier(directory: &Path) -> Result<()> {
    for name in [REPORT_NAME, TRACE, STDOUT, STDERR, CONSOLE, EXIT_CODE] {
        let path = directory.join(name);
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                return Err(error).with_context(|| format!("cannot remove {}", path.display()));
            }
            _ => {}
        }
    }
    Ok(())
}

/// What is to be done in the guest.
fn visit(args: &ExecArgs) -> Result<Visit> {
    let Some((program, arguments)) = args.command.split_first() else { bail!("which program?") };
    let directory = files_directory();
    let mut files = Vec::new();
    if let Some(from) = &args.dir {
        files.push(GuestFile { from: from.clone(), to: directory.clone() });
    }
    for file in &args.files {
        files.push(guest_file(file, &directory)?);
    }
    let mut steps = Vec::new();
    for setting in &args.set {
        steps.push(write(setting)?);
    }
    for with in &args.with {
        let mut words = with.split_ascii_whitespace().map(str::to_owned);
        let Some(name) = words.next() else { bail!("--with: which program?") };
        let command = std::iter::once(place(args, &name, &directory, &mut files)?).chain(words).collect();
        let directory = Some(directory.clone());
        steps.push(GuestStep::Run(Program { command, background: true, directory, ..Program::default() }));
    }
    let program = place(args, program, &directory, &mut files)?;
    let mut command = Vec::new();
    if !args.no_record {
        let options = [
            "record",
            "--output",
            &format!("{OUT_DIR}/{TRACE}"),
            "--exit-code",
            &format!("{OUT_DIR}/{EXIT_CODE}"),
            "--",
        ];
        command.push(PROGRAM_PATH.to_owned());
        command.extend(options.map(str::to_owned));
    }
    command.push(program);
    command.extend_from_slice(arguments);
    let (stdout, stderr) = (Some(STDOUT.to_owned()), Some(STDERR.to_owned()));
    let program = Program { command, stdout, stderr, directory: Some(directory), background: false };
    steps.push(GuestStep::Run(program));
    Ok(Visit { files, steps, ..Visit::default() })
}

/// `PATH=VALUE`
fn write(setting: &str) -> Result<GuestStep> {
    match setting.split_once('=') {
        Some((path, value)) if path.starts_with('/') => Ok(GuestStep::Write {
            path: path.trim().to_owned(),
            value: value.trim().to_owned(),
            optional: false,
        }),
        _ => {
            bail!("--set `{setting}`: give the path of a file in the guest and a value: /proc/sys/...=VALUE")
        }
    }
}

/// Puts a program into the guest; returns its path there.
fn place(args: &ExecArgs, program: &str, directory: &str, files: &mut Vec<GuestFile>) -> Result<String> {
    let there = guest_path(directory, program);
    match (&args.dir, find_program(program)) {
        (Some(dir), _) if dir.join(program).is_file() => {
            whylate_lab::check_program(&dir.join(program))?;
            Ok(there)
        }
        // It may be a file that was put there, or one of the directory's programs by its guest path.
        _ if files.iter().any(|file| file.to == there) => Ok(there),
        (_, Some(found)) => {
            whylate_lab::check_program(&found)?;
            let name = found.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            let to = format!("/bin/{name}");
            if !files.iter().any(|file| file.to == to) {
                files.push(GuestFile { from: found, to: to.clone() });
            }
            Ok(to)
        }
        (_, None) => bail!("there is no program `{program}`, neither as a file nor in PATH"),
    }
}

/// A program of this machine, by its path or from PATH.
fn find_program(name: &str) -> Option<PathBuf> {
    if name.contains('/') {
        return Some(PathBuf::from(name)).filter(|path| path.is_file());
    }
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|directory| directory.join(name)).find(|path| path.is_file())
}

/// `HOST[:GUEST]`
fn guest_file(text: &str, directory: &str) -> Result<GuestFile> {
    let (from, to) = match text.split_once(':') {
        Some((from, to)) if !to.is_empty() => (from, to.to_owned()),
        _ => (
            text,
            Path::new(text).file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default(),
        ),
    };
    if from.is_empty() || to.is_empty() {
        bail!("--file `{text}`: give a file, or FILE:PATH for another place in the guest");
    }
    Ok(GuestFile { from: PathBuf::from(from), to: guest_path(directory, &to) })
}

/// How the run went, on standard error. False when the program failed, or could not be run.
fn report_run(args: &ExecArgs, visited: &Visited) -> Result<bool> {
    let step = visited.report.steps.get(args.set.len() + args.with.len());
    let code = match args.no_record {
        true => step.and_then(|step| step.code),
        false => {
            let text = std::fs::read_to_string(args.output.join(EXIT_CODE)).unwrap_or_default();
            let _ = std::fs::remove_file(args.output.join(EXIT_CODE));
            text.trim().parse().ok()
        }
    };
    match (code, step) {
        (Some(0), _) => message!("the program ended with exit code 0"),
        (Some(code), _) => {
            message!("the program ended with exit code {code}; see {}", stderr_path(args).display());
        }
        (None, Some(_)) => {
            message!("the program was not run to its end; see {}", stderr_path(args).display());
        }
        (None, None) => {}
    }
    for note in visited.notes.iter().chain(&visited.report.problems) {
        message!("note: {note}");
    }
    message!(
        "{}: booted in {:.1} s, ran {:.1} s, {:.1} s in all; files are in {}",
        visited.report.kernel,
        visited.boot.as_secs_f64(),
        visited.run.as_secs_f64(),
        visited.total.as_secs_f64(),
        args.output.display()
    );
    // The settings and the programs beside come first.
    for step in &visited.report.steps {
        if let Some(error) = &step.error {
            bail!("the guest {error}");
        }
    }
    if step.is_none() {
        bail!("the guest did not get to the program");
    }
    Ok(code == Some(0))
}

/// Where the program's complaints are.
fn stderr_path(args: &ExecArgs) -> PathBuf {
    args.output.join(STDERR)
}
