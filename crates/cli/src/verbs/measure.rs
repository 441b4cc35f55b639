//! `whylate measure`

mod histogram;

use crate::args::{LoadArgs, MeasureArgs};
use crate::exit_status::ExitStatus;
use crate::live::Audience;
use crate::output::message;
use crate::output_errors::OutputErrors;
use crate::own_tables::OwnTables;
use crate::report::Destination;
use crate::{atomic_file, exports, output, signals};
use anyhow::{Context, Error, Result, bail};
use std::path::Path;
use whylate_investigate::measure::{
    Keeping, Loading, MeasureOptions, MeasureReport, Progress, measure, measure_phases,
};
use whylate_probes::load::{self, Launcher, Load};
use whylate_probes::{Probe, ProbeKind};
use whylate_report::{Format, Render, Style, measure};

pub(crate) fn run(args: &MeasureArgs) -> Result<ExitStatus> {
    let stop = signals::stop_flags()?;
    let probe = Probe { worst: args.flight.worst.into(), ..args.probe.probe()? };
    let options = MeasureOptions {
        probe,
        duration: args.probe.duration(),
        trace: !args.no_trace,
        stacks: args.flight.stacks(),
        buffer_kib: args.buffer,
        loading: if args.load.phases.is_none() { loading(&args.load, "")? } else { None },
        keep: args.flight.keep.as_ref().map(|directory| Keeping { directory: directory.clone(), journal }),
        dma_latency: args.flight.dma_latency,
        observer: args.flight.observer,
        claim: args.flight.claim(),
        deadline: args.probe.judged_deadline(),
    };
    let mut reported = ReportedNews::default();
    exports::check(&args.exports.files)?;
    args.probe.histfile.as_deref().map_or(Ok(()), atomic_file::check)?;
    let destination = Destination::of::<MeasureReport>(&args.output, &[])?;
    let tables = args.exports.tables.as_deref().map(OwnTables::open).transpose()?;
    let mut audience = Audience::gather(args)?;
    let mut progress = |progress: Progress<'_>| audience.show(&progress, reported.news(&progress));
    let report = match &args.load.phases {
        None => measure(&options, &stop.asked, &mut progress)?,
        Some(phases) => {
            let stress = loading(&args.load, STRESS)?.context("the phase stress has no load")?;
            measure_phases(&options, &phases.0, &stress, &stop.asked, &mut progress)?
                .context("no phase was measured")?
        }
    };
    drop(audience);
    write(args, &report, &destination, tables.as_ref())?;
    if let Some(noise) = noise(&report) {
        message!("whylate: {noise}");
    }
    let over = report.phases.iter().map(|phase| phase.over_threshold).chain([report.over_threshold]);
    if over.flatten().any(|count| count > 0) {
        return Ok(ExitStatus::Found);
    }
    let mut outcome = ExitStatus::of(&report.findings, args.fail_on.into());
    // Without a gap a CPU was never interrupted; without a wake-up nothing is known of them.
    let may_be_empty = matches!(report.probe.kind, ProbeKind::Busy { .. } | ProbeKind::Hwlat { .. });
    if !may_be_empty && report.cpus.iter().all(|cpu| cpu.histogram.count() == 0) {
        outcome = outcome.and(ExitStatus::CannotTell);
    }
    if let Some(answer) = &report.deadline {
        outcome = outcome.and(match answer.is_kept {
            Some(true) => ExitStatus::Done,
            Some(false) => ExitStatus::Found,
            None => ExitStatus::CannotTell,
        });
    }
    let claims = args.flight.claim.map(|_| report.tail.as_ref().and_then(|tail| tail.claim.as_ref()));
    Ok(claims
        .map_or(outcome, |claimed| outcome.and(ExitStatus::of_claim(claimed.map(|claimed| claimed.answer)))))
}

/// Writes the measurement to each output: what was measured cannot be measured again.
fn write(
    args: &MeasureArgs,
    report: &MeasureReport,
    destination: &Destination<'_>,
    tables: Option<&OwnTables>,
) -> Result<()> {
    let mut errors = OutputErrors::default();
    errors.collect(destination.write(report));
    let is_text = destination.format() == Format::Text;
    let file = args.probe.histfile.as_deref();
    if let Some((upto, sum)) = args.probe.histogram().filter(|_| is_text || file.is_some()) {
        let text = histogram::text(report.run(), upto, sum).map_err(Error::from);
        errors.collect(text.and_then(|text| write_histogram(&text, file)));
    }
    for export in &args.exports.files {
        errors.collect(exports::write(export, report));
    }
    if let Some(tables) = tables {
        errors.collect(add(tables, report));
    }
    errors.into_result()
}

/// The bytes of --json: a file with them is the same input.
fn add(tables: &OwnTables, report: &MeasureReport) -> Result<()> {
    let mut document = Vec::new();
    if let Some(rendered) = report.render(Format::Json, &Style::default()) {
        rendered.write(&mut document)?;
    }
    tables.add("measure", &document)
}

/// To the file of --histfile, or to standard output.
fn write_histogram(text: &str, file: Option<&Path>) -> Result<()> {
    let Some(path) = file else { return output::print(text) };
    atomic_file::write(path, |out| Ok(out.write_all(text.as_bytes())?))?;
    message!("histogram: {}", path.display());
    Ok(())
}

/// A threshold that tells nothing apart; not where the first sample beyond it was to end the measurement.
fn noise(report: &MeasureReport) -> Option<String> {
    let (over, threshold) = (report.over_threshold?, report.probe.threshold?);
    let all = report.run().all();
    let usual = all.percentile(0.5).filter(|_| over > all.count() / 2 && !report.probe.stop_at_threshold)?;
    Some(format!(
        "the threshold of {threshold} is below what is usual here: {over} of {} {}s were at least that late, half of all \
         by {usual} or more; a higher one tells the late ones apart",
        all.count(),
        report.probe.sample(),
    ))
}

/// The loads of the phase stress, unless others are named.
const STRESS: &str = "cpu,memory,cache,io,net,fork,timer";

/// The loads that are named, otherwise those of `default`.
fn loading(args: &LoadArgs, default: &str) -> Result<Option<Loading>> {
    let mut loads: Vec<Load> = args.load.iter().flat_map(|list| list.0.clone()).collect();
    if loads.is_empty() && !default.is_empty() {
        loads = load::parse(default)?;
    }
    if loads.is_empty() {
        return match args.load_cpus {
            Some(_) => bail!("--load-cpus chooses where loads run: add --load or --phases"),
            None => Ok(None),
        };
    }
    // Not its path: that may have another program by now.
    let launcher = Launcher { program: "/proc/self/exe".into(), arguments: vec!["load-worker".into()] };
    Ok(Some(Loading { loads, cpus: args.load_cpus.clone(), launcher }))
}

/// The journal of a run that goes on: the document that it will write at its end, as far as it is.
fn journal(report: &MeasureReport) -> Vec<u8> {
    measure::json::render(report).to_string().into_bytes()
}

/// What has been reported while it runs: each item once.
#[derive(Default)]
struct ReportedNews {
    dead: Vec<String>,
    unsaved: bool,
}

impl ReportedNews {
    fn news(&mut self, progress: &Progress<'_>) -> Vec<String> {
        let mut news = Vec::new();
        for load in progress.loads {
            if let Some(died) = load.died.as_ref().filter(|_| !self.dead.contains(&load.name)) {
                news.push(format!("the load {} does not run any more: {died}", load.name));
                self.dead.push(load.name.clone());
            }
        }
        if let Some(failure) = progress.spike_log.failure().filter(|_| !self.unsaved) {
            news.push(format!("cannot save {failure}; measuring goes on"));
            self.unsaved = true;
        }
        news
    }
}
