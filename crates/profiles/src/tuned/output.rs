//! What becomes of a profile's options: desired settings, and what is left out.

use super::error::{TunedError, TunedLocation};
use super::glob;
use super::merge::{Item, Unit};
use super::python::{fnmatch, int};
use super::variables::{Variables, unresolved};
use crate::{DesiredSetting, Reasons, Selector, Skipped, tunable};
use std::collections::BTreeMap;
use std::sync::Arc;
use whylate_host::{Reading, Why};

/// Whether a machine may be without what is desired for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Must {
    /// TuneD reports an error where it is not there.
    Exist,
    /// It prints nothing.
    Perhaps,
}

pub(super) struct Output<'v, 'a> {
    pub(super) variables: &'v mut Variables<'a>,
    desired: Vec<DesiredSetting>,
    skipped: Vec<Skipped>,
    /// Devices that belong to a unit, by plugin: the first one has them.
    claimed: BTreeMap<(String, String), Arc<str>>,
}

impl<'v, 'a> Output<'v, 'a> {
    pub(super) fn new(variables: &'v mut Variables<'a>) -> Output<'v, 'a> {
        Output { variables, desired: Vec::new(), skipped: Vec::new(), claimed: BTreeMap::new() }
    }

    pub(super) fn done(self) -> (Vec<DesiredSetting>, Vec<Skipped>) {
        (self.desired, self.skipped)
    }

    /// Leaves an option out.
    pub(super) fn leave(&mut self, item: &Item, why: impl Into<String>) {
        self.leave_at(&item.location, &format!("{}={}", item.name, item.value), why);
    }

    pub(super) fn leave_at(&mut self, location: &TunedLocation, what: &str, why: impl Into<String>) {
        self.skipped.push(Skipped { what: format!("{location} {what}"), why: why.into() });
    }

    /// Leaves a whole unit out, each of its options named.
    pub(super) fn leave_unit(&mut self, unit: &Unit, why: &str) {
        if unit.options.is_empty() {
            self.skipped.push(Skipped { what: unit.location.to_string(), why: why.to_owned() });
        }
        for item in &unit.options {
            self.leave(item, why);
        }
    }

    /// An option's value; `None`: it cannot be determined, which is noted.
    ///
    /// # Errors
    /// If its variables cannot be replaced.
    pub(super) fn value(&mut self, item: &Item) -> Result<Option<String>, TunedError> {
        self.text(&item.value, item)
    }

    /// The same for a text that is made of an option's value.
    pub(super) fn text(&mut self, text: &str, item: &Item) -> Result<Option<String>, TunedError> {
        let value = self.variables.expand(text, &item.location)?;
        if let Some(why) = value.unknown {
            self.leave(item, why);
            return Ok(None);
        }
        if let Some(reference) = unresolved(&value.text) {
            let why = match reference.starts_with("${f:") {
                true => format!(
                    "nothing can be put for {reference}: an argument is wrong, or TuneD has no such function"
                ),
                false => format!("nothing sets the variable {reference}"),
            };
            self.leave(item, why);
            return Ok(None);
        }
        Ok(Some(value.text))
    }

    /// Adds a desired setting. A later one with the same selector replaces the earlier one.
    pub(super) fn setting(&mut self, selector: Selector, value: impl Into<String>, item: &Item, must: Must) {
        self.desired.retain(|setting| setting.selector != selector);
        self.desired.push(DesiredSetting {
            selector,
            value: Some(value.into()),
            reasons: Reasons::default(),
            origin: item.location.to_string(),
            optional: must == Must::Perhaps,
        });
    }

    /// Adds a desired value of a kernel file, or of those that match a pattern.
    pub(super) fn tunable(&mut self, path: &str, value: &str, item: &Item, must: Must) {
        let value = self.as_shown(path, &tunable::normal(path, value));
        self.setting(Selector::Tunable { path: path.to_owned() }, value, item, must);
    }

    /// A module's parameter that is Y or N shows itself as such, however it was written.
    fn as_shown(&self, path: &str, value: &str) -> String {
        let is_flag =
            path.starts_with("/sys/module/") && matches!(self.now(path).value.as_deref(), Ok("Y" | "N"));
        match value {
            "1" | "y" | "Y" if is_flag => "Y".to_owned(),
            "0" | "n" | "N" if is_flag => "N".to_owned(),
            value => value.to_owned(),
        }
    }

    /// The value that a file has now.
    pub(super) fn now(&self, path: &str) -> Reading<String> {
        self.variables.facts.tree.text(path).and_then(|text| Ok(tunable::normal(path, text)))
    }

    /// The same as [`Output::tunable`], for values that may begin with `>` or `<`: only if it is greater or less than
    /// what is there now.
    pub(super) fn assign(&mut self, path: &str, value: &str, item: &Item, must: Must) {
        let is_conditional = value.starts_with(['>', '<']) && value.chars().count() > 1;
        let wanted = if is_conditional { &value[1..] } else { value };
        if !is_conditional {
            return self.tunable(path, wanted, item, must);
        }
        let now = self.now(path);
        match now.value {
            Ok(text) => match (int(wanted, 10), int(&text, 10)) {
                (Some(setting), Some(now)) if (setting > now) == value.starts_with('>') && setting != now => {
                    self.tunable(path, wanted, item, must);
                }
                (Some(_), Some(_)) => {}
                _ => self.leave(item, format!("`{wanted}` cannot be compared with `{text}` in {path}")),
            },
            Err(Why::Missing) => self.tunable(path, wanted, item, must),
            Err(why) => self.leave(item, format!("it depends on what is there now; {path}: {why}")),
        }
    }

    /// The same for all files of a pattern at once; each on its own where it depends on what is there.
    pub(super) fn assign_all(&mut self, pattern: &str, value: &str, item: &Item) {
        if !value.starts_with(['>', '<']) {
            return self.tunable(pattern, value, item, Must::Perhaps);
        }
        match glob::files(self.variables.facts.tree, pattern) {
            Ok(paths) => {
                // A directory need not have the file.
                let is_there = |path: &&String| self.variables.facts.tree.text(path).value.is_ok();
                let paths: Vec<String> = paths.iter().filter(is_there).cloned().collect();
                paths.iter().for_each(|path| self.assign(path, value, item, Must::Perhaps));
            }
            Err(why) => self.leave(item, why),
        }
    }

    /// The governor that a CPU has, or will have.
    pub(super) fn governor(&self, cpu: &str) -> Option<String> {
        let path = |cpu: &str| format!("/sys/devices/system/cpu/{cpu}/cpufreq/scaling_governor");
        let own = self.now(&path(cpu)).value.ok()?;
        let is_meant = |setting: &&DesiredSetting| matches!(&setting.selector, Selector::Tunable { path: wished } if *wished == path(cpu) || *wished == path("cpu*"));
        let wished = self.desired.iter().rfind(is_meant).and_then(|setting| setting.value.clone());
        Some(wished.unwrap_or(own))
    }

    /// Those of the devices that are a unit's, and no former one's: names with wildcards, `!` before those that are
    /// not.
    ///
    /// # Errors
    /// If the variables in them cannot be replaced.
    pub(super) fn devices(&mut self, unit: &Unit, all: Vec<String>) -> Result<Vec<String>, TunedError> {
        let rules = match &unit.devices {
            None => "*".to_owned(),
            Some(item) => match self.value(item)? {
                Some(rules) => rules,
                None => return Ok(Vec::new()),
            },
        };
        if let Some(item) = &unit.devices_udev_regex {
            self.leave(item, "udev's database, which it looks at, is not read: the unit is left out");
            return Ok(Vec::new());
        }
        let mut own: Vec<String> = all.into_iter().filter(|device| is_of(device, &rules)).collect();
        own.retain(|device| {
            let owner = self.claimed.entry((unit.kind.clone(), device.clone()));
            *owner.or_insert_with(|| unit.name.clone()) == unit.name
        });
        Ok(own)
    }

    /// True for a unit without a word about devices.
    pub(super) fn is_for_all(unit: &Unit) -> bool {
        unit.devices_udev_regex.is_none() && unit.devices.as_ref().is_none_or(|item| item.value.trim() == "*")
    }
}

/// Whether a device is of rules: without any that selects some, all are.
pub(super) fn is_of(device: &str, rules: &str) -> bool {
    let rules = rules.split(|c: char| c.is_whitespace() || c == ',').filter(|rule| !rule.is_empty());
    let (without, with): (Vec<&str>, Vec<&str>) = rules.partition(|rule| rule.starts_with('!'));
    (with.is_empty() || with.iter().any(|rule| fnmatch(device, rule)))
        && !without.iter().any(|rule| fnmatch(device, &rule[1..]))
}
