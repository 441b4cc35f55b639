//! `whylate record`

use crate::args::RecordArgs;
use crate::exit_status::ExitStatus;
use crate::output::message;
use crate::output_errors::OutputErrors;
use crate::report::Destination;
use crate::{atomic_file, signals, verbs};
use anyhow::{Context, Result, bail};
use std::os::unix::process::ExitStatusExt;
use std::time::Duration;
use whylate_base::Ns;
use whylate_investigate::record::{RecordOptions, RecordReport, SessionOptions, StackOptions, record};
use whylate_report::explain::Explained;
use whylate_stacks::{ClockPeriod, DEFAULT_PERIOD};

pub(crate) fn run(args: &RecordArgs) -> Result<ExitStatus> {
    let output = args.report();
    let destination = Destination::of::<Explained<'_>>(&output, &[])?;
    let selection = &args.selection;
    let chooses = !selection.tasks.is_empty() || selection.deadline.is_some();
    let markers = selection.markers.markers();
    if !args.explain && (chooses || markers.is_some()) {
        bail!("--task, --deadline and --begin-marker choose what is explained: add --explain");
    }
    let stop = signals::stop_flags()?;
    let options = RecordOptions {
        output: args.output.clone(),
        duration: args.duration.map(|Ns(ns)| Duration::from_nanos(ns.unsigned_abs())),
        user: args.user.clone(),
        processes: Vec::new(),
        command: (!args.command.is_empty()).then(|| args.command.clone()),
        command_to_stderr: args.explain && destination.is_for_programs(),
        stacks: args.stacks.then(|| StackOptions {
            period: args.stack_period.map_or(DEFAULT_PERIOD, ClockPeriod::Exactly),
            symbols: args.symbols.clone(),
            ..StackOptions::default()
        }),
        session: SessionOptions {
            clock: args.clock.clone(),
            buffer_kib: args.buffer,
            cpus: args.cpus.clone(),
            functions: args.functions.as_ref().map(|names| named(names)),
            extra_events: args.events.clone(),
            symbols: !args.no_symbols,
            markers: markers.is_some(),
            at: args.probe.place(&args.command, &args.selection.tasks)?,
            ..SessionOptions::default()
        },
    };
    match (&options.command, options.duration) {
        (None, None) => message!("recording until Ctrl-C ..."),
        (None, Some(duration)) => message!("recording for {} ...", Ns(duration.as_nanos() as i64)),
        (Some(_), _) => {}
    }
    let report = record(&options, &stop)?;
    report_recording(&report);
    let mut errors = OutputErrors::default();
    if let (Some(path), Some(status)) = (&args.exit_code, report.child) {
        let code = status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0));
        errors.collect(atomic_file::write(path, |out| Ok(writeln!(out, "{code}")?)).map(drop));
    }
    let is_whole = report.ended_early.is_none();
    if !args.explain {
        errors.into_result()?;
        return Ok(if is_whole { ExitStatus::Done } else { ExitStatus::Failed });
    }
    let explanation = verbs::explain::explain_recording(&report.path, &args.selection.options())
        .context("cannot read the recording back")?;
    let answer = verbs::explain::answer(&explanation, &args.selection, &destination)?;
    errors.into_result()?;
    Ok(if is_whole { answer } else { ExitStatus::Failed })
}

/// The names that were given: none stands for all.
fn named(names: &[String]) -> Vec<String> {
    names.iter().filter(|name| !name.is_empty()).cloned().collect()
}

/// What was recorded, on standard error: standard output is for answers.
pub(super) fn report_recording(report: &RecordReport) {
    let events: u64 = report.cpus.iter().map(|cpu| cpu.events).sum();
    let lost: u64 = report.cpus.iter().map(|cpu| cpu.lost).sum();
    let cpus = report
        .only
        .as_ref()
        .map_or_else(|| format!("{} CPUs", report.cpus.len()), |only| format!("CPUs {only}"));
    message!(
        "{}: {events} events of {cpus} in {}, {:.1} MB, clock {}",
        report.path.display(),
        report.duration,
        report.bytes as f64 / 1e6,
        report.clock
    );
    if lost > 0 {
        let where_lost: Vec<String> = report
            .cpus
            .iter()
            .filter(|cpu| cpu.lost > 0)
            .map(|cpu| format!("{} on CPU {}", cpu.lost, cpu.cpu))
            .collect();
        message!(
            "{lost} events were lost ({}): record with a larger --buffer, or fewer events",
            where_lost.join(", ")
        );
    }
    if let Some(stacks) = &report.stacks {
        let cost = stacks.cost.map(|cost| format!(", which took about {cost} of the sampled threads' time"));
        message!("{} call stacks{}", stacks.samples.len(), cost.unwrap_or_default());
    }
    if report.only.is_some() {
        message!(
            "note: wake-ups by other CPUs are not recorded, nor is what threads do there: `whylate explain --code \
             cpus-not-recorded` lists what a report cannot show then"
        );
    }
    if let Some(why) = &report.ended_early {
        message!(
            "the recording ended early, and has the events until then: {why}; free some space, or name a file on another \
             disk (-o)"
        );
    }
    for note in &report.notes {
        message!("note: {note}");
    }
    if let Some(status) = report.child.filter(|status| !status.success()) {
        message!("note: the command ended with {status}");
    }
}
