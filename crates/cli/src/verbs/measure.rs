//! `whylate measure`

use crate::args::MeasureArgs;
use crate::outcome::Outcome;
use crate::output::say;
use crate::{output, signals};
use anyhow::Result;
use std::io::{IsTerminal, Write};
use whylate_investigate::measure::{MeasureOptions, Progress, measure};
use whylate_probes::TimerProbe;
use whylate_report::{html, json, svg, terminal};

pub(crate) fn run(args: &MeasureArgs) -> Result<Outcome> {
    let stop = signals::stop_flags()?;
    let probe = TimerProbe {
        cpus: args.cpus.clone(),
        priority: args.priority,
        interval: args.interval,
        threshold: args.threshold,
        ..TimerProbe::default()
    };
    let options = MeasureOptions {
        probe,
        duration: Some(args.duration),
        trace: !args.no_trace,
        buffer_kib: args.buffer,
    };
    let watched = std::io::stderr().is_terminal();
    if !watched {
        say!("measuring for {} ...", args.duration);
    }
    let report = measure(&options, &stop.asked, &mut |progress| {
        if watched {
            show(&progress, args);
        }
    })?;
    if watched {
        show_line("");
    }
    if let Some(path) = &args.format.page {
        output::write_page(path, || html::measurement(&report), || svg::measurement(&report))?;
    }
    if args.format.json {
        output::print_json(&json::measurement(&report))?;
    } else {
        output::print(&terminal::measurement(&report, &output::style()))?;
    }
    if report.over_threshold.is_some_and(|count| count > 0) {
        return Ok(Outcome::Found);
    }
    Ok(Outcome::of(&report.findings, args.fail_on.into()))
}

/// One line that is written over and over, while a person watches.
fn show(progress: &Progress<'_>, args: &MeasureArgs) {
    let wakeups: u64 = progress.cpus.iter().map(|cpu| cpu.histogram.count()).sum();
    let max = progress.cpus.iter().filter_map(|cpu| cpu.histogram.max()).max().unwrap_or_default();
    show_line(&format!("{} of {}: {wakeups} wake-ups, max {max}", progress.elapsed, args.duration));
}

/// Writes over the last such line. A terminal that went away is no reason to stop measuring.
fn show_line(text: &str) {
    let mut err = std::io::stderr();
    let _ = write!(err, "\r\x1b[K{text}").and_then(|()| err.flush());
}
