//! The difference between a machine and what a profile asks of it, with reasons.
//!
//! ```text
//! Wish ──expand──> settings, each with how it is now ──┬─> Change     now -> then, with reasons
//!        (knobs, threads, irqs, parameters, units)     ├─> Kept       as it is wished
//!                                                      └─> LeftOut    could not be read, is not here
//! all of them together ──> conflicts (who would undo it), refusals (why it must not be)
//! ```

mod conflicts;
mod cpus;
mod expand;
mod groups;
mod irqs;
mod knobs;
mod links;
mod narrow;
mod parameters;
mod pattern;
mod refusals;
mod threads;
mod units;

pub use narrow::{for_rules, without_parameters};
pub use refusals::{Permits, without_root};

use crate::Setting;
use expand::{Expanded, Found, Place};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use whylate_host::{Snapshot, Tree, Why};
use whylate_profiles::{Aim, LeftOut, Reasons, Wish, Wishes, profile};

/// What would be done, what would not, and why.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// The machine it was made for.
    pub machine: Machine,
    /// What it was made of.
    pub wishes: Wishes,
    /// What is to be changed, in the order in which it will be.
    pub changes: Vec<Change>,
    /// What is as it should be.
    pub as_wished: Vec<Kept>,
    /// What was left alone: it could not be read, this kernel has no such thing, or nobody can do it.
    pub left_alone: Vec<LeftOut>,
    /// Who would undo it, or what it does not go together with.
    pub conflicts: Vec<Conflict>,
    /// Why it must not be applied as it is. Empty: it may.
    pub refusals: Vec<Refusal>,
}

/// By what a machine is known again.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// `uname -r`; `None`: not known.
    pub release: Option<String>,
    /// The CPUs online, as a list; `None`: not known.
    pub cpus: Option<String>,
    /// /proc/sys/kernel/random/boot_id: threads and interrupts are of one boot; `None`: not known.
    pub boot_id: Option<String>,
}

/// One change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// Of what.
    pub setting: Setting,
    /// How it is; `None`: it is not there.
    pub now: Option<String>,
    /// How it would be; `None`: it would not be there.
    pub then: Option<String>,
    /// Why.
    #[serde(default)]
    pub reasons: Reasons,
    /// Where that is asked for.
    pub origin: String,
    /// What else there is to know: that the running kernel differs from what the next boot will have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// A setting that need not be changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kept {
    /// Which.
    pub setting: Setting,
    /// How it is.
    pub value: Option<String>,
    /// What else there is to know, as of a [`Change`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// Something that does not go together with the plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Conflict {
    /// With whom: `irqbalance`, `TuneD`, `/etc/sysctl.d/99-x.conf`.
    pub with: String,
    /// What will happen.
    pub why: String,
    /// What to do.
    pub fix: String,
    /// The settings that are concerned, by name.
    pub settings: Vec<String>,
}

/// Why a plan is not applied.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    /// Stable kebab-case code, such as `no-housekeeping-cpu`.
    pub code: String,
    /// Why.
    pub why: String,
    /// What to do; with the option that overrides it, where there is one.
    pub fix: String,
}

impl Plan {
    /// True where nothing that was asked for could be looked at: then nobody can tell whether there is anything to
    /// change.
    pub fn is_blind(&self) -> bool {
        self.changes.is_empty() && self.as_wished.is_empty() && !self.left_alone.is_empty()
    }
}

/// Makes a plan for a machine. Of equal machines and wishes it is equal, to the order.
pub fn plan(wishes: Wishes, tree: &Tree, snapshot: &Snapshot, permits: &Permits) -> Plan {
    let place = Place::new(tree, snapshot);
    let mut plan = Plan { machine: machine(tree, snapshot), ..Plan::default() };
    // Of patterns that overlap the later one counts: what it settles no earlier one looks at.
    let mut settled: HashSet<Setting> = HashSet::new();
    let mut expanded: Vec<(&Wish, Expanded)> = Vec::new();
    for wish in wishes.wishes.iter().rev() {
        let mut one = expand::expand(wish, &place, &settled);
        one.found.retain(|found| !settled.contains(&found.setting));
        settled.extend(one.found.iter().map(|found| found.setting.clone()));
        expanded.push((wish, one));
    }
    let mut found: Vec<(&Wish, Found)> = Vec::new();
    for (wish, one) in expanded.into_iter().rev() {
        plan.left_alone.extend(one.left);
        found.extend(one.found.into_iter().map(|found| (wish, found)));
    }
    for (wish, found) in found {
        let Found { setting, now, then, note } = found;
        if now == then {
            plan.as_wished.push(Kept { setting, value: now, note });
            continue;
        }
        if let (Setting::Parameter { name }, Some(_)) = (&setting, &then)
            && let Some(why) = parameters::unknown(name, snapshot)
        {
            plan.left_alone.push(LeftOut { what: setting.to_string(), why });
            continue;
        }
        let reasons = links::complete(&wish.reasons, &setting);
        plan.changes.push(Change { setting, now, then, reasons, origin: wish.origin.clone(), note });
    }
    let is_parameter = |wish: &Wish| matches!(wish.aim, Aim::Parameter { .. });
    if place.boot.assumed && wishes.wishes.iter().any(is_parameter) {
        let why = "it was not collected: kernel parameters are compared with those of the running kernel";
        plan.left_alone
            .push(LeftOut { what: "the boot loader's configuration".to_owned(), why: why.to_owned() });
    }
    plan.wishes = wishes;
    say_once_that_it_is_captured(&mut plan);
    plan.conflicts = conflicts::of(&plan, &place);
    plan.refusals = refusals::of(&plan, &place, permits);
    plan
}

/// Reads every file of the kernel that a built-in profile may set: so a capture has them, and a plan can be made of it.
pub fn look(tree: &Tree, snapshot: &Snapshot) {
    let cpus = snapshot.cpus.present.known().cloned().unwrap_or_default();
    for pattern in profile::files(&cpus) {
        knobs::read(&pattern, tree);
    }
}

/// A captured machine lacks files, and for each that is wanted the reading says how to capture it: that is the same for
/// all of them, and `whylate snapshot` takes less than what profiles may name.
fn say_once_that_it_is_captured(plan: &mut Plan) {
    let long = Why::NotCollected.to_string();
    let mut lacks = false;
    for left in plan.left_alone.iter_mut().chain(&mut plan.wishes.left_out) {
        if left.why.contains(&long) {
            left.why = left.why.replace(&long, "it was not collected");
            lacks = true;
        }
    }
    if lacks {
        let why = "what was not collected cannot be told from here: an archive of `whylate snapshot` has what the checks \
                   read and the files of the kernel that built-in profiles set; `whylate plan` on the machine itself sees \
                   all that a profile may set, and the boot loader's files";
        let what = "this is a captured machine".to_owned();
        plan.left_alone.insert(0, LeftOut { what, why: why.to_owned() });
    }
}

fn machine(tree: &Tree, snapshot: &Snapshot) -> Machine {
    Machine {
        release: snapshot.kernel.release.known().cloned(),
        cpus: snapshot.cpus.online.known().map(ToString::to_string),
        boot_id: tree.value::<String>("/proc/sys/kernel/random/boot_id").known().cloned(),
    }
}
