//! `whylate explain`

use super::runs;
use crate::args::{ExplainArgs, Selection};
use crate::exit_status::ExitStatus;
use crate::output;
use crate::output::message;
use crate::report::Destination;
use anyhow::{Context, Result, anyhow, bail};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use whylate_base::{Cpu, Ns, Tid};
use whylate_events::EventSource;
use whylate_intake::OpenError;
use whylate_investigate::host_guest::join_host;
use whylate_investigate::peer::{PeerQuestion, join_peer};
use whylate_investigate::watch::{WATCH_FILE, WatchReport};
use whylate_investigate::with_symbols;
use whylate_ledger::{
    Cause, ChainOptions, ChainPattern, Chains, Explanation, Options, WANTED, explain_any, finding_codes,
    finding_page,
};
use whylate_report::explain::Explained;
use whylate_report::{Render, watch};

/// A text with so few events, none of which shows anything, may have them beside a table.
const FEW_EVENTS: u64 = 3;

pub(crate) fn run(args: &ExplainArgs) -> Result<ExitStatus> {
    if let Some(code) = &args.code {
        return print_page(code);
    }
    let Some(file) = &args.file else { bail!("which trace? give a file, or - for standard input") };
    if let Some(report) = kept_watch(file)? {
        if args.host.file.is_some() || args.peer.is_some() {
            bail!(
                "{}: a kept watch is not joined with another recording: give one of its windows",
                file.display()
            );
        }
        return answer_watch(&report, args, file);
    }
    let destination = Destination::of::<Explained<'_>>(&args.output, std::slice::from_ref(file))?;
    args.scope.check()?;
    check_joined("--host", args.host.file.as_deref(), file)?;
    check_joined("--peer", args.peer.as_deref(), file)?;
    let options =
        Options { scope: args.scope.scope(), chains: own_chains(args)?, ..args.selection.options() };
    let mut explanation = match stream(file)? {
        Some((reader, name)) => {
            let (source, copy) = whylate_intake::from_reader_kept(reader, &name, WANTED)?;
            let named = |source| with_symbols(source, &args.symbols);
            explain_any(named(source), &options, || copy.again(WANTED).map(|again| again.map(named)))?
        }
        None => {
            let open = || Ok::<_, anyhow::Error>(with_symbols(open(file)?, &args.symbols));
            explain_any(open()?, &options, || open().map(Some))?
        }
    };
    if let Some(outside) = explanation.scope.as_ref().and_then(|scope| scope.outside.as_ref()) {
        bail!("{}: {outside}", file.display());
    }
    if !explanation.concludes()
        && explanation.lacks_switches()
        && explanation.trace.events <= FEW_EVENTS
        && file.is_file()
        && let Some(what) = runs::is_whole_measurement(file)
    {
        bail!("{what}");
    }
    if let Some(host) = &args.host.file {
        let vcpus: Vec<Tid> = args.host.vcpus.iter().copied().map(Tid).collect();
        join_host(&mut explanation, file, host, &vcpus)?;
    }
    if let Some(peer) = &args.peer {
        let asked = PeerQuestion { chains: args.chains.across(), ..PeerQuestion::default() };
        join_peer(&mut explanation, file, peer, asked)?;
    }
    if let Some(chains) = &explanation.chains {
        refuse_unknown_hops(file, chains)?;
    }
    let status = answer(&explanation, &args.selection, &destination)?;
    let unmatched = explanation.chains.iter().flat_map(|chains| &chains.unmatched);
    let mut is_answered = true;
    for chain in unmatched {
        message!(
            "whylate: cannot tell: {}: no instance of the chain {chain} from its beginning to its end",
            file.display()
        );
        is_answered = false;
    }
    Ok(if is_answered { status } else { status.and(ExitStatus::CannotTell) })
}

/// Both recordings are read several times.
pub(super) fn check_joined(option: &str, other: Option<&Path>, own: &Path) -> Result<()> {
    let Some(other) = other else { return Ok(()) };
    for file in [own, other] {
        if file.as_os_str() == "-" || file.metadata().is_ok_and(|about| !about.is_file() && !about.is_dir()) {
            bail!(
                "{}: with {option} both recordings must be files: they are read several times",
                file.display()
            );
        }
    }
    Ok(())
}

/// What the recording alone is asked about chains.
fn own_chains(args: &ExplainArgs) -> Result<Option<ChainOptions>> {
    let Some(options) = args.chains.options() else { return Ok(None) };
    if args.peer.is_none()
        && let Some(hop) = options.chosen.iter().find_map(ChainPattern::peer_hop)
    {
        bail!("--chain: `{hop}` is a hop of two machines: give the other machine's recording with --peer");
    }
    Ok(args.chains.own())
}

/// A hop that the trace does not have is a mistake in the choice, and no answer.
fn refuse_unknown_hops(file: &Path, chains: &Chains) -> Result<()> {
    let Some(unknown) = chains.unknown.first() else { return Ok(()) };
    let nearest = match unknown.nearest.as_slice() {
        [] => String::new(),
        nearest => format!("; the nearest names are {}", nearest.join(", ")),
    };
    bail!(
        "{}: no thread, interrupt, device, function or callback is called `{}`{nearest}",
        file.display(),
        unknown.hop
    )
}

/// The watch that was kept in a directory; `None`: none was.
fn kept_watch(directory: &Path) -> Result<Option<WatchReport>> {
    let journal = directory.join(WATCH_FILE);
    if !directory.is_dir() || !journal.is_file() {
        return Ok(None);
    }
    let name = journal.display();
    let text = std::fs::read(&journal).with_context(|| format!("cannot read {name}"))?;
    match watch::json::report(&text) {
        Ok(report) => Ok(Some(report)),
        Err(why) => bail!("{name}: it is not the journal of a watch: {why}"),
    }
}

/// Reports a watch that was kept, as its end did.
fn answer_watch(report: &WatchReport, args: &ExplainArgs, directory: &Path) -> Result<ExitStatus> {
    let destination = Destination::of::<WatchReport>(&args.output, &[directory.join(WATCH_FILE)])?;
    if !WatchReport::FORMATS.contains(&destination.format()) {
        bail!(
            "the report of a watch has no format {}: use text, json, html or markdown",
            destination.format().name()
        );
    }
    destination.write(report)?;
    Ok(super::watch::found(report))
}

/// Explains the recording in a file that whylate has just made.
pub(crate) fn explain_recording(recording: &Path, options: &Options) -> Result<Explanation> {
    let source = || whylate_intake::open(recording, WANTED);
    Ok(explain_any(source()?, options, || source().map(Some))?)
}

/// What can be read only once, with its name: standard input, a pipe.
fn stream(path: &Path) -> Result<Option<(Box<dyn Read + Send>, String)>> {
    if path.as_os_str() == "-" {
        return Ok(Some((Box::new(io::stdin()), "standard input".to_owned())));
    }
    let is_stream = path.metadata().is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir());
    let name = path.display().to_string();
    match is_stream {
        true => Ok(Some((Box::new(File::open(path).with_context(|| format!("cannot read {name}"))?), name))),
        false => Ok(None),
    }
}

/// The trace in a file; of a measurement the error names the verbs that read it.
fn open(file: &Path) -> Result<Box<dyn EventSource>> {
    whylate_intake::open(file, WANTED).map_err(|error| match &error {
        OpenError::NoEvents { .. }
        | OpenError::LooksLike { .. }
        | OpenError::QuietKernelLog { .. }
        | OpenError::Binary { .. } => {
            runs::is_measurement(file).map_or_else(|| error.into(), |what| anyhow!("{what}"))
        }
        // Some titles stand above a table as well as above a histogram.
        OpenError::NotRead { .. } | OpenError::Table { .. } | OpenError::KernelLog { .. } => {
            runs::is_whole_measurement(file).map_or_else(|| error.into(), |what| anyhow!("{what}"))
        }
        _ => error.into(),
    })
}

/// Writes an explanation to where it was asked for.
pub(crate) fn answer(
    explanation: &Explanation,
    selection: &Selection,
    destination: &Destination<'_>,
) -> Result<ExitStatus> {
    let fail_on = selection.fail_on.into();
    destination.write(&Explained { explanation, fail_on })?;
    let found = ExitStatus::of(&explanation.findings, fail_on);
    if explanation.candidates.is_some() {
        // The report shows them, and how to choose: whether the threads that are meant were late is not known.
        if selection.deadline.is_some() {
            message!("whylate: --deadline applies to chosen threads only: choose them with --task COMM|TID");
        }
        return Ok(found.and(ExitStatus::CannotTell));
    }
    if explanation.trace.is_without_noise() && explanation.findings.is_empty() {
        message!("whylate: nothing to explain: no CPU of the table lost any time to noise");
        return Ok(found);
    }
    if !explanation.concludes() {
        no_tasks(explanation, selection);
        return Ok(ExitStatus::CannotTell);
    }
    if !explanation.tasks.is_empty() && explanation.shows_no_delays() {
        return Ok(found.and(ExitStatus::CannotTell));
    }
    if selection.markers.markers().is_none() && explanation.shows_no_lateness() {
        message!("whylate: cannot tell: no wake-up was recorded, so how late a thread was is not known");
        return Ok(found.and(ExitStatus::CannotTell));
    }
    Ok(found)
}

/// No thread was there to explain: the user's choice matched none, or the trace has none.
fn no_tasks(explanation: &Explanation, selection: &Selection) {
    let blind = explanation.lacks_switches();
    let part = if explanation.scope.is_some() {
        " in the part of the trace that --from, --to and --cpu select"
    } else {
        ""
    };
    // Where lines of them could not be read, the damage counts them.
    let is_damaged = || explanation.trace.damage.iter().any(|damage| damage.what.contains("of sched_switch"));
    if blind && is_damaged() {
        message!(
            "whylate: cannot tell: no sched_switch event can be read: their fields are cut, or in no known form (see the damage above); \
             give the text with whole lines"
        );
    } else if blind || explanation.trace.events == 0 {
        message!("whylate: cannot tell: the trace has no sched_switch events");
    } else if let Some(markers) = selection.markers.markers() {
        let of = match selection.tasks.as_slice() {
            [] => String::new(),
            tasks => format!(" of {}", tasks.join(" or ")),
        };
        message!(
            "whylate: no activation to explain: no line{of} in trace_marker begins with `{}`{part}",
            markers.begin
        );
    } else if let Some(header) =
        explanation.trace.latency.as_ref().filter(|one| one.tracer.is_wakeup() && one.task.is_none())
    {
        let known = match (header.latency, header.cpu) {
            (Ns::ZERO, _) => String::new(),
            (latency, Cpu::UNKNOWN) => format!(" Known of it: {latency}."),
            (latency, cpu) => format!(" Known of it: {latency} on CPU {cpu}."),
        };
        message!(
            "whylate: cannot tell which thread was late: the header of the latency tracer lacks the line with the thread \
             (`| task: NAME-TID (uid:0 nice:0 policy:1 rt_prio:80)`).{known} Give the text with its whole header"
        );
    } else if selection.tasks.is_empty() {
        message!(
            "whylate: no thread to explain: no real-time thread was active{part}; choose others with --task COMM|TID"
        );
    } else {
        let names = selection.tasks.join(" or ");
        message!("whylate: no thread to explain: no thread called {names} was active{part}");
    }
}

fn print_page(code: &str) -> Result<ExitStatus> {
    let simulated = whylate_simulate::findings::finding_page(code);
    if code == "list" {
        let causes = Cause::ALL.iter().map(|cause| cause.code());
        let simulated = whylate_simulate::findings::finding_codes();
        let list: String =
            causes.chain(finding_codes()).chain(simulated).map(|code| format!("{code}\n")).collect();
        output::print(&list)?;
    } else if let Some(page) = finding_page(code).or(simulated) {
        output::print(page)?;
    } else {
        bail!("`{code}` is neither a cause nor a finding; `whylate explain --code list` names them all");
    }
    Ok(ExitStatus::Done)
}
