//! The same profile, by TuneD on one machine and by whylate on another, equal one: which of TuneD's settings whylate
//! sets too, from TuneD's profile and from its own, and the reasons for the others.

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

/// The packages that the machines need.
pub const PACKAGES: [&str; 1] = ["tuned"];

/// Files and settings that TuneD needs itself. The kernel parameters are compared one by one on the command line, so
/// the files that pass them on are listed here.
const TUNED_OWN: [&str; 10] = [
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

/// The settings of one profile by TuneD and by whylate.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Parity {
    /// The profile.
    pub profile: String,
    /// One for each value that TuneD changes.
    pub settings: Vec<ParitySetting>,
}

/// A setting of TuneD.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ParitySetting {
    /// Its name.
    pub name: String,
    /// Untuned; `None`: it was missing.
    pub before: Option<String>,
    /// With TuneD.
    pub tuned: Option<String>,
    /// With `whylate apply --tuned`, which reads TuneD's profile.
    pub read: Side,
    /// With `whylate apply --profile`, whylate's own of that name.
    pub own: Side,
}

/// whylate's value of a setting of TuneD.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Side {
    /// The value.
    pub value: Option<String>,
    /// Its relation to TuneD's.
    pub made: Match,
    /// The reason for a difference, from the plan or from the deliberate differences.
    pub reason: Option<String>,
}

/// The relation of whylate's value to TuneD's.
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
    /// True for the same value, and for a difference with a reason.
    pub fn is_accounted_for(&self) -> bool {
        self.made == Match::Same || self.reason.is_some()
    }
}

impl ParitySetting {
    /// True where both ways are accounted for.
    pub fn is_accounted_for(&self) -> bool {
        self.read.is_accounted_for() && self.own.is_accounted_for()
    }
}

/// A machine that whylate has tuned.
struct Ours {
    state: MachineState,
    /// The settings that the plan leaves out, with the reasons.
    reasons: Vec<(String, String)>,
}

/// Tunes one machine with TuneD and the other with whylate, first from TuneD's profile and then from its own, and
/// compares their states after a reboot. `variables` are the lines of TuneD's `/etc/tuned/PROFILE-variables.conf`.
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
    let set_variables =
        || TrialCommand::new("TuneD's variables", format!("printf '%s\\n' {text} > {file}"), &[0]);
    theirs.boot(&[
        TrialCommand::state("untuned"),
        set_variables(),
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
    ours.boot(&[set_variables(), install, plan, apply])?;
    let [verify, state] = look("TuneD's profile");
    let [plan, apply] = planned(request, "our profile");
    let rollback = TrialCommand::new("rollback of TuneD's profile", verbs::rollback(), &[0]);
    ours.boot(&[verify, state, rollback, plan, apply])?;
    ours.boot(&look("our profile"))?;
    parity_of(&request.profile, theirs.out(), ours.out())
}

/// The comparison of two machines by their results: `theirs` and `ours` are the directories of their
/// [`Trial`]s.
///
/// # Errors
/// When a file is missing there: the run did not complete.
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

/// The differences between the first two, with the values of ours.
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
        if name == "/proc/cmdline" || TUNED_OWN.iter().any(|own| name.starts_with(own)) {
            continue;
        }
        let (before, with) = (difference.before.as_deref(), difference.after.as_deref());
        let our = [0, 1].map(|side: usize| ours[side].state.value(group, name));
        let name = if group == "threads" { format!("threads {name}") } else { name.clone() };
        settings.push(setting(name, before, with, our));
    }
    settings
}

/// The kernel's parameters by name; a parameter that is given more than once has all of its values, each once.
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

/// The settings that a plan leaves out or unchanged, with the reasons.
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
    fn each_value_that_tuned_changes_is_compared() {
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
        let compared: Vec<(&str, Match, Option<&str>)> =
            settings.iter().map(|s| (s.name.as_str(), s.own.made, s.own.reason.as_deref())).collect();
        assert_eq!(
            compared,
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
