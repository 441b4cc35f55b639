//! `whylate-lab tuning`

use crate::args::TuningArgs;
use crate::beside::program;
use crate::exit_status::ExitStatus;
use crate::output::message;
use crate::{output, signals};
use anyhow::{Context, Result};
use serde_json::{Value, json};
use std::path::PathBuf;
use whylate_lab::disk::Image;
use whylate_lab::{Arch, LabError, Store};
use whylate_lab_cli::trial::{self, Observation, Parity, Trial, TuningRequest};

/// At most this many lines of a failed check are shown; the files and the JSON have all of them.
const LINES: usize = 30;

pub(crate) fn run(args: &TuningArgs) -> Result<ExitStatus> {
    let stop = signals::stop_flag()?;
    let observe = |finding: &Observation| report(finding);
    let whylate = program(args.whylate.as_deref(), "whylate", "--whylate", Arch::X86_64)?;
    let lab = Lab { args, store: Store::open_default(), whylate, stop: &stop, observe: &observe };
    let mut machines = Vec::new();
    let mut right = true;
    for kernel in &args.kernels {
        let mut parities = Vec::new();
        for profile in &args.profiles {
            let request = TuningRequest {
                profile: profile.clone(),
                isolated: args.isolated.clone(),
                given: args.set.clone(),
                allow: args.allow.clone(),
                ..TuningRequest::default()
            };
            if args.parity {
                let (parity, findings) = lab.parity(kernel, &request)?;
                right &= findings.iter().all(|finding| finding.right);
                right &= parity.settings.iter().all(|setting| setting.is_accounted_for());
                machines.push(
                    json!({"kernel": kernel, "profile": profile, "findings": findings, "parity": parity}),
                );
                parities.push(parity);
                continue;
            }
            for (kind, findings) in lab.stories(kernel, &request)? {
                right &= !findings.is_empty() && findings.iter().all(|finding| finding.right);
                machines
                    .push(json!({"kernel": kernel, "profile": profile, "kind": kind, "findings": findings}));
            }
        }
        if args.parity {
            lab.write_page(kernel, &parities)?;
        }
    }
    if args.json {
        output::print_json(&json!({"schema": "whylate.lab-tuning/1", "machines": machines}))?;
    } else {
        output::print(&table(&machines))?;
    }
    Ok(if right { ExitStatus::Done } else { ExitStatus::Found })
}

struct Lab<'a> {
    args: &'a TuningArgs,
    store: Store,
    whylate: PathBuf,
    stop: &'a std::sync::atomic::AtomicBool,
    observe: &'a dyn Fn(&Observation),
}

impl Lab<'_> {
    fn machine(&self, kernel: &str, packages: &[&str], name: &str) -> Result<Trial<'_>, LabError> {
        let image = Image::debian(&self.store, kernel, packages)?;
        if !image.is_cached(&self.store) {
            message!("disk {} is not cached: making it, which takes some minutes ...", image.name());
        }
        message!("{name}:");
        let out = self.args.output.join(name);
        let mut trial = Trial::new(&image, &self.store, &self.whylate, &out, self.stop, self.observe)?;
        trial.set_limit(self.args.limit);
        Ok(trial)
    }

    /// The observations of each machine: of the story, or of the requested kills and power cuts.
    fn stories(
        &self,
        kernel: &str,
        request: &TuningRequest,
    ) -> Result<Vec<(&'static str, Vec<Observation>)>, LabError> {
        let mut stories = Vec::new();
        let name = |kind: &str| format!("{kernel}-{}-{kind}", request.profile);
        if !self.args.kill_at.is_empty() {
            let mut trial = self.machine(kernel, &[], &name("kills"))?;
            trial::kills(&mut trial, request, &self.args.kill_at)?;
            stories.push(("kills", trial.findings));
        }
        if !self.args.power_cut.is_empty() {
            let mut trial = self.machine(kernel, &[], &name("power-cuts"))?;
            trial::power_cuts(&mut trial, request, &self.args.power_cut)?;
            stories.push(("power-cuts", trial.findings));
        }
        if stories.is_empty() {
            let mut trial = self.machine(kernel, &[], &name("story"))?;
            trial::story(&mut trial, request, self.args.measure)?;
            stories.push(("story", trial.findings));
        }
        Ok(stories)
    }

    fn parity(&self, kernel: &str, request: &TuningRequest) -> Result<(Parity, Vec<Observation>), LabError> {
        let name = |whose: &str| format!("{kernel}-{}-{whose}", request.profile);
        if self.args.no_run {
            let [theirs, ours] = ["tuned", "whylate"].map(|whose| self.args.output.join(name(whose)));
            return Ok((trial::parity_of(&request.profile, &theirs, &ours)?, Vec::new()));
        }
        let mut theirs = self.machine(kernel, &trial::PACKAGES, &name("tuned"))?;
        let mut ours = self.machine(kernel, &trial::PACKAGES, &name("whylate"))?;
        let variables = [format!("isolated_cores={}", request.isolated)];
        let parity = trial::parity(&mut theirs, &mut ours, request, &variables)?;
        let findings = theirs.findings.into_iter().chain(ours.findings).collect();
        Ok((parity, findings))
    }

    fn write_page(&self, kernel: &str, parities: &[Parity]) -> Result<()> {
        let about = format!(
            "Debian with kernel {kernel} in QEMU, four CPUs, of which {} are isolated",
            self.args.isolated
        );
        let path = self.args.output.join(format!("parity-{kernel}.md"));
        std::fs::write(&path, trial::page(&about, parities))
            .with_context(|| format!("cannot write {}", path.display()))?;
        message!("written: {}", path.display());
        Ok(())
    }
}

fn report(finding: &Observation) {
    let right = if finding.right { "right" } else { "WRONG" };
    message!("  boot {}  {right}  {}: {}", finding.boot, finding.what, finding.came);
    if !finding.right {
        for line in finding.details.iter().take(LINES) {
            message!("      {line}");
        }
        if finding.details.len() > LINES {
            message!("      ... {} more lines", finding.details.len() - LINES);
        }
    }
}

/// One line for each machine.
fn table(machines: &[Value]) -> String {
    let row = |machine: &Value| {
        let text = |name: &str| machine.get(name).and_then(Value::as_str).unwrap_or("parity").to_owned();
        let findings =
            machine.get("findings").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let right =
            findings.iter().filter(|finding| finding.get("right") == Some(&Value::Bool(true))).count();
        format!(
            "{:<8} {:<24} {:<11} {right} of {} right\n",
            text("kernel"),
            text("profile"),
            text("kind"),
            findings.len()
        )
    };
    machines.iter().map(row).collect()
}
