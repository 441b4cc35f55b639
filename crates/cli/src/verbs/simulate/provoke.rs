//! `--provoke DIR`: a program that tries to make a worst case happen.

use crate::atomic_file;
use crate::output::message;
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::Path;
use whylate_base::Ns;
use whylate_simulate::worst_case::{Provocation, WorstCase};

const PROGRAM: &str = include_str!("provoke.c.in");
/// The program runs for about so long.
const LENGTH: Ns = Ns::from_secs(3);
const MOST_ROUNDS: i64 = 200;

/// Refuses what is there and no directory, before the work begins.
pub(super) fn check(directory: &Path) -> Result<()> {
    if directory.exists() && !directory.is_dir() {
        bail!("cannot write to {}: it is not a directory", directory.display());
    }
    Ok(())
}

/// Writes the program of the first worst case that has a bound, and what it leaves out.
pub(super) fn write(directory: &Path, worst_cases: &[WorstCase]) -> Result<()> {
    let name = directory.display();
    let Some((worst, provocation)) =
        worst_cases.iter().find_map(|worst| Some((worst, worst.provocation.as_ref()?)))
    else {
        message!("whylate: nothing is written to {name}: no thread has a bound");
        return Ok(());
    };
    fs::create_dir_all(directory).with_context(|| format!("cannot create {name}"))?;
    for (file, text) in [("provoke.c", program(provocation)), ("README.md", readme(worst, provocation))] {
        atomic_file::write(&directory.join(file), |out| Ok(out.write_all(text.as_bytes())?))?;
    }
    message!(
        "{name}/provoke.c: {} threads; cc -O2 -pthread -o {name}/provoke {name}/provoke.c && whylate lab exec --kernel 6.12-rt \
         --dir {name} -- provoke",
        provocation.threads.len()
    );
    Ok(())
}

fn rounds(provocation: &Provocation) -> i64 {
    (LENGTH.0 / provocation.round.0.max(1)).clamp(3, MOST_ROUNDS)
}

fn program(provocation: &Provocation) -> String {
    let (mut jobs, mut threads) = (String::new(), String::new());
    for (at, thread) in provocation.threads.iter().enumerate() {
        let list: Vec<String> =
            thread.jobs.iter().map(|(due, work)| format!("{{ {}LL, {}LL }}", due.0, work.0)).collect();
        jobs += &format!("static const struct job jobs_{at}[] = {{ {} }};\n", list.join(", "));
        threads +=
            &format!("\t{{ \"{}\", {}, {}, jobs_{at} }},\n", thread.name, thread.priority, thread.jobs.len());
    }
    PROGRAM
        .replace("@JOBS@", &jobs)
        .replace("@THREADS@", &threads)
        .replace("@ROUNDS@", &rounds(provocation).to_string())
        .replace("@ROUND@", &provocation.round.0.to_string())
}

fn readme(worst: &WorstCase, provocation: &Provocation) -> String {
    let mut text = format!(
        "# Worst case of {}\n\nSeen: {}. Bound: {}. The threads of provoke.c add up to {}.\n\n\
         ```\ncc -O2 -pthread -o provoke provoke.c\nwhylate lab exec --kernel 6.12-rt --dir . -- provoke\n```\n",
        worst.name,
        worst.seen,
        worst.bound.as_ref().map_or_else(|_| "none".to_owned(), Ns::to_string),
        provocation.expected
    );
    if !provocation.left_out.is_empty() {
        text += "\nNot provoked, because no program of its own can:\n\n";
        for one in &provocation.left_out {
            text += &format!("- {one}\n");
        }
    }
    text
}
