//! The same profile, by TuneD on one machine and by us on another that was the same: which of TuneD's settings we
//! make as well, by TuneD's profile and by our own, and why not the others.

use super::machine::{BootResults, Trial, TrialCommand};
use super::{TuningRequest, verbs};
use crate::state::{MachineState, Values, compare};
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;
use whylate_base::CpuSet;
use whylate_lab::LabError;

mod deliberate;
mod page;

pub use page::page;

/// The packages that a machine needs for it.
pub const PACKAGES: [&str; 1] = ["tuned"];

/// How TuneD keeps its books, not what it sets. The kernel parameters are compared one by one, as the kernel was given
/// them, so the files they go through are not.
const BOOKS: [&str; 10] = [
    "/etc/tuned",
    "/var/lib/tuned",
    "/etc/default/grub",
    "/etc/grub.d",
    "/boot/grub/",
    "/boot/tuned",
    "/etc/modprobe.d/tuned",
    "/etc/systemd/system/multi-user.target.wants/tuned.service",
    "tuned",
    "/var/lib/systemd",
];

/// What the same profile sets by TuneD and by us.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Parity {
    /// The profile.
    pub profile: String,
    /// One for each value that is another with TuneD than without.
    pub settings: Vec<ParitySetting>,
}

/// A setting of TuneD's.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ParitySetting {
    /// Which.
    pub name: String,
    /// Untuned; `None`: it was not there.
    pub before: Option<String>,
    /// With TuneD.
    pub tuned: Option<String>,
    /// With `whylate apply --tuned`, which reads TuneD's profile.
    pub read: Side,
    /// With `whylate apply --profile`, our own of that name.
    pub own: Side,
}

/// What we make of a setting of TuneD's.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Side {
    /// Its value with us.
    pub value: Option<String>,
    /// How that stands to TuneD's.
    pub made: Match,
    /// Why it is made otherwise or not at all, where the plan says so, or it is so on purpose.
    pub reason: Option<String>,
}

/// How we stand to a setting of TuneD's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Match {
    /// The same value.
    Same,
    /// Another value.
    Differently,
    /// Not at all.
    Not,
}

impl Match {
    fn of(before: Option<&str>, tuned: Option<&str>, ours: Option<&str>) -> Match {
        if are_alike(ours, tuned) {
            Match::Same
        } else if are_alike(ours, before) {
            Match::Not
        } else {
            Match::Differently
        }
    }
}

/// True of the same text, and of lists of the same CPUs: `0,1` and `0-1`.
fn are_alike(one: Option<&str>, other: Option<&str>) -> bool {
    let cpus = |text: Option<&str>| text?.parse::<CpuSet>().ok().filter(|cpus| !cpus.is_empty());
    one == other || cpus(one).is_some_and(|one| cpus(other) == Some(one))
}

impl Side {
    /// True where the same is made, or a reason is given why not.
    pub fn is_accounted_for(&self) -> bool {
        self.made == Match::Same || self.reason.is_some()
    }
}

impl ParitySetting {
    /// True where both of our ways are accounted for.
    pub fn is_accounted_for(&self) -> bool {
        self.read.is_accounted_for() && self.own.is_accounted_for()
    }
}

/// A machine that we have tuned.
struct Ours {
    state: MachineState,
    /// What the plan left out, each with the reason.
    reasons: Vec<(String, String)>,
}

/// Tunes one machine with TuneD and the other with us, first by TuneD's profile and then by our own, and compares
/// what they are after a reboot. `variables` are the lines of TuneD's `/etc/tuned/PROFILE-variables.conf`.
///
/// # Errors
/// As [`story`](super::story()).
pub fn parity(
    theirs: &mut Trial<'_>,
    ours: &mut Trial<'_>,
    request: &TuningRequest,
    variables: &[String],
) -> Result<Parity, LabError> {
    let profile = verbs::quoted(&request.profile);
    let file = verbs::quoted(&format!("/etc/tuned/{}-variables.conf", request.profile));
    let text = verbs::quoted(&variables.join("\n"));
    let told = || TrialCommand::new("TuneD's variables", format!("printf '%s\\n' {text} > {file}"), &[0]);
    theirs.boot(&[
        TrialCommand::state("untuned"),
        told(),
        TrialCommand::new("TuneD starts", "systemctl enable --now tuned".to_owned(), &[0]),
        TrialCommand::new("TuneD's profile", format!("tuned-adm profile {profile}"), &[0]),
    ])?;
    theirs.boot(&[
        TrialCommand::new("TuneD has tuned", "tuned-adm active".to_owned(), &[0]),
        TrialCommand::state("tuned"),
    ])?;

    let by_theirs = TuningRequest { of_tuned: true, ..request.clone() };
    let planned = |request: &TuningRequest, name: &str| {
        [
            TrialCommand::new(&format!("plan, {name}"), verbs::plan(request), &[1]),
            TrialCommand::new(&format!("apply, {name}"), verbs::apply(request, None), &[0]),
        ]
    };
    let look = |name: &str| {
        [TrialCommand::new(&format!("verify, {name}"), verbs::verify(), &[0]), TrialCommand::state("tuned")]
    };
    let [plan, apply] = planned(&by_theirs, "TuneD's profile");
    let install = TrialCommand::new("program installed", verbs::install(), &[0]);
    ours.boot(&[told(), install, plan, apply])?;
    let [verify, state] = look("TuneD's profile");
    let [plan, apply] = planned(request, "our profile");
    let rollback = TrialCommand::new("rollback of TuneD's profile", verbs::rollback(), &[0]);
    ours.boot(&[verify, state, rollback, plan, apply])?;
    ours.boot(&look("our profile"))?;
    parity_of(&request.profile, theirs.out(), ours.out())
}

/// The comparison of two machines by what they left behind: `theirs` and `ours` are the directories of their
/// [`Trial`]s.
///
/// # Errors
/// When something is missing there: the run did not get to its end.
pub fn parity_of(profile: &str, theirs: &Path, ours: &Path) -> Result<Parity, LabError> {
    let [first, second, third] = [1, 2, 3].map(|boot| BootResults::of(ours, boot));
    let sides = [
        Ours { state: second.state("tuned")?, reasons: reasons(&first.json("plan")?) },
        Ours { state: third.state("tuned")?, reasons: reasons(&second.json("plan")?) },
    ];
    let (untuned, tuned) =
        (BootResults::of(theirs, 1).state("untuned")?, BootResults::of(theirs, 2).state("tuned")?);
    Ok(Parity { profile: profile.to_owned(), settings: settings(&untuned, &tuned, &sides) })
}

/// What differs between the first two, and what ours have there.
fn settings(untuned: &MachineState, tuned: &MachineState, ours: &[Ours; 2]) -> Vec<ParitySetting> {
    let setting = |name: String, before: Option<&str>, with: Option<&str>, our: [Option<&str>; 2]| {
        let owned = |value: Option<&str>| value.map(str::to_owned);
        let side = |number: usize| {
            let made = Match::of(before, with, our[number]);
            let planned = || reason(&name, &ours[number].reasons);
            let known = || deliberate::why(&name, number == 0).map(str::to_owned);
            let reason = if made == Match::Same { None } else { planned().or_else(known) };
            Side { value: owned(our[number]), made, reason }
        };
        let (read, own) = (side(0), side(1));
        ParitySetting { before: owned(before), tuned: owned(with), read, own, name }
    };
    let mut settings = Vec::new();
    let lines = [untuned, tuned, &ours[0].state, &ours[1].state].map(parameters);
    let names: BTreeSet<&String> = lines[0].keys().chain(lines[1].keys()).collect();
    for name in names {
        let [before, with, read, own] =
            [0, 1, 2, 3].map(|side: usize| lines[side].get(name).map(String::as_str));
        if before != with {
            settings.push(setting(format!("kernel parameter {name}"), before, with, [read, own]));
        }
    }
    for difference in compare(untuned, tuned).differences {
        let (group, name) = (&difference.group, &difference.name);
        if name == "/proc/cmdline" || BOOKS.iter().any(|books| name.starts_with(books)) {
            continue;
        }
        let (before, with) = (difference.before.as_deref(), difference.after.as_deref());
        let our = [0, 1].map(|side: usize| ours[side].state.value(group, name));
        let name = if group == "threads" { format!("threads {name}") } else { name.clone() };
        settings.push(setting(name, before, with, our));
    }
    settings
}

/// The kernel's parameters by name; those that are given more than once with all values, each once: saying the same
/// again says nothing.
fn parameters(state: &MachineState) -> Values {
    let mut values = Values::new();
    for word in state.value("kernel", "/proc/cmdline").unwrap_or_default().split_ascii_whitespace() {
        let (name, value) = word.split_once('=').unwrap_or((word, ""));
        let all = values.entry(name.to_owned()).or_default();
        if all.split(' ').any(|known| known == value) {
            continue;
        }
        if !all.is_empty() {
            all.push(' ');
        }
        all.push_str(value);
    }
    values
}

/// What a plan leaves out or alone, with the reason; and what it changes, with why.
fn reasons(plan: &Value) -> Vec<(String, String)> {
    let list = |path: &str| plan.pointer(path).and_then(Value::as_array).into_iter().flatten();
    let text = |value: &Value, name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
    let left = list("/left_alone").chain(list("/wishes/left_out")).chain(list("/left_out"));
    left.filter_map(|left| Some((text(left, "what")?, text(left, "why")?))).collect()
}

/// The reason that names the setting: by its path, its sysctl, or its parameter.
fn reason(name: &str, reasons: &[(String, String)]) -> Option<String> {
    let short = name.strip_prefix("kernel parameter ").unwrap_or(name);
    let sysctl = name.strip_prefix("/proc/sys/").map(|sysctl| sysctl.replace('/', "."));
    let names = |what: &str, wanted: &str| {
        what.split(|c: char| c.is_whitespace() || matches!(c, '=' | ',' | ':')).any(|word| word == wanted)
    };
    let found = reasons.iter().find(|(what, _)| {
        names(what, short) || sysctl.as_deref().is_some_and(|sysctl| names(what, sysctl)) || what == name
    });
    found.map(|(_, why)| why.clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::collections::BTreeMap;

    fn state(cmdline: &str, values: &[(&str, &str)]) -> MachineState {
        let mut kernel: Values =
            values.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect();
        kernel.insert("/proc/cmdline".into(), cmdline.into());
        MachineState { groups: BTreeMap::from([("kernel".to_owned(), kernel)]) }
    }

    #[test]
    fn lists_of_the_same_cpus_are_the_same() {
        assert_eq!(Match::of(None, Some("0,1"), Some("0-1")), Match::Same);
        assert_eq!(Match::of(None, Some("0,1"), Some("0-2")), Match::Differently);
        assert_eq!(Match::of(Some(""), Some("on"), Some("")), Match::Not);
    }

    #[test]
    fn each_value_that_tuned_changes_is_told_apart() {
        let (stat, migration, swap, thp) = (
            "/proc/sys/vm/stat_interval",
            "/proc/sys/kernel/timer_migration",
            "/proc/sys/vm/swappiness",
            "/sys/kernel/mm/transparent_hugepage/enabled",
        );
        let untuned =
            state("quiet nosmt=force", &[(stat, "1"), (migration, "1"), (swap, "60"), (thp, "always")]);
        let tuned = state(
            "quiet isolcpus=2-3 skew_tick=1",
            &[(stat, "10"), (migration, "0"), (swap, "10"), (thp, "always"), ("/etc/tuned/x", "y")],
        );
        let ours =
            state("quiet isolcpus=2-3", &[(stat, "10"), (migration, "1"), (swap, "20"), (thp, "never")]);
        let plan = json!({
            "left_alone": [{"what": "kernel.timer_migration", "why": "no such file"}],
            "wishes": {"left_out": [{"what": "skew_tick", "why": "not asked for"}]},
        });
        let sides = [
            Ours { state: tuned.clone(), reasons: Vec::new() },
            Ours { state: ours, reasons: reasons(&plan) },
        ];
        let settings = settings(&untuned, &tuned, &sides);
        assert!(settings.iter().all(|setting| setting.read.made == Match::Same));
        let told: Vec<(&str, Match, Option<&str>)> =
            settings.iter().map(|s| (s.name.as_str(), s.own.made, s.own.reason.as_deref())).collect();
        assert_eq!(
            told,
            [
                ("kernel parameter isolcpus", Match::Same, None),
                ("kernel parameter nosmt", Match::Same, None),
                ("kernel parameter skew_tick", Match::Not, Some("not asked for")),
                (migration, Match::Not, Some("no such file")),
                (stat, Match::Same, None),
                (swap, Match::Differently, None),
            ]
        );
        assert!(!settings[5].is_accounted_for() && settings[3].is_accounted_for());
    }
}
