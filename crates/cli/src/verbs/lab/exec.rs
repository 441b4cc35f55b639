//! `whylate lab exec`

use super::host_too::{HOST_TRACE, HostRecorder};
use super::names::{CONSOLE, EXIT_CODE, STDERR, STDOUT, TRACE};
use super::peer::{PEER, Peer};
use super::proof::{self, Proof};
use crate::args::{ExecArgs, GuestArgs, GuestTime, OutputArgs};
use crate::exit_status::ExitStatus;
use crate::output::message;
use crate::report::Destination;
use crate::{atomic_file, output, signals, verbs};
use anyhow::{Context, Error, Result, bail};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;
use whylate_base::printable;
use whylate_investigate::host_guest::join_host;
use whylate_investigate::peer::{PeerQuestion, join_peer};
use whylate_lab::job::{GuestStep, OUT_DIR, Program, REPORT_NAME};
use whylate_lab::machine::{PROGRAM_PATH, files_directory, guest_path};
use whylate_lab::{Arch, GuestFile, LabError, Machine, TimeSource, Visit, Visited, companions, find_program};
use whylate_report::Format;
use whylate_report::explain::Explained;

/// Longer arguments are no scripts.
const LONGEST_SCRIPT: u64 = 1 << 20;

pub(crate) fn run(args: &ExecArgs) -> Result<ExitStatus> {
    let output = OutputArgs::new(if args.json { Format::Json } else { Format::Text }, args.report.clone());
    let destination = Destination::of::<Explained<'_>>(&output, &[])?;
    let arch = whylate_lab::kernels::arch_of(&args.guest.kernel, args.guest.arch);
    let visit = visit(args, arch, &args.command, &args.with)?;
    let peer = peer(args, arch)?;
    let machine = machine(args)?;
    forget_earlier(&args.output)?;
    let stop = signals::stop_flags()?;
    let host = args.host_too.then(|| HostRecorder::start(&args.output)).transpose()?;
    let may_be_qemu = machine.cpus > 1 || machine.time == whylate_lab::TimeSource::Free;
    let explain = |error| explained(error, may_be_qemu);
    let visited = match &peer {
        None => machine.run(&visit.visit, &args.output, &stop.asked).map_err(explain)?,
        Some(peer) => peer.run(&machine, &visit.visit, &args.output, &stop.asked).map_err(explain)?,
    };
    let host = host.map(HostRecorder::finish).transpose()?;
    let code = report_run(args, &visit.notes, &visited)?;
    let console = args.output.join(CONSOLE);
    if let Err(error) = atomic_file::write(&console, |out| Ok(out.write_all(visited.console.as_bytes())?)) {
        message!("{error:#}; the report does not need it");
    }
    if args.prove.is_some() {
        return proven(args, &visited, code);
    }
    // Where a document is written it stays in its file.
    if visited.interrupted && !args.no_record && !args.json {
        output::print(&std::fs::read_to_string(args.output.join(STDOUT)).unwrap_or_default())?;
    }
    if args.no_record {
        output::print(&std::fs::read_to_string(args.output.join(STDOUT)).unwrap_or_default())?;
        let ended = code == Some(0) && !visited.interrupted;
        return Ok(if ended { ExitStatus::Done } else { ExitStatus::Failed });
    }
    let trace = args.output.join(TRACE);
    let mut explanation =
        verbs::explain::explain_recording(&trace, &args.selection.options()).with_context(|| {
            format!("the guest made no recording that can be read; see {}", stderr_path(args).display())
        })?;
    let joined = host.map(|host| join_host(&mut explanation, &trace, &host, &[])).transpose();
    let peer = peer
        .map(|peer| join_peer(&mut explanation, &trace, &peer.trace(), PeerQuestion::default()))
        .transpose();
    let answer = verbs::explain::answer(&explanation, &args.selection, &destination)?;
    // The guest's own answer stands without the other's.
    joined?;
    peer?;
    Ok(if visited.interrupted { ExitStatus::Failed } else { answer })
}

/// The second guest; `None`: there is none.
fn peer(args: &ExecArgs, arch: Arch) -> Result<Option<Peer>> {
    let Some(command) = &args.peer else { return Ok(None) };
    let command: Vec<String> = command.split_ascii_whitespace().map(str::to_owned).collect();
    let out = args.output.join(PEER);
    let PlannedVisit { visit, notes } = visit(args, arch, &command, &args.peer_with)?;
    forget_earlier(&out)?;
    Ok(Some(Peer { visit, notes, out }))
}

/// Prints the guest's report, or why there is none.
fn proven(args: &ExecArgs, visited: &Visited, code: Option<i32>) -> Result<ExitStatus> {
    output::print(&std::fs::read_to_string(args.output.join(STDOUT)).unwrap_or_default())?;
    let status = if visited.interrupted { ExitStatus::Failed } else { proof::status(code) };
    if status == ExitStatus::Failed {
        let errors = std::fs::read_to_string(stderr_path(args)).unwrap_or_default();
        errors.lines().for_each(|line| message!("{}", printable(line)));
    }
    Ok(status)
}

/// What to do about a guest that did not get to its end. `may_be_qemu`: its setting is one in which QEMU itself fails at times.
fn explained(error: LabError, may_be_qemu: bool) -> Error {
    match error {
        LabError::Limit { .. } => Error::new(error).context(
            "its programs did not end when they were interrupted at the limit (--limit gives them longer)",
        ),
        LabError::Died { .. } | LabError::Qemu { .. } if may_be_qemu => Error::new(error).context(
            "if the program cannot have caused it, run it once more: QEMU's multi-threaded emulation (several CPUs, or \
             --time free) itself fails at times, under QEMU 7.2 in 1 of 30 boots",
        ),
        error => error.into(),
    }
}

/// The machine to boot; `whylate` is its init.
fn machine(args: &ExecArgs) -> Result<Machine> {
    let time = time(args)?;
    let args = &args.guest;
    let fetching = |name: &str| message!("kernel {name} is not cached: fetching it ...");
    let arch = whylate_lab::kernels::arch_of(&args.kernel, args.arch);
    // First: a fetch takes minutes.
    let program = guest_program(args, arch)?;
    let kernel = whylate_lab::kernels::pick(&args.kernel, args.arch, args.modules.as_deref(), fetching)?;
    Ok(Machine {
        cpus: args.cpus,
        interrupt: true,
        time: time.into(),
        append: args.append.clone(),
        memory_mib: args.memory,
        limit: Duration::from_nanos(args.limit.0.unsigned_abs()),
        ..Machine::new(kernel, &program)
    })
}

/// The source of the guest's time: the host's where both are recorded.
fn time(args: &ExecArgs) -> Result<GuestTime> {
    if args.guest.time == Some(GuestTime::Virtual) && args.peer.is_some() {
        bail!(
            "--peer needs --time free: in virtual time each guest has a clock of its own that runs when its emulator does, and \
             packets between them would arrive at any time"
        );
    }
    match (args.guest.time, args.host_too || args.peer.is_some()) {
        (Some(GuestTime::Virtual), true) => bail!(
            "--host-too needs --time free: in virtual time the guest's clock stands still while this machine does something \
             else, and so cannot be joined with this machine's"
        ),
        (Some(time), _) => Ok(time),
        (None, true) => Ok(GuestTime::Free),
        (None, false) => Ok(GuestTime::Virtual),
    }
}

/// The guest's whylate.
fn guest_program(args: &GuestArgs, arch: Arch) -> Result<PathBuf> {
    let own = std::env::current_exe().context("cannot find this program")?;
    let program = match &args.whylate {
        Some(given) => given.clone(),
        None if arch == Arch::native() => own,
        None => {
            let places = arch.places_of(&own, "whylate");
            match places.iter().find(|place| place.is_file()) {
                Some(found) => found.clone(),
                None => bail!(
                    "there is no whylate for {arch}, which records in the guest: not at {}; build one (in the sources of \
                     whylate: cargo xtask cross {arch} --release), and give it with --whylate FILE",
                    places.iter().map(|place| place.display().to_string()).collect::<Vec<_>>().join(", ")
                ),
            }
        }
    };
    whylate_lab::check_program(&program, arch)?;
    Ok(program)
}

/// Removes what an earlier run left of ours in the directory: it must not pass for this one's. What its program
/// wrote stays until it is written over: the directory is the user's, and so may those files be.
fn forget_earlier(directory: &Path) -> Result<()> {
    for name in [REPORT_NAME, TRACE, HOST_TRACE, STDOUT, STDERR, CONSOLE, EXIT_CODE] {
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

/// What is to be done in the guest, and what the user should know of it.
struct PlannedVisit {
    visit: Visit,
    notes: Vec<String>,
}

/// What is to be done in the guest.
fn visit(args: &ExecArgs, arch: Arch, command: &[String], beside: &[String]) -> Result<PlannedVisit> {
    let Some((program, arguments)) = command.split_first() else { bail!("which program?") };
    let directory = files_directory();
    let mut files = Vec::new();
    if let Some(from) = &args.dir {
        files.push(GuestFile { from: from.clone(), to: directory.clone() });
    }
    for file in &args.files {
        files.push(guest_file(file, &directory)?);
    }
    let (mut steps, mut notes) = (Vec::new(), Vec::new());
    for setting in &args.set {
        steps.push(write(setting)?);
    }
    for with in beside {
        let words: Vec<String> = with.split_ascii_whitespace().map(str::to_owned).collect();
        let Some((name, rest)) = words.split_first() else { bail!("--with: which program?") };
        let path = place(args, arch, (name, rest), &directory, &mut files, &mut notes)?;
        let command = [&[path], rest].concat();
        let directory = Some(directory.clone());
        steps.push(GuestStep::Run(Program { command, background: true, directory, ..Program::default() }));
    }
    let program = place(args, arch, (program, arguments), &directory, &mut files, &mut notes)?;
    let mut command = Vec::new();
    if let Some(options) = &args.prove {
        let proof = Proof::of(options, args.json, arch)?;
        files.extend(proof.files);
        command.push(PROGRAM_PATH.to_owned());
        command.extend(proof.arguments);
        command.push("--".to_owned());
    } else if !args.no_record {
        let options = [
            "record",
            "--output",
            &format!("{OUT_DIR}/{TRACE}"),
            "--exit-code",
            &format!("{OUT_DIR}/{EXIT_CODE}"),
        ];
        command.push(PROGRAM_PATH.to_owned());
        command.extend(options.map(str::to_owned));
        command.extend(args.buffer.iter().flat_map(|kib| ["--buffer".to_owned(), kib.to_string()]));
        command.push("--".to_owned());
    }
    command.push(program);
    command.extend_from_slice(arguments);
    let (stdout, stderr) = (Some(STDOUT.to_owned()), Some(STDERR.to_owned()));
    let program = Program { command, stdout, stderr, directory: Some(directory), background: false };
    steps.push(GuestStep::Run(program));
    notes.dedup();
    Ok(PlannedVisit { visit: Visit { files, steps, ..Visit::default() }, notes })
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

/// Puts a program into the guest, with what it needs beside; returns its path there.
fn place(
    args: &ExecArgs,
    arch: Arch,
    (program, arguments): (&str, &[String]),
    directory: &str,
    files: &mut Vec<GuestFile>,
    notes: &mut Vec<String>,
) -> Result<String> {
    if program == PROGRAM_PATH && !Path::new(program).exists() {
        return Ok(program.to_owned());
    }
    let there = guest_path(directory, program);
    let of_directory = args.dir.as_ref().map(|dir| dir.join(program)).filter(|path| path.is_file());
    let given = files.iter().find(|file| file.to == there).map(|file| file.from.clone());
    let (host, to) = match (of_directory, given, find_program(program)) {
        (Some(own), _, _) => (own, there),
        // It may be a file that was put there, or one of the directory's programs by its guest path.
        (None, Some(given), _) if given.is_file() => (given, there),
        (None, Some(_), _) => return Ok(there),
        (None, None, Some(found)) => {
            let name = found.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            (found, format!("/bin/{name}"))
        }
        (None, None, None) => bail!("there is no program `{program}`, neither as a file nor in PATH"),
    };
    let found = companions(&host, &texts(args, arguments), arch)?;
    notes.extend(found.notes);
    let own = GuestFile { from: found.program, to: to.clone() };
    for file in std::iter::once(own).chain(found.files) {
        if !files.iter().any(|there| there.to == file.to) {
            files.push(file);
        }
    }
    Ok(to)
}

/// A program's arguments, and the texts of the scripts that are among them.
fn texts(args: &ExecArgs, arguments: &[String]) -> Vec<String> {
    let scripts = arguments.iter().filter(|argument| !argument.starts_with('-')).filter_map(|argument| {
        let given =
            args.files.iter().map(|file| file.split_once(':').map_or(file.as_str(), |(from, _)| from));
        let given = given.filter(|from| Path::new(from).file_name() == Path::new(argument).file_name());
        let own = args.dir.iter().map(|dir| dir.join(argument));
        let path = own.chain(given.map(PathBuf::from)).find(|path| path.is_file())?;
        let is_short = path.metadata().is_ok_and(|about| about.len() < LONGEST_SCRIPT);
        std::fs::read_to_string(path).ok().filter(|_| is_short)
    });
    arguments.iter().cloned().chain(scripts).collect()
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

/// How the run went, on standard error: the program's exit code first, which is returned; `None`: it was not run to its end.
fn report_run(args: &ExecArgs, notes: &[String], visited: &Visited) -> Result<Option<i32>> {
    let step = visited.report.steps.get(args.set.len() + args.with.len());
    let records = !args.no_record && args.prove.is_none();
    let code = match !records {
        true => step.and_then(|step| step.code),
        false => {
            let text = std::fs::read_to_string(args.output.join(EXIT_CODE)).unwrap_or_default();
            let _ = std::fs::remove_file(args.output.join(EXIT_CODE));
            text.trim().parse().ok()
        }
    };
    let see = stderr_path(args).display().to_string();
    let what = if args.prove.is_some() { "`whylate prove`" } else { "the program" };
    match (code, step) {
        _ if visited.interrupted => message!("{what} was interrupted at the limit (--limit); see {see}"),
        (Some(0), _) => message!("{what} ended with exit code 0"),
        (Some(code), _) => message!("{what} ended with exit code {code}; see {see}"),
        (None, Some(_)) => message!("{what} was not run to its end; see {see}"),
        (None, None) => {}
    }
    // The recorder's own code: that of the program is in its file.
    if records && code.is_some() && step.is_some_and(|step| step.code != Some(0)) {
        message!("the recording is not whole; see {see}");
    }
    let ended = code == Some(0) && !visited.interrupted;
    let errors = std::fs::read_to_string(stderr_path(args)).unwrap_or_default();
    if let Some(line) = errors.lines().find(|line| !ended && is_of_missing_file(line)) {
        message!(
            "`{}`: bring what is missing with --file HOST:GUEST, or a directory with --dir",
            printable(line.trim())
        );
    }
    if args.guest.cpus > 1 && visited.time == TimeSource::Virtual {
        message!(
            "note: in virtual time the emulator runs one CPU at a time, so each of the {} stands still while another runs: \
             the cause `stolen` is then the emulator's, not the program's or the kernel's",
            args.guest.cpus
        );
    }
    for note in notes.iter().chain(&visited.notes).chain(&visited.report.problems) {
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
    Ok(code)
}

/// Whether a program complains of something that the guest does not have: a plug-in, a module, a tool, a file.
fn is_of_missing_file(line: &str) -> bool {
    let texts = [
        "cannot open shared object file",
        "No module named",
        "not found",
        "No such file or directory",
        "cannot load",
    ];
    texts.iter().any(|text| line.contains(text))
}

/// Where the program's complaints are.
fn stderr_path(args: &ExecArgs) -> PathBuf {
    args.output.join(STDERR)
}
