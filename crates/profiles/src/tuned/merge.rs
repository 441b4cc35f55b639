//! Profiles that include others become one: units of the same name are one unit, whose options the later profile
//! replaces one by one.

use super::config::{Entry, Section};
use super::error::TunedLocation;
use super::locate;
use super::python::is_word;
use std::sync::Arc;

/// A profile, as its file has it.
#[derive(Clone, Debug, Default)]
pub(super) struct Profile {
    /// Of `[main]`.
    pub(super) main: Vec<Item>,
    /// In order.
    pub(super) units: Vec<Unit>,
}

/// An option with its value.
#[derive(Clone, Debug)]
pub(super) struct Item {
    pub(super) name: String,
    pub(super) value: String,
    pub(super) location: TunedLocation,
}

/// A section other than `[main]`: settings of one plugin, perhaps for certain devices only.
#[derive(Clone, Debug)]
pub(super) struct Unit {
    pub(super) name: Arc<str>,
    pub(super) location: TunedLocation,
    /// The plugin.
    pub(super) kind: String,
    pub(super) enabled: bool,
    replace: bool,
    prepend: bool,
    drop: Vec<String>,
    pub(super) devices: Option<Item>,
    pub(super) devices_udev_regex: Option<Item>,
    pub(super) cpuinfo_regex: Option<Item>,
    pub(super) uname_regex: Option<Item>,
    pub(super) script_pre: Option<Item>,
    pub(super) script_post: Option<Item>,
    pub(super) priority: Option<Item>,
    /// `script=`, with their whole paths: those of the included profiles first.
    pub(super) scripts: Vec<Item>,
    pub(super) options: Vec<Item>,
}

impl Profile {
    /// Of a file in a directory, for which `${i:PROFILE_DIR}` stands.
    pub(super) fn of(sections: Vec<Section>, directory: &str) -> Profile {
        let mut profile = Profile::default();
        for section in sections {
            let items = section.entries.into_iter().filter_map(|entry| Item::of(entry, directory)).collect();
            match &*section.name {
                "main" => profile.main = items,
                _ => profile.units.push(Unit::of(section.location, items, directory)),
            }
        }
        profile
    }

    /// Takes an option out of `[main]`.
    pub(super) fn take(&mut self, name: &str) -> Option<Item> {
        let at = self.main.iter().position(|item| item.name == name)?;
        Some(self.main.remove(at))
    }

    /// Lays a later profile over this one.
    pub(super) fn merge(&mut self, later: Profile) {
        put(&mut self.main, later.main);
        for unit in later.units {
            match self.units.iter_mut().find(|own| own.name == unit.name) {
                // It takes the place of the former one.
                Some(own) if unit.replace => *own = unit,
                Some(own) => own.merge(unit),
                None => self.units.push(unit),
            }
        }
    }
}

impl Item {
    fn of(entry: Entry, directory: &str) -> Option<Item> {
        let value = entry.value?;
        let value = match value.contains("${i:PROFILE_DIR}") {
            true => with_directory(&value, directory),
            false => value,
        };
        Some(Item { name: entry.name, value, location: entry.location })
    }

    fn is_true(&self) -> bool {
        matches!(self.value.as_str(), "True" | "true" | "1")
    }
}

/// With the directory for `${i:PROFILE_DIR}`, unless a backslash is before it.
fn with_directory(value: &str, directory: &str) -> String {
    let mut done = String::new();
    let mut rest = value;
    while let Some(at) = rest.find("${i:PROFILE_DIR}") {
        done.push_str(&rest[..at]);
        match done.ends_with('\\') {
            true => done.push_str("${i:PROFILE_DIR}"),
            false => done.push_str(directory),
        }
        rest = &rest[at + "${i:PROFILE_DIR}".len()..];
    }
    done + rest
}

impl Unit {
    fn of(location: TunedLocation, mut items: Vec<Item>, directory: &str) -> Unit {
        let name = location.section.clone();
        let mut take = |name: &str| {
            let at = items.iter().position(|item| item.name == name)?;
            Some(items.remove(at))
        };
        let script = take("script").map(|item| Item {
            value: match item.value.starts_with('/') {
                true => locate::normal(&item.value),
                false => locate::normal(&format!("{directory}/{}", item.value)),
            },
            ..item
        });
        Unit {
            kind: take("type").map_or_else(|| name.to_string(), |item| item.value),
            enabled: take("enabled").is_none_or(|item| item.is_true()),
            replace: take("replace").is_some_and(|item| item.is_true()),
            prepend: take("prepend").is_some_and(|item| item.is_true()),
            drop: take("drop").map(|item| dropped(&item.value)).unwrap_or_default(),
            devices: take("devices"),
            devices_udev_regex: take("devices_udev_regex"),
            cpuinfo_regex: take("cpuinfo_regex"),
            uname_regex: take("uname_regex"),
            script_pre: take("script_pre"),
            script_post: take("script_post"),
            priority: take("priority"),
            scripts: script.into_iter().collect(),
            options: items,
            name,
            location,
        }
    }

    fn merge(&mut self, later: Unit) {
        self.kind = later.kind;
        self.enabled = later.enabled;
        // Without any they are all devices again.
        self.devices = later.devices;
        let later_if_set = |own: &mut Option<Item>, later: Option<Item>| *own = later.or(own.take());
        later_if_set(&mut self.devices_udev_regex, later.devices_udev_regex);
        later_if_set(&mut self.cpuinfo_regex, later.cpuinfo_regex);
        later_if_set(&mut self.uname_regex, later.uname_regex);
        later_if_set(&mut self.script_pre, later.script_pre);
        later_if_set(&mut self.script_post, later.script_post);
        later_if_set(&mut self.priority, later.priority);
        self.options.retain(|item| !later.drop.contains(&item.name));
        match &*self.name {
            "script" => self.scripts.extend(later.scripts),
            _ if !later.scripts.is_empty() => self.scripts = later.scripts,
            _ => {}
        }
        let known: Vec<String> = self.options.iter().map(|item| item.name.clone()).collect();
        put(&mut self.options, later.options);
        if later.prepend && self.is_variables() {
            // Those that are new come before those that are there.
            self.options.sort_by_key(|item| known.contains(&item.name));
        }
    }

    /// True of `[variables]`, which is no plugin's.
    pub(super) fn is_variables(&self) -> bool {
        &*self.name == "variables" || self.kind == "variables"
    }
}

/// The names in `drop=`: a comma or semicolon parts two only behind a letter, a digit or `_`, as TuneD has it.
fn dropped(value: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut name = String::new();
    for c in value.chars() {
        match c {
            ',' | ';' if name.trim_end().ends_with(is_word) => {
                names.push(name.trim_end().to_owned());
                name.clear();
            }
            c if c.is_whitespace() && name.is_empty() && !names.is_empty() => {}
            c => name.push(c),
        }
    }
    names.push(name);
    names
}

/// Sets options: one that is known keeps its place in the order.
fn put(items: &mut Vec<Item>, later: Vec<Item>) {
    for item in later {
        match items.iter_mut().find(|own| own.name == item.name) {
            Some(own) => *own = item,
            None => items.push(item),
        }
    }
}
