//! `whylate watch`

mod log;

use crate::args::WatchArgs;
use crate::exit_status::ExitStatus;
use crate::output::{self, message};
use crate::own_tables::{OwnTables, TableLines};
use crate::report::Destination;
use crate::serve::Server;
use crate::{notify, signals};
use anyhow::{Context, Result, bail};
use log::LineLog;
use std::path::PathBuf;
use whylate_investigate::watch::{
    self, OnLate, WatchConfig, WatchEvent, WatchKeeping, WatchOptions, WatchReport, WatchRule,
};
use whylate_report::{Format, watch as report};
use whylate_sys::{Clock, now};

pub(crate) fn run(args: &WatchArgs) -> Result<ExitStatus> {
    if args.print_unit {
        return print_unit(args);
    }
    let destination = Destination::of::<WatchReport>(&args.output, &[])?;
    let (rules, on_late) = configuration(args).map_err(anyhow::Error::msg)?;
    let options = WatchOptions {
        rules,
        duration: args.duration,
        command: (!args.command.is_empty()).then(|| args.command.clone()),
        command_to_stderr: destination.is_for_programs(),
        keep: args.keep.as_ref().map(|directory| WatchKeeping {
            directory: directory.clone(),
            max_bytes: args.max_disk,
            journal: |watched| report::json::summary(watched).to_string().into_bytes(),
            previous: report::json::previous,
        }),
        on_late,
        max_cpu: args.max_cpu / 100.0,
        buffer_kib: args.buffer,
        calls: !args.no_calls,
        markers: args.markers.markers(),
        at: args.probe.place(&args.command, args.tasks())?,
    };
    whylate_sys::return_large_blocks();
    let signals = signals::watch_flags(args.config.is_some())?;
    let server = args.serve.map(|address| Server::start(address, None)).transpose()?;
    if let Some(server) = &server {
        server.publish(report::metrics::families(&WatchReport::default()));
        message!("metrics: http://{}/metrics", server.address());
    }
    let tables = args.tables.as_deref().map(OwnTables::open).transpose()?;
    let mut tables = tables.map(TableLines::start).transpose()?;
    let mut log = LineLog::start(destination.format())?;
    let outcome = watch::watch(&options, &signals, &mut || configuration(args), &mut |event| {
        if let WatchEvent::Started(_) = event
            && let Err(error) = notify::ready("watching")
        {
            message!("whylate: cannot notify systemd (NOTIFY_SOCKET): {error}");
        }
        if let (WatchEvent::Progress(watched), Some(server)) = (event, &server) {
            server.publish(report::metrics::families(watched));
        }
        if let (WatchEvent::Late(_), Some(tables)) = (event, &mut tables)
            && let Some(line) = report::json::line(event, now(Clock::Realtime))
        {
            tables.send(format!("{line}\n"));
        }
        log.send(event);
    });
    if let Some(tables) = tables {
        let last = outcome.as_ref().ok().map(|watched| format!("{}\n", report::json::summary(watched)));
        tables.finish(last);
    }
    let watched = match outcome {
        Ok(watched) => watched,
        Err(error) => {
            log.finish();
            return Err(error.into());
        }
    };
    if destination.format() == Format::Json {
        log.line(format!("{}\n", report::json::summary(&watched)));
    }
    let lost = log.finish();
    if lost > 0 {
        message!("whylate: {lost} lines were not written: standard output was blocked");
    }
    match destination.format() {
        Format::Json => destination.write_file(&watched)?,
        _ => destination.write(&watched)?,
    }
    Ok(found(&watched))
}

/// What a watch found.
pub(super) fn found(watched: &WatchReport) -> ExitStatus {
    let seen: u64 = watched.threads.iter().map(|thread| thread.activations).sum();
    match (watched.late, seen) {
        (0, 0) => ExitStatus::CannotTell,
        (0, _) => ExitStatus::Done,
        _ => ExitStatus::Found,
    }
}

/// The rules and the action, of the command line or of the file, as they are now.
fn configuration(args: &WatchArgs) -> Result<(Vec<WatchRule>, Option<OnLate>), String> {
    let (rules, command) = match &args.config {
        Some(file) => {
            let config = WatchConfig::read(file)?;
            (config.rules, config.on_late)
        }
        None => (args.rules()?, args.on_late.clone()),
    };
    Ok((rules, command.map(|command| OnLate { command, render: report::text::in_full })))
}

fn print_unit(args: &WatchArgs) -> Result<ExitStatus> {
    let paths = [&args.keep, &args.config, &args.tables];
    if let Some(path) = paths.into_iter().flatten().find(|path| !path.is_absolute()) {
        bail!("{}: a unit has no current directory; give the whole path", path.display());
    }
    let own = std::env::current_exe().context("cannot find this program")?;
    let words: Vec<String> = std::env::args().skip(2).filter(|word| word != "--print-unit").collect();
    let text = watch::unit(
        &own.to_string_lossy(),
        &words,
        [&args.keep, &args.tables].into_iter().flatten().map(PathBuf::as_path),
        args.serve.is_some(),
    );
    output::print(&text)?;
    Ok(ExitStatus::Done)
}
