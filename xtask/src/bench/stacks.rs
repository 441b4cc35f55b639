//! `bench stacks`: what observers take of the observed program: `whylate record`, with call stacks and without, `whylate doctor`,
//! perf and strace, in turn.

pub(super) mod workload;

use super::process;
use crate::tools;
use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use workload::Kind;

#[derive(Args)]
pub(crate) struct Stacks {
    /// How often each observer observes each workload
    #[arg(long, default_value_t = 7, value_parser = clap::value_parser!(u32).range(1..=1000))]
    rounds: u32,
    /// Periods of 1 ms in each run
    #[arg(long, default_value_t = 4000, value_parser = clap::value_parser!(u64).range(100..=1_000_000))]
    periods: u64,
    /// Hand-overs in each run
    #[arg(long, default_value_t = 50_000, value_parser = clap::value_parser!(u64).range(100..=10_000_000))]
    hand_overs: u64,
}

/// An observer: a command in front of the observed one.
struct Observer {
    name: &'static str,
    command: Vec<String>,
    /// The exit codes with which it may end.
    codes: &'static [i32],
}

/// What one run of the observed program measured.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Numbers {
    /// CPU time of a round, in ns.
    cpu: f64,
    p50: f64,
    p99: f64,
}

impl Stacks {
    pub(super) fn run(&self, root: &Path) -> Result<()> {
        let whylate = crate::release::whylate(root, &[])?;
        let directory = crate::root::target(root).join("bench");
        fs::create_dir_all(&directory).with_context(|| format!("{} cannot be made", directory.display()))?;
        let observers = observers(&whylate, &directory);
        for (kind, rounds, title) in [
            (Kind::Periodic, self.periods, "a FIFO thread with a period of 1 ms"),
            (Kind::HandOver, self.hand_overs, "two threads that hand a byte over"),
        ] {
            let mut results: Vec<Vec<Numbers>> = observers.iter().map(|_| Vec::new()).collect();
            for _ in 0..self.rounds {
                for (observer, results) in observers.iter().zip(&mut results) {
                    results.push(observer.observe(kind, rounds, &directory)?);
                }
            }
            println!("{title}: {} runs of {rounds} rounds, in turn; medians", self.rounds);
            print!("{}", table(&observers, &results));
        }
        Ok(())
    }
}

fn observers(whylate: &Path, directory: &Path) -> Vec<Observer> {
    let file = |name: &str| directory.join(name).display().to_string();
    let observer = |name, words: &[&str], output: String| {
        let mut command: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
        command.extend(["-o".to_owned(), output]);
        Observer { name, command, codes: &[0] }
    };
    let whylate = whylate.display().to_string();
    let mut all = vec![
        Observer { name: "nothing", command: Vec::new(), codes: &[0] },
        observer("`whylate record`", &[&whylate, "record"], file("stacks.dat")),
        observer("`whylate record --stacks`", &[&whylate, "record", "--stacks"], file("stacks.dat")),
        // Findings are no failure; without a real-time thread, as in the hand-over, it cannot tell.
        Observer {
            codes: &[0, 1, 3],
            ..observer("`whylate doctor`", &[&whylate, "doctor"], file("stacks.json"))
        },
    ];
    if tools::provided("perf", "linux-perf") {
        all.push(observer("`perf record -g`", &["perf", "record", "-g"], file("stacks.perf")));
        let dwarf = &["perf", "record", "--call-graph", "dwarf"];
        all.push(observer("`perf record --call-graph dwarf`", dwarf, file("stacks.perf")));
    }
    if tools::provided("strace", "strace") {
        all.push(observer("`strace -f`", &["strace", "-f"], file("stacks.strace")));
    }
    all
}

impl Observer {
    fn observe(&self, kind: Kind, rounds: u64, directory: &Path) -> Result<Numbers> {
        let output: PathBuf = directory.join("workload.json");
        // What an earlier run left must not pass for this one's.
        let _ = fs::remove_file(&output);
        let workload = std::env::current_exe().context("this program's file")?;
        let mut words: Vec<String> = self.command.clone();
        if !words.is_empty() {
            words.push("--".to_owned());
        }
        words.push(workload.display().to_string());
        let name = kind.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default();
        words.extend(
            ["bench", "workload", "--kind", &name, "--rounds", &rounds.to_string()].map(str::to_owned),
        );
        words.extend(["--output".to_owned(), output.display().to_string()]);
        let Some((program, arguments)) = words.split_first() else { return Numbers::of("", self.name) };
        process::run_ending(Command::new(program).args(arguments).current_dir(directory), self.codes)?;
        let text = fs::read_to_string(&output)
            .with_context(|| format!("{}: the workload left no {}", self.name, output.display()))?;
        Numbers::of(&text, self.name)
    }
}

impl Numbers {
    fn of(text: &str, name: &str) -> Result<Numbers> {
        let value: Value =
            serde_json::from_str(text).with_context(|| format!("{name}: the workload's numbers"))?;
        let number = |name: &str| value[name].as_f64().with_context(|| format!("no {name} in {text}"));
        Ok(Numbers {
            cpu: number("cpu_ns")? / number("rounds")?,
            p50: number("p50_ns")?,
            p99: number("p99_ns")?,
        })
    }
}

/// Medians, and their ratios to the first row's.
fn table(observers: &[Observer], results: &[Vec<Numbers>]) -> String {
    let mut text = "| observer | CPU time of a round, us | p50, us | p99, us | CPU time | p99 |\n|---|---|---|---|---|---|\n"
        .to_owned();
    let median = |results: &[Numbers], value: fn(&Numbers) -> f64| {
        let mut values: Vec<f64> = results.iter().map(value).collect();
        values.sort_unstable_by(f64::total_cmp);
        values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
    };
    let of = |results: &[Numbers]| Numbers {
        cpu: median(results, |one| one.cpu),
        p50: median(results, |one| one.p50),
        p99: median(results, |one| one.p99),
    };
    let base = results.first().map(|results| of(results));
    for (observer, results) in observers.iter().zip(results) {
        let Numbers { cpu, p50, p99 } = of(results);
        let percent = |value: f64, base: Option<f64>| {
            base.map_or_else(String::new, |base| format!("{:+.1} %", (value / base - 1.0) * 100.0))
        };
        text += &format!(
            "| {} | {:.1} | {:.1} | {:.1} | {} | {} |\n",
            observer.name,
            cpu / 1e3,
            p50 / 1e3,
            p99 / 1e3,
            percent(cpu, base.map(|base| base.cpu)),
            percent(p99, base.map(|base| base.p99))
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_has_medians_and_their_ratios_to_the_first() {
        let observer = |name| Observer { name, command: Vec::new(), codes: &[0] };
        let numbers = |cpu, p99| Numbers { cpu, p50: 1000.0, p99 };
        let results = [
            vec![numbers(100e3, 10e3), numbers(900e3, 20e3), numbers(200e3, 5e3)],
            vec![numbers(204e3, 12e3), numbers(206e3, 11e3), numbers(900e3, 9e3)],
        ];
        let text = table(&[observer("nothing"), observer("x")], &results);
        let rows: Vec<&str> = text.lines().skip(2).collect();
        assert_eq!(
            rows,
            [
                "| nothing | 200.0 | 1.0 | 10.0 | +0.0 % | +0.0 % |",
                "| x | 206.0 | 1.0 | 11.0 | +3.0 % | +10.0 % |"
            ]
        );
    }

    #[test]
    fn a_run_without_numbers_is_an_error() {
        let text = r#"{"rounds": 10, "cpu_ns": 50000, "p50_ns": 3000, "p99_ns": 4000}"#;
        assert_eq!(
            Numbers::of(text, "x").expect("numbers"),
            Numbers { cpu: 5000.0, p50: 3000.0, p99: 4000.0 }
        );
        assert!(Numbers::of("{}", "x").is_err() && Numbers::of("", "x").is_err());
    }
}
