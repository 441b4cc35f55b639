//! `bench costs`: what `whylate bench` measures, beside programs that measure the same thing: `perf bench`, and the C programs
//! of `costs.c`.

mod peers;

use crate::tools;
use anyhow::{Context, Result, bail};
use clap::Args;
use peers::{PEERS, Peer};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const SOURCE: &str = include_str!("costs/costs.c");

#[derive(Args)]
pub(crate) struct Costs {
    /// How often both measure, in turn; the medians count
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=99))]
    rounds: u32,
    /// How long each `whylate bench` takes
    #[arg(long, default_value = "10s")]
    duration: String,
}

impl Costs {
    pub(super) fn run(&self, root: &Path) -> Result<()> {
        let whylate = crate::release::whylate(root, &[])?;
        let directory = crate::root::target(root).join("bench");
        let program = compile(&directory)?;
        if !tools::found("perf") {
            println!("perf is not installed: its rows are missing");
        }
        let mut theirs: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
        let mut ours: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
        for _ in 0..self.rounds {
            for peer in PEERS {
                if let Some(time) = peer.measure(&program)? {
                    theirs.entry(peer.row).or_default().push(time);
                }
            }
            for kind in ["clock", "socket", "memory", "thread"] {
                let report = bench(&whylate, kind, &self.duration)?;
                for peer in PEERS.iter().filter(|peer| peer.kind == kind) {
                    ours.entry(peer.row).or_default().push(cost(&report, peer)?);
                }
            }
        }
        println!("| operation | beside | theirs | whylate bench | ratio |\n|---|---|--:|--:|--:|");
        for peer in PEERS {
            let of = |times: &BTreeMap<&str, Vec<f64>>| times.get(peer.row).and_then(|times| median(times));
            if let (Some(theirs), Some(ours)) = (of(&theirs), of(&ours)) {
                println!("{}", line(peer, theirs, ours));
            }
        }
        Ok(())
    }
}

fn compile(directory: &Path) -> Result<PathBuf> {
    fs::create_dir_all(directory).with_context(|| format!("{} cannot be made", directory.display()))?;
    let (source, program) = (directory.join("costs.c"), directory.join("costs"));
    fs::write(&source, SOURCE).with_context(|| format!("{} cannot be written", source.display()))?;
    let mut cc = Command::new("cc");
    cc.args(["-O2", "-pthread", "-o"]).arg(&program).arg(&source);
    let status = cc.status().context("cc could not be started")?;
    if !status.success() {
        bail!("{} does not compile", source.display());
    }
    Ok(program)
}

fn bench(whylate: &Path, kind: &str, duration: &str) -> Result<Value> {
    let mut bench = Command::new(whylate);
    bench.args(["bench", kind, "--json", "-d", duration]);
    if kind == "socket" {
        // Both ends on one CPU, as in `costs.c`.
        let cpus = std::thread::available_parallelism().context("the number of CPUs is not known")?;
        bench.arg("--cpus").arg((cpus.get() - 1).to_string());
    }
    let output = bench.output().context("whylate could not be started")?;
    serde_json::from_slice(&output.stdout).with_context(|| {
        format!("whylate bench {kind}: {}: {}", output.status, String::from_utf8_lossy(&output.stderr))
    })
}

/// The time of an operation of a report: its mean or its median, as the peer's is.
fn cost(report: &Value, peer: &Peer) -> Result<f64> {
    let rows = report["rows"].as_array().context("the report has no `rows`")?;
    let row = rows.iter().find(|row| row["name"] == peer.row);
    let row = row.with_context(|| format!("the report has no row `{}`", peer.row))?;
    let which = if peer.is_mean { "mean" } else { "p50" };
    row["ns_per_op"][which].as_f64().with_context(|| format!("`{}` has no `{which}`", peer.row))
}

fn median(times: &[f64]) -> Option<f64> {
    let mut sorted = times.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len().checked_sub(1)? / 2).copied()
}

fn line(peer: &Peer, theirs: f64, ours: f64) -> String {
    let what = if peer.is_mean { "mean" } else { "median" };
    let ratio = ours / theirs;
    format!(
        "| {} ({what}) | `{}` | {} | {} | {ratio:.2} |",
        peer.row,
        peer.command(),
        time(theirs),
        time(ours)
    )
}

fn time(ns: f64) -> String {
    match ns {
        ns if ns < 1e3 => format!("{ns:.1} ns"),
        ns if ns < 1e6 => format!("{:.2} us", ns / 1e3),
        ns => format!("{:.2} ms", ns / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_line_has_both_times_and_their_ratio() {
        let peer = &PEERS[0];
        assert!(line(peer, 200.0, 210.0).ends_with("| 200.0 ns | 210.0 ns | 1.05 |"));
    }

    #[test]
    fn the_cost_is_that_of_the_peers_row() {
        let peer = &PEERS[0];
        let which = if peer.is_mean { "mean" } else { "p50" };
        let report = json!({"rows": [{"name": "other"}, {"name": peer.row, "ns_per_op": {which: 7.5}}]});
        assert_eq!(cost(&report, peer).expect("a cost"), 7.5);
        assert!(cost(&json!({"rows": []}), peer).is_err() && cost(&json!({}), peer).is_err());
    }
}
