//! The same profile, by TuneD on one machine and by us on another that was the same: which of TuneD's settings we
//! make as well, and why not the others.

use super::trial::{Line, Trial};
use super::{Ask, verbs};
use crate::LabError;
use crate::state::{State, Values, compare};
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeSet;

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

/// What the same profile sets by both.
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
    /// With us.
    pub ours: Option<String>,
    /// Why we make it otherwise or not at all, where the plan says so.
    pub reason: Option<String>,
}

/// How we stand to a setting of TuneD's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Made {
    /// The same value.
    Same,
    /// Another value.
    Differently,
    /// Not at all.
    Not,
}

impl ParitySetting {
    /// How we stand to it.
    pub fn made(&self) -> Made {
        if self.ours == self.tuned {
            Made::Same
        } else if self.ours == self.before {
            Made::Not
        } else {
            Made::Differently
        }
    }

    /// True where the same is made, or a reason is given why not.
    pub fn is_accounted_for(&self) -> bool {
        self.made() == Made::Same || self.reason.is_some()
    }
}

/// Tunes one machine with TuneD and the other with us, reboots both, and compares. `variables` are the lines of
/// TuneD's `/etc/tuned/PROFILE-variables.conf`.
///
/// # Errors
/// As [`story`](super::story).
pub fn parity(
    theirs: &mut Trial<'_>,
    ours: &mut Trial<'_>,
    ask: &Ask,
    variables: &[String],
) -> Result<Parity, LabError> {
    let profile = verbs::quoted(&ask.profile);
    let file = verbs::quoted(&format!("/etc/tuned/{}-variables.conf", ask.profile));
    let text = verbs::quoted(&variables.join("\n"));
    let untuned = theirs.boot(&[
        Line::state("untuned"),
        Line::new("TuneD's variables", format!("printf '%s\\n' {text} > {file}"), &[0]),
        Line::new("TuneD starts", "systemctl enable --now tuned".to_owned(), &[0]),
        Line::new("TuneD's profile", format!("tuned-adm profile {profile}"), &[0]),
    ])?;
    let tuned = theirs
        .boot(&[Line::new("TuneD has tuned", "tuned-adm active".to_owned(), &[0]), Line::state("tuned")])?;
    let untuned = untuned.state("untuned")?;
    let planned = ours.boot(&[
        Line::new("program installed", verbs::install(), &[0]),
        Line::new("plan", verbs::plan(ask), &[1]),
        Line::new("apply", verbs::apply(ask, None), &[0]),
    ])?;
    let applied = ours.boot(&[Line::new("verify", verbs::verify(), &[0]), Line::state("tuned")])?;
    let reasons = reasons(&planned.json("plan")?);
    Ok(Parity {
        profile: ask.profile.clone(),
        settings: settings(&untuned, &tuned.state("tuned")?, &applied.state("tuned")?, &reasons),
    })
}

/// What differs between the first two, and what the third has there.
fn settings(
    untuned: &State,
    tuned: &State,
    ours: &State,
    reasons: &[(String, String)],
) -> Vec<ParitySetting> {
    let setting = |name: String, before: Option<&str>, tuned: Option<&str>, ours: Option<&str>| {
        let owned = |value: Option<&str>| value.map(str::to_owned);
        let mut setting = ParitySetting {
            reason: None,
            before: owned(before),
            tuned: owned(tuned),
            ours: owned(ours),
            name,
        };
        if setting.made() != Made::Same {
            setting.reason = reason(&setting.name, reasons);
        }
        setting
    };
    let mut settings = Vec::new();
    let lines = [untuned, tuned, ours].map(parameters);
    let names: BTreeSet<&String> = lines[0].keys().chain(lines[1].keys()).collect();
    for name in names {
        let [before, with, our] = [0, 1, 2].map(|side: usize| lines[side].get(name).map(String::as_str));
        if before != with {
            settings.push(setting(format!("kernel parameter {name}"), before, with, our));
        }
    }
    for difference in compare(untuned, tuned).differences {
        let (group, name) = (&difference.group, &difference.name);
        if name == "/proc/cmdline" || BOOKS.iter().any(|books| name.starts_with(books)) {
            continue;
        }
        let (before, with) = (difference.before.as_deref(), difference.after.as_deref());
        settings.push(setting(name.clone(), before, with, ours.value(group, name)));
    }
    settings
}

/// The kernel's parameters by name; those that are given more than once with all values.
fn parameters(state: &State) -> Values {
    let mut values = Values::new();
    for word in state.value("kernel", "/proc/cmdline").unwrap_or_default().split_ascii_whitespace() {
        let (name, value) = word.split_once('=').unwrap_or((word, ""));
        let all = values.entry(name.to_owned()).or_default();
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

/// All profiles as a page of the documentation; `about` says on what machine.
pub fn page(about: &str, profiles: &[Parity]) -> String {
    let mut page = format!(
        "# Side by side with TuneD\n\n<!-- generated by `whylate lab tuning --parity`; do not edit -->\n\n\
         Each profile was applied by TuneD on one machine and by `whylate apply` on another that was the same \
         ({about}). Both were rebooted. Listed is every value of the machine that TuneD has changed; TuneD's own \
         files are not. A reason is what `whylate plan` says.\n"
    );
    for Parity { profile, settings } in profiles {
        let count = |made| settings.iter().filter(|setting| setting.made() == made).count();
        page.push_str(&format!(
            "\n## {profile}\n\n{} values: {} the same, {} differently, {} not.\n\n",
            settings.len(),
            count(Made::Same),
            count(Made::Differently),
            count(Made::Not)
        ));
        page.push_str("| setting | before | TuneD | whylate | |\n|---|---|---|---|---|\n");
        let mut sorted: Vec<&ParitySetting> = settings.iter().collect();
        sorted.sort_by_key(|setting| (setting.made(), setting.name.clone()));
        for setting in sorted {
            let (made, why) = match setting.made() {
                Made::Same => ("same", ""),
                Made::Differently => {
                    ("differently: ", setting.reason.as_deref().unwrap_or("no reason given"))
                }
                Made::Not => ("not: ", setting.reason.as_deref().unwrap_or("no reason given")),
            };
            let [before, tuned, ours] = [&setting.before, &setting.tuned, &setting.ours].map(cell);
            page.push_str(&format!("| `{}` | {before} | {tuned} | {ours} | {made}{why} |\n", setting.name));
        }
    }
    page
}

/// A value in a table: in one line, and not too long a one.
fn cell(value: &Option<String>) -> String {
    const LONGEST: usize = 60;
    let Some(value) = value else { return "(none)".to_owned() };
    let line = value.split_ascii_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|");
    match line.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("`{}` ...", line.get(..end).unwrap_or_default()),
        None if line.is_empty() => "(empty)".to_owned(),
        None => format!("`{line}`"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::collections::BTreeMap;

    fn state(cmdline: &str, values: &[(&str, &str)]) -> State {
        let mut kernel: Values =
            values.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect();
        kernel.insert("/proc/cmdline".into(), cmdline.into());
        State { groups: BTreeMap::from([("kernel".to_owned(), kernel)]) }
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
        let settings = settings(&untuned, &tuned, &ours, &reasons(&plan));
        let told: Vec<(&str, Made, Option<&str>)> =
            settings.iter().map(|s| (s.name.as_str(), s.made(), s.reason.as_deref())).collect();
        assert_eq!(
            told,
            [
                ("kernel parameter isolcpus", Made::Same, None),
                ("kernel parameter nosmt", Made::Same, None),
                ("kernel parameter skew_tick", Made::Not, Some("not asked for")),
                (migration, Made::Not, Some("no such file")),
                (stat, Made::Same, None),
                (swap, Made::Differently, None),
            ]
        );
        assert!(!settings[5].is_accounted_for() && settings[3].is_accounted_for());
        let page = page("a machine", &[Parity { profile: "realtime".into(), settings }]);
        assert!(page.contains("6 values: 3 the same, 1 differently, 2 not."), "{page}");
        assert!(
            page.contains(
                "| `/proc/sys/vm/swappiness` | `60` | `10` | `20` | differently: no reason given |"
            )
        );
    }

    #[test]
    fn cells_are_short_and_stay_in_their_table() {
        assert_eq!(cell(&Some("a|b\nc".into())), "`a\\|b c`");
        assert!(cell(&Some("ü".repeat(100))).ends_with("` ..."));
        assert_eq!((cell(&None), cell(&Some(String::new()))), ("(none)".into(), "(empty)".into()));
    }
}
