//! `whylate tables`

use crate::args::TablesArgs;
use crate::exit_status::ExitStatus;
use crate::output;
use crate::output::message;
use crate::signals;
use anyhow::{Context, Result};
use std::collections::HashMap;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use whylate_report::tables::{TopCause, render};
use whylate_tables::dataset::{Dataset, Imported, SeenMachine};
use whylate_tables::top_causes;

pub(crate) fn run(args: &TablesArgs) -> Result<ExitStatus> {
    let dataset = Dataset::open(&args.output)?;
    clean_up_at_signals(args.output.clone())?;
    let key = if args.hide_names { Some(dataset.key()?) } else { None };
    let options = args.options(key);
    let mut summary = Summary::default();
    let listed = args.list.as_deref().map(listed).transpose()?;
    for input in args.inputs.iter().cloned().map(Ok).chain(listed.into_iter().flatten()) {
        let input = input.context("cannot read the list of inputs")?;
        match dataset.import(&input, &options, args.replace) {
            Ok(imported) => summary.add(&input, imported),
            Err(error) => {
                summary.failed += 1;
                message!("whylate: {error}: skipped");
            }
        }
    }
    dataset.write_views()?;
    summary.print(&args.output)?;
    Ok(if summary.failed > 0 { ExitStatus::Failed } else { ExitStatus::Done })
}

/// The names in a file, one a line.
fn listed(list: &Path) -> Result<impl Iterator<Item = io::Result<PathBuf>> + use<>> {
    let reader: Box<dyn Read> = if list.as_os_str() == "-" {
        Box::new(io::stdin())
    } else {
        Box::new(std::fs::File::open(list).with_context(|| format!("cannot read {}", list.display()))?)
    };
    let lines = BufReader::new(reader).lines();
    Ok(lines.filter(|line| !matches!(line, Ok(line) if line.is_empty())).map(|line| line.map(PathBuf::from)))
}

/// Removes unfinished tables when a signal ends the run. A killed run's are removed by the next one.
fn clean_up_at_signals(output: PathBuf) -> Result<()> {
    signals::clean_up_before_the_end(move || {
        if let Ok(dataset) = Dataset::open(&output) {
            dataset.abandon();
        }
    })
}

/// What became of all inputs.
#[derive(Default)]
struct Summary {
    added: usize,
    present: usize,
    failed: usize,
    rows: u64,
    unnamed: usize,
    future: usize,
    causes: Vec<TopCause>,
    hardware: HashMap<(String, &'static str), String>,
}

impl Summary {
    fn add(&mut self, input: &Path, imported: Imported) {
        self.added += imported.added;
        self.present += imported.present;
        self.rows += imported.rows;
        self.future += imported.future;
        // Summed up each time: there may be many inputs.
        self.causes = top_causes(std::mem::take(&mut self.causes).into_iter().chain(imported.causes));
        for SeenMachine { name, hardware } in imported.machines {
            let Some(machine) = name else {
                self.unnamed += 1;
                continue;
            };
            for (part, value) in hardware {
                let known = self.hardware.entry((machine.clone(), part)).or_insert_with(|| value.clone());
                if *known != value {
                    message!(
                        "note: {}: another machine called `{machine}` has the {part} `{known}`, this one `{value}`: if \
                         they are two machines, give each its name with --machine and --replace",
                        input.display()
                    );
                }
            }
        }
    }

    fn print(&self, output: &Path) -> Result<()> {
        let mut parts = vec![format!("{} added ({} rows)", self.added, self.rows)];
        if self.present > 0 {
            parts.push(format!("{} already there", self.present));
        }
        if self.failed > 0 {
            parts.push(format!("{} skipped", self.failed));
        }
        message!("{}: {}", output.display(), parts.join(", "));
        if self.unnamed > 0 {
            message!("note: {} added inputs do not name their machine: name it with --machine", self.unnamed);
        }
        if self.future > 0 {
            message!(
                "note: the date of {} added inputs is still to come: their clock was wrong",
                self.future
            );
        }
        output::print(&render(&self.causes, &output::style()))
    }
}
