//! The full-screen view: keys change what is shown, and the samples are renewed.

use super::view::{Step, View};
use crate::exit_status::ExitStatus;
use crate::signals;
use anyhow::{Context, Result, bail};
use ratatui::crossterm::event::{self, Event};
use std::io::{self, IsTerminal};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use whylate_host::FsRoot;
use whylate_threads::ps::{PsOptions, PsReport, PsSample};

/// How long a signal may go unnoticed.
const GLANCE: Duration = Duration::from_millis(100);

pub(super) fn run(options: PsOptions, interrupts: bool, interval: Duration) -> Result<ExitStatus> {
    if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
        bail!("--live needs a terminal: leave it out for a table, or use --json");
    }
    let stop = signals::stop_flags()?;
    let tree = FsRoot::live();
    // Restores the terminal in a panic as well.
    let mut terminal = ratatui::try_init().context("cannot take over the terminal")?;
    let outcome = (|| {
        let mut view = View::new(options, interrupts);
        let mut before: Option<PsSample> = None;
        while !stop.asked.load(Ordering::Acquire) {
            let after = PsSample::read(&tree);
            let mut report = PsReport::of(&tree, view.options(), before.as_ref(), &after);
            let renewal = Instant::now() + interval;
            while !stop.asked.load(Ordering::Acquire) {
                terminal.draw(|frame| view.draw(frame, &report)).context("cannot write to the terminal")?;
                let Some(left) = renewal.checked_duration_since(Instant::now()) else { break };
                if !event::poll(left.min(GLANCE)).context("cannot read from the terminal")? {
                    continue;
                }
                if let Event::Key(key) = event::read().context("cannot read from the terminal")? {
                    match view.press(key) {
                        Step::End => return Ok(()),
                        Step::Select => report = PsReport::of(&tree, view.options(), before.as_ref(), &after),
                        Step::Draw => {}
                    }
                }
            }
            before = Some(after);
        }
        Ok(())
    })();
    ratatui::restore();
    outcome.map(|()| ExitStatus::Done)
}
