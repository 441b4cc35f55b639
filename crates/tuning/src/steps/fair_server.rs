//! The deadline server of each CPU: its runtime must not exceed its period at any time, so neither can be set with
//! no regard to the other. The runtime is set to 0 first, then the period, then the runtime
//! (sched_fair_server_write, kernel/sched/debug.c).

use super::step::step;
use crate::{ApplyStep, Change, Setting, System, Target, TargetState};
use std::collections::BTreeMap;

const BEGIN: &str = "/sys/kernel/debug/sched/fair_server/";

/// Whether a path is a tunable of one.
pub(super) fn is_one(path: &str) -> bool {
    path.strip_prefix(BEGIN).is_some_and(|rest| rest.ends_with("/runtime") || rest.ends_with("/period"))
}

/// What is to become of each CPU's runtime and period, by the directory of the two.
pub(super) struct Pairs<'a>(BTreeMap<&'a str, Vec<&'a Change>>);

impl<'a> Pairs<'a> {
    pub(super) fn of(changes: &'a [Change]) -> Pairs<'a> {
        let mut pairs: BTreeMap<&str, Vec<&Change>> = BTreeMap::new();
        for change in changes {
            let Setting::Tunable { path } = &change.setting else { continue };
            if let Some((directory, _)) = path.rsplit_once('/').filter(|_| is_one(path)) {
                pairs.entry(directory).or_default().push(change);
            }
        }
        Pairs(pairs)
    }

    /// The steps of the pair that this path is of; none where they were given for the other one.
    pub(super) fn steps(&mut self, path: &str, system: &dyn System) -> Vec<ApplyStep> {
        let directory = path.rsplit_once('/').map_or(path, |(directory, _)| directory);
        let Some(changes) = self.0.remove(directory) else { return Vec::new() };
        let tunable = |name: &str| Target::Tunable { path: format!("{directory}/{name}") };
        let find = |name: &str| {
            let is = |change: &&&Change| matches!(&change.setting, Setting::Tunable { path } if path.ends_with(name));
            changes.iter().find(is).copied()
        };
        let (runtime, period) = (find("/runtime"), find("/period"));
        // The pair is made together or not at all: with one of them refused the runtime would stay 0.
        let settings: Vec<String> = changes.iter().map(|change| change.setting.to_string()).collect();
        let set = |name: &str, value: &str, change: &Change| ApplyStep {
            settings: settings.clone(),
            ..step(tunable(name), TargetState::Value(value.to_owned()), change)
        };
        let then = |change: &Change| change.then.clone().unwrap_or_default();
        let now = match system.read(&tunable("runtime")) {
            Ok(TargetState::Value(now)) => now,
            _ => String::new(),
        };
        let mut steps = Vec::new();
        if let Some(period) = period {
            // Where it is not changed, it is what it was.
            let last = runtime.map_or_else(|| now.clone(), then);
            let of = runtime.unwrap_or(period);
            if now != "0" {
                steps.push(set("runtime", "0", of));
            }
            steps.push(set("period", &then(period), period));
            if last != "0" && !last.is_empty() {
                steps.push(set("runtime", &last, of));
            }
        } else if let Some(runtime) = runtime {
            steps.push(set("runtime", &then(runtime), runtime));
        }
        steps
    }
}
