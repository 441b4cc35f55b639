//! The programs beside which `whylate bench` measures.

use crate::tools;
use anyhow::{Context, Result, bail};
use std::path::Path;
use std::process::Command;

/// A program that measures what a row of a bench measures.
pub(super) struct Peer {
    /// The bench.
    pub(super) kind: &'static str,
    /// The row's name.
    pub(super) row: &'static str,
    /// The peer reports a mean; otherwise a median.
    pub(super) is_mean: bool,
    source: Source,
}

enum Source {
    /// `perf bench`, and the unit of its figure.
    Perf(&'static [&'static str], Unit),
    /// The C program, and the name of its figure.
    C(&'static [&'static str], &'static str),
}

#[derive(Clone, Copy)]
enum Unit {
    /// `N usecs/op`.
    MicrosecondsPerOperation,
    /// `N GB/sec`, for operations of 1 MiB; perf's GB is 2^30 bytes.
    GibibytesPerSecond,
}

const fn perf(kind: &'static str, row: &'static str, arguments: &'static [&'static str], unit: Unit) -> Peer {
    Peer { kind, row, is_mean: true, source: Source::Perf(arguments, unit) }
}

const fn c(
    kind: &'static str,
    row: &'static str,
    is_mean: bool,
    arguments: &'static [&'static str],
    figure: &'static str,
) -> Peer {
    Peer { kind, row, is_mean, source: Source::C(arguments, figure) }
}

/// All of them.
pub(super) const PEERS: &[Peer] = {
    const READINGS: &[&str] = &["clock", "10000000"];
    const SYSCALL: &[&str] = &["syscall", "basic", "-l", "10000000"];
    const PIPE: &[&str] = &["sched", "pipe", "-T", "-l", "200000"];
    const MEMCPY: &[&str] = &["mem", "memcpy", "-s", "1MB", "-l", "20000", "-f", "default"];
    const MEMSET: &[&str] = &["mem", "memset", "-s", "1MB", "-l", "20000", "-f", "default"];
    const MICROSECONDS: Unit = Unit::MicrosecondsPerOperation;
    const GIBIBYTES: Unit = Unit::GibibytesPerSecond;
    &[
        c("clock", "CLOCK_MONOTONIC", true, READINGS, "monotonic"),
        c("clock", "CLOCK_MONOTONIC_COARSE", true, READINGS, "coarse"),
        c("socket", "loopback: TCP", false, &["socket", "plain", "50"], "plain"),
        c("socket", "loopback: TCP_NODELAY", false, &["socket", "nodelay", "10000"], "nodelay"),
        c("socket", "loopback: TCP_CORK", false, &["socket", "cork", "10000"], "cork"),
        perf("memory", "memcpy of 1 MiB", MEMCPY, GIBIBYTES),
        perf("memory", "memset of 1 MiB", MEMSET, GIBIBYTES),
        perf("thread", "system call (getppid)", SYSCALL, MICROSECONDS),
        perf("thread", "pipe, one CPU", PIPE, MICROSECONDS),
    ]
};

impl Peer {
    pub(super) fn command(&self) -> String {
        match self.source {
            Source::Perf(arguments, _) => format!("perf bench {}", arguments.join(" ")),
            Source::C(arguments, _) => format!("costs {}", arguments.join(" ")),
        }
    }

    /// Nanoseconds for an operation; `None` without the program.
    pub(super) fn measure(&self, program: &Path) -> Result<Option<f64>> {
        let mut command = match self.source {
            Source::Perf(..) if !tools::found("perf") => return Ok(None),
            Source::Perf(arguments, _) => {
                // whylate measures on one CPU as well.
                let mut command = Command::new("taskset");
                command.args(["--cpu-list", "1", "perf", "bench"]).args(arguments);
                command
            }
            Source::C(arguments, _) => {
                let mut command = Command::new(program);
                command.args(arguments);
                command
            }
        };
        let output = command.output().with_context(|| format!("{} could not be started", self.command()))?;
        let text = String::from_utf8_lossy(&output.stdout);
        if !output.status.success() {
            bail!("{}: {}: {text}", self.command(), output.status);
        }
        let time = match self.source {
            Source::Perf(_, unit) => figure(&text, unit),
            Source::C(_, name) => named(&text, name),
        };
        time.map(Some).with_context(|| format!("{} reports no figure: {text}", self.command()))
    }
}

/// The figure of `perf bench` in ns for an operation: the number before its unit.
fn figure(text: &str, unit: Unit) -> Option<f64> {
    let name = match unit {
        Unit::MicrosecondsPerOperation => "usecs/op",
        Unit::GibibytesPerSecond => "GB/sec",
    };
    let words: Vec<&str> = text.split_whitespace().collect();
    let at = words.iter().position(|&word| word == name)?;
    let number: f64 = words.get(at.checked_sub(1)?)?.parse().ok()?;
    Some(match unit {
        Unit::MicrosecondsPerOperation => number * 1e3,
        Unit::GibibytesPerSecond => 1e9 / (number * 1024.0),
    })
}

fn named(text: &str, name: &str) -> Option<f64> {
    text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('=')?.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_of_perf_become_nanoseconds() {
        let pipe = "# Executed 1000 pipe operations between two threads\n\n     Total time: 0.008 [sec]\n\n       8.471000 usecs/op\n";
        assert_eq!(figure(pipe, Unit::MicrosecondsPerOperation), Some(8471.0));
        let copy = "# function 'default' (Default memcpy() provided by glibc)\n# Copying 1MB bytes ...\n\n      50.000000 GB/sec\n";
        assert_eq!(figure(copy, Unit::GibibytesPerSecond), Some(1e9 / 51200.0));
        assert_eq!(figure("", Unit::MicrosecondsPerOperation), None);
    }

    #[test]
    fn figures_of_the_c_program_have_names() {
        assert_eq!(named("monotonic=29.5\ncoarse=11.4\n", "coarse"), Some(11.4));
        assert_eq!(named("monotonic=x\n", "monotonic"), None);
    }
}
