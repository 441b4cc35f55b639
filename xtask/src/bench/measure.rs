//! `bench measure`: `whylate measure` beside cyclictest, in turn, on an idle machine and on a busy one; both in a guest
//! whose time is the emulator's own; or what the flight recorder adds.
//!
//! Both are read from a file of the same form, by the same code, in whole microseconds.

mod counts;
mod guest;
mod recorder;
mod stress;

use super::process;
use crate::tools;
use anyhow::{Context, Result, bail};
use clap::Args;
use counts::{Counts, HISTOGRAM};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use stress::Stress;

#[derive(Args)]
pub(crate) struct Measure {
    /// How often each program runs under each load
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1000))]
    rounds: u32,
    /// How many seconds each run lasts
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=3600))]
    seconds: u32,
    /// The interval, in microseconds
    #[arg(long, default_value_t = 1000, value_parser = clap::value_parser!(u32).range(100..=1_000_000))]
    interval: u32,
    /// In a guest under virtual time, one after the other, instead: a kernel of `whylate lab kernels`, such as 6.12-rt
    #[arg(long, value_name = "KERNEL")]
    lab: Option<String>,
    /// What the flight recorder costs, instead: the CPU time of a longer run, for --seconds of it
    #[arg(long, conflicts_with = "lab")]
    recorder: bool,
}

/// One of the programs, with one choice of options.
struct Contender {
    name: &'static str,
    program: PathBuf,
    arguments: Vec<String>,
    /// Where it leaves what it counted.
    file: PathBuf,
}

/// One run.
#[derive(Clone, Copy)]
struct Numbers {
    p50: u64,
    p99: u64,
    max: u64,
    cpu: Duration,
}

impl Measure {
    pub(super) fn run(&self, root: &Path) -> Result<()> {
        if self.recorder {
            let whylate = crate::release::whylate(root, &[])?;
            return recorder::compare(&whylate, self.rounds, self.seconds, self.interval);
        }
        if !tools::provided("cyclictest", "rt-tests") {
            bail!("there is no cyclictest to compare with: apt-get install rt-tests, as root");
        }
        let whylate = crate::release::whylate(root, &[])?;
        let directory = crate::root::target(root).join("bench");
        fs::create_dir_all(&directory).with_context(|| format!("{} cannot be made", directory.display()))?;
        if let Some(kernel) = &self.lab {
            return guest::compare(&whylate, kernel, self.seconds, self.interval, &directory);
        }
        if !rustix::process::geteuid().is_root() {
            println!("not root: the priorities may be refused, and then nothing here can be compared");
        }
        if let Some(load) = busy() {
            println!(
                "this machine was not idle before (load average {load}): these numbers are its noise as well"
            );
        }
        println!(
            "{} rounds of {} s, every {} us on every CPU, SCHED_FIFO 80, /dev/cpu_dma_latency not held; medians, us",
            self.rounds, self.seconds, self.interval
        );
        let contenders = self.contenders(&whylate, &directory);
        self.turns("no load", &contenders, None)?;
        match tools::provided("stress-ng", "stress-ng") {
            true => self.turns("stress-ng", &contenders, Some(self.stress()?))?,
            false => println!("not under load: no stress-ng; apt-get install stress-ng, as root"),
        }
        Ok(())
    }

    fn contenders(&self, whylate: &Path, directory: &Path) -> [Contender; 3] {
        let (seconds, interval) = (self.seconds.to_string(), self.interval.to_string());
        let file = |name: &str| directory.join(format!("{name}.cyclictest.json"));
        let theirs = file("cyclictest");
        // --laptop: it does not hold /dev/cpu_dma_latency, as whylate does not.
        let cyclictest =
            ["-q", "-m", "-S", "-d0", "-p80", "--laptop", "-h", HISTOGRAM, "-i", &interval, "-D", &seconds];
        let mut arguments = cyclictest.map(str::to_owned).to_vec();
        arguments.push(format!("--json={}", theirs.display()));
        let ours = |name, file: PathBuf, more: &[&str]| {
            let mut arguments: Vec<String> = ["measure", "--json", "-p", "80"].map(str::to_owned).to_vec();
            arguments.extend([
                "-i".to_owned(),
                format!("{interval}us"),
                "-d".to_owned(),
                format!("{seconds}s"),
            ]);
            arguments.extend(["--export".to_owned(), file.display().to_string()]);
            arguments.extend(more.iter().map(|&option| option.to_owned()));
            Contender { name, program: whylate.to_owned(), arguments, file }
        };
        [
            Contender { name: "cyclictest", program: "cyclictest".into(), arguments, file: theirs },
            ours("whylate measure --no-trace", file("untraced"), &["--no-trace"]),
            ours("whylate measure", file("traced"), &[]),
        ]
    }

    /// Ends by itself, should this be killed.
    fn stress(&self) -> Result<Stress> {
        Stress::start(self.rounds * 3 * (self.seconds + 20))
    }

    /// One after the other, over and over: what changes on the machine meanwhile meets all of them.
    fn turns(&self, under: &str, contenders: &[Contender], stress: Option<Stress>) -> Result<()> {
        let mut results: Vec<Vec<Numbers>> = contenders.iter().map(|_| Vec::new()).collect();
        for _ in 0..self.rounds {
            for (contender, results) in contenders.iter().zip(&mut results) {
                results.push(contender.run()?);
            }
        }
        drop(stress);
        print!("{}", table(under, contenders, &results));
        Ok(())
    }
}

impl Contender {
    fn run(&self) -> Result<Numbers> {
        // What an earlier run left must not pass for this one's.
        let _ = fs::remove_file(&self.file);
        let usage = process::run(Command::new(&self.program).args(&self.arguments))?;
        let counts = Counts::read(&self.file).with_context(|| format!("of {}", self.name))?;
        let of = |q| counts.quantile(q).with_context(|| format!("{} measured nothing", self.name));
        Ok(Numbers { p50: of(0.5)?, p99: of(0.99)?, max: counts.max, cpu: usage.cpu })
    }
}

fn table(under: &str, contenders: &[Contender], results: &[Vec<Numbers>]) -> String {
    let mut text =
        format!("{under:<28} {:>7} {:>7} {:>7} {:>10}  {}\n", "p50", "p99", "max", "CPU ms/run", "all p99");
    for (contender, results) in contenders.iter().zip(results) {
        let of = |value: fn(&Numbers) -> u64| median(results.iter().map(value)).unwrap_or_default();
        let all: Vec<String> = results.iter().map(|result| result.p99.to_string()).collect();
        text += &format!(
            "{:<28} {:>7} {:>7} {:>7} {:>10}  {}\n",
            contender.name,
            of(|result| result.p50),
            of(|result| result.p99),
            of(|result| result.max),
            of(|result| result.cpu.as_millis() as u64),
            all.join(" ")
        );
    }
    text
}

/// The middle one; of an even number the smaller of the two in the middle.
fn median(values: impl Iterator<Item = u64>) -> Option<u64> {
    let mut sorted: Vec<u64> = values.collect();
    sorted.sort_unstable();
    sorted.get(sorted.len().checked_sub(1)? / 2).copied()
}

/// The load average of the last minute, where something else runs.
fn busy() -> Option<f64> {
    let text = fs::read_to_string("/proc/loadavg").ok()?;
    text.split_whitespace().next()?.parse().ok().filter(|load| *load > 0.5)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_number_s_median_is_its_own() {
        let result = |p50, p99, max, ms| Numbers { p50, p99, max, cpu: Duration::from_millis(ms) };
        let contender = Contender { name: "x", program: "x".into(), arguments: vec![], file: "x".into() };
        let results = vec![vec![result(1, 9, 20, 5), result(2, 8, 30, 6), result(3, 7, 10, 4)]];
        let text = table("no load", &[contender], &results);
        let words: Vec<&str> = text.lines().nth(1).expect("a row").split_whitespace().collect();
        assert_eq!(words, ["x", "2", "8", "20", "5", "9", "8", "7"]);
        assert_eq!((median([].into_iter()), median([4, 1].into_iter())), (None, Some(1)));
    }
}
