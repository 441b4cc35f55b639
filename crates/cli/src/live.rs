//! Reports the progress of a measurement while it runs: on the terminal, and to Prometheus.

mod screen;
mod view;

pub(crate) use screen::restore;

use crate::args::{MeasureArgs, ProbeArgs};
use crate::output::message;
use crate::serve::Server;
use anyhow::Result;
use screen::Screen;
use std::io::{IsTerminal, Write};
use view::{Frame, View};
use whylate_base::Ns;
use whylate_export::latencies;
use whylate_investigate::measure::Progress;
use whylate_probes::CpuResult;
use whylate_stats::Run;
use whylate_sys::Clock;

/// The terminal and the metrics server; dropping it restores the one and stops the other.
pub(crate) struct Audience<'a> {
    args: &'a MeasureArgs,
    server: Option<Server>,
    shown: Shown,
    /// Messages from the time of the other screen, which goes away.
    news: Vec<String>,
}

/// What a person sees.
enum Shown {
    /// Nothing more.
    Nothing,
    /// One line that is written over and over.
    Line,
    /// The whole terminal.
    Live(Screen, View),
}

impl<'a> Audience<'a> {
    /// Opens the port and the view.
    pub(crate) fn gather(args: &'a MeasureArgs) -> Result<Audience<'a>> {
        let serve = |address| Server::start(address, args.probe.cpus());
        let server = args.exports.serve.map(serve).transpose()?;
        if let Some(server) = &server {
            message!("metrics: http://{}/metrics", server.address());
        }
        let watched = std::io::stderr().is_terminal();
        let shown = match args.exports.live {
            true if watched => Shown::Live(Screen::enter(), View::default()),
            _ if args.probe.quiet => Shown::Nothing,
            _ if watched => Shown::Line,
            live => {
                if live {
                    message!("--live: standard error is no terminal");
                }
                message!("measuring for {} ...", args.probe.planned());
                Shown::Nothing
            }
        };
        Ok(Audience { args, server, shown, news: Vec::new() })
    }

    /// Reports the progress, and what is new.
    pub(crate) fn show(&mut self, progress: &Progress<'_>, news: Vec<String>) {
        if let Some(server) = &self.server {
            server.publish(latencies::families(&so_far(progress, &self.args.probe)));
        }
        match &self.shown {
            Shown::Live(..) => self.news.extend(news),
            _ => print_news(&news),
        }
        match &mut self.shown {
            Shown::Nothing => {}
            Shown::Line => show_line(&line(progress, self.args.probe.planned())),
            Shown::Live(screen, view) => {
                let frame = Frame {
                    elapsed: progress.elapsed,
                    duration: self.args.probe.planned(),
                    now: whylate_sys::now(Clock::Monotonic),
                    cpus: progress.cpus,
                    spikes: &progress.spike_log.listed(),
                    news: &self.news,
                };
                let (columns, rows) = screen::size();
                screen.draw(&view.lines(&frame, columns, rows, colors()));
            }
        }
    }
}

impl Drop for Audience<'_> {
    fn drop(&mut self) {
        match self.shown {
            Shown::Nothing => {}
            Shown::Line => show_line(""),
            Shown::Live(..) => {
                screen::restore();
                print_news(&self.news);
            }
        }
    }
}

fn print_news(news: &[String]) {
    news.iter().for_each(|news| message!("whylate: {news}"));
}

/// Unless they are not wanted (no-color.org).
fn colors() -> bool {
    std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// What has been measured by now, as a run.
fn so_far(progress: &Progress<'_>, probe: &ProbeArgs) -> Run {
    Run {
        tool: "whylate measure".to_owned(),
        probe: probe.kind().to_string(),
        interval: Some(probe.interval()),
        elapsed: Some(progress.elapsed),
        threads: progress.cpus.iter().map(CpuResult::measured).collect(),
        ..Run::default()
    }
}

fn line(progress: &Progress<'_>, duration: Ns) -> String {
    let samples: u64 = progress.cpus.iter().map(|cpu| cpu.histogram.count()).sum();
    let max = progress.cpus.iter().filter_map(|cpu| cpu.histogram.max()).max().unwrap_or_default();
    format!("{} of {duration}: {samples} samples, max {max}", progress.elapsed)
}

/// Writes over the last such line. A terminal that went away is no reason to stop measuring.
fn show_line(text: &str) {
    let mut err = std::io::stderr();
    let _ = write!(err, "\r\x1b[K{text}").and_then(|()| err.flush());
}
