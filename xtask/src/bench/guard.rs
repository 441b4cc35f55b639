//! `bench guard`: `whylate guard` beside stalld, in guests whose throttling and fair server are off: threads starve behind a
//! busy loop, and each guard in its turn is to help them.

mod rescue;

use anyhow::{Context, Result, bail};
use clap::Args;
use rescue::Rescue;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const SOURCE: &str = include_str!("guard/starve.c");
/// How long the busy loop runs, in seconds: five times the threshold.
const SECONDS: &str = "15";

#[derive(Args)]
pub(crate) struct Guard {
    /// Kernels of `whylate lab kernels`
    #[arg(long, value_delimiter = ',', default_value = "6.1-rt,6.12-rt")]
    kernels: Vec<String>,
    /// A stalld built from its source (`make USE_BPF=0`); without it whylate runs alone
    #[arg(long)]
    stalld: Option<PathBuf>,
    /// Only the case of a hundred starving threads, and one other
    #[arg(long)]
    quick: bool,
}

/// A case: the busy loop's priority, the sort of the starving threads, and their number.
struct Case(u32, &'static str, u32);

/// QEMU's emulation of several CPUs itself fails at times, as `whylate lab exec` reports.
const TRIES: usize = 3;

/// A guard: the name of its program, and how it is started in the guest.
struct Helper {
    name: &'static str,
    command: Option<String>,
}

const CASES: &[Case] = &[
    Case(50, "other", 100),
    Case(50, "fifo", 1),
    Case(1, "other", 1),
    Case(1, "kworker", 1),
    Case(50, "other", 1),
    Case(50, "kworker", 1),
    Case(99, "other", 1),
    Case(99, "fifo", 1),
    Case(99, "kworker", 1),
];

impl Guard {
    pub(super) fn run(&self, root: &Path) -> Result<()> {
        let whylate = crate::release::whylate(root, &[])?;
        let directory = crate::root::target(root).join("bench/guard");
        let program = compile(&directory)?;
        println!("{}", Rescue::HEAD);
        for kernel in &self.kernels {
            for (number, case) in CASES[..if self.quick { 2 } else { CASES.len() }].iter().enumerate() {
                // What the busy loop is without its CPU for in a guest without a guard, once for each kernel.
                let none = (number == 0).then_some(Helper { name: "none", command: None });
                let stalld = self.stalld.as_deref().map(|program| Helper {
                    name: "stalld",
                    command: Some(format!("{} -f -t 3 -a 0", program.display())),
                });
                let ours = Helper {
                    name: "whylate",
                    command: Some("/whylate guard --threshold 3s --cpus 0".to_owned()),
                };
                for helper in none.into_iter().chain(stalld).chain([ours]) {
                    let out = directory.join(helper.name);
                    let rescue = (0..TRIES)
                        .find_map(|_| {
                            let text = in_guest(&whylate, kernel, case, &helper, &program, &out);
                            text.map(|text| Rescue::parse(&text)).transpose()
                        })
                        .with_context(|| {
                            format!(
                                "{kernel}, {}: no result in {TRIES} guests: {}",
                                helper.name,
                                out.display()
                            )
                        })??;
                    println!("| {kernel} | {} {}", helper.name, rescue.row());
                }
            }
        }
        Ok(())
    }
}

fn compile(directory: &Path) -> Result<PathBuf> {
    fs::create_dir_all(directory).with_context(|| format!("{} cannot be made", directory.display()))?;
    let (source, program) = (directory.join("starve.c"), directory.join("starve"));
    fs::write(&source, SOURCE).with_context(|| format!("{} cannot be written", source.display()))?;
    let mut cc = Command::new("cc");
    cc.args(["-O2", "-static", "-pthread", "-o"]).arg(&program).arg(&source);
    let status = cc.status().context("cc could not be started")?;
    if !status.success() {
        bail!("{} does not compile", source.display());
    }
    Ok(program)
}

fn in_guest(
    whylate: &Path,
    kernel: &str,
    &Case(priority, victim, count): &Case,
    helper: &Helper,
    program: &Path,
    out: &Path,
) -> Result<String> {
    let mut command = Command::new(whylate);
    command.args([
        "lab",
        "exec",
        "--kernel",
        kernel,
        "--cpus",
        "2",
        "--time",
        "free",
        "--no-record",
        "--limit",
        "90s",
    ]);
    command.args(["--set", "/proc/sys/kernel/sched_rt_runtime_us=-1"]);
    if has_fair_server(kernel) {
        for cpu in 0..2 {
            command.args(["--set", &format!("/sys/kernel/debug/sched/fair_server/cpu{cpu}/runtime=0")]);
        }
    }
    if let Some(guard) = &helper.command {
        command.args(["--with", guard]);
    }
    command.arg("--output").arg(out).arg("--").arg(program);
    command.args([&priority.to_string(), victim, &count.to_string(), SECONDS, helper.name]);
    let output = command.stderr(Stdio::inherit()).output().context("whylate could not be started")?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The fair server came with Linux 6.12.
fn has_fair_server(kernel: &str) -> bool {
    let mut numbers = kernel.split(['.', '-']).map_while(|part| part.parse::<u32>().ok());
    (numbers.next(), numbers.next()) >= (Some(6), Some(12))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fair_server_came_with_6_12() {
        assert!(!has_fair_server("6.1-rt") && has_fair_server("6.12-rt") && has_fair_server("7.2"));
    }
}
