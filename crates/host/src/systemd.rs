//! The configuration of systemd: CPU affinity, slices and enabled services, from files only.

use crate::{FsRoot, Reading, Why};
use std::collections::BTreeSet;

const ETC: &str = "/etc/systemd/system";
/// Where distributions put units; the first that exists counts.
const SHIPPED: [&str; 2] = ["/usr/lib/systemd/system", "/lib/systemd/system"];

/// systemd's configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct Systemd {
    /// /etc/systemd/system.conf and its drop-ins, in the order they are applied.
    pub manager: Vec<Unit>,
    /// Units that are wanted or required by an enabled target or service, by name.
    pub enabled: Reading<Vec<String>>,
    /// The names of all units that the distribution ships.
    pub shipped: Reading<Vec<String>>,
    /// The profile that TuneD applies, if it is installed (`/etc/tuned/active_profile`).
    pub tuned_profile: Reading<String>,
    /// The settings of enabled services, and every drop-in for a service, slice or scope in /etc.
    pub units: Vec<Unit>,
}

/// The settings in one file.
#[derive(Clone, Debug, PartialEq)]
pub struct Unit {
    /// The unit they are for, such as `stalld.service`; `system.conf` for the manager.
    pub name: String,
    /// Key and value, in order, all sections together.
    pub settings: Reading<Vec<(String, String)>>,
}

impl Unit {
    /// The last value of a key.
    ///
    /// # Errors
    /// If the file could not be read.
    pub fn get(&self, key: &str) -> Result<Option<&str>, crate::Unread> {
        let settings = self.settings.need()?;
        Ok(settings.iter().rev().find(|(own, _)| own == key).map(|(_, value)| value.as_str()))
    }

    fn read(tree: &FsRoot, name: &str, path: &str) -> Unit {
        Unit {
            name: name.to_owned(),
            settings: tree.filtered(path, without_environment).and_then(|text| Ok(settings(text))),
        }
    }
}

impl Systemd {
    pub(crate) fn read(tree: &FsRoot) -> Systemd {
        let etc = tree.list(ETC);
        let enabled = etc.and_then(|names| enabled(tree, names));
        let shipped = shipped(tree);
        let manager = manager(tree);
        let mut units = Vec::new();
        for name in enabled.known().into_iter().flatten().filter(|name| name.ends_with(".service")) {
            // An instance of a template has the template's file.
            let file = match name.split_once('@') {
                Some((template, _)) => format!("{template}@.service"),
                None => name.clone(),
            };
            let own = etc.known().is_some_and(|names| names.contains(&file));
            let dir = if own { ETC } else { parent(&shipped.path) };
            units.push(Unit::read(tree, name, &format!("{dir}/{file}")));
        }
        for dir in etc.known().into_iter().flatten() {
            let Some(unit) = dir.strip_suffix(".d") else { continue };
            for file in tree.list(&format!("{ETC}/{dir}")).known().into_iter().flatten() {
                units.push(Unit::read(tree, unit, &format!("{ETC}/{dir}/{file}")));
            }
        }
        let tuned_profile = tree.value("/etc/tuned/active_profile");
        Systemd { manager, enabled, shipped, tuned_profile, units }
    }

    /// Whether a unit is enabled.
    ///
    /// # Errors
    /// If that could not be read.
    pub fn is_enabled(&self, name: &str) -> Result<bool, crate::Unread> {
        self.enabled.need().map(|enabled| enabled.iter().any(|own| own == name))
    }
}

fn parent(path: &str) -> &str {
    path.trim_end_matches('/')
}

/// Names in `X.wants` and `X.requires`.
fn enabled(tree: &FsRoot, names: &[String]) -> Result<Vec<String>, Why> {
    let mut enabled = BTreeSet::new();
    for name in names.iter().filter(|name| name.ends_with(".wants") || name.ends_with(".requires")) {
        enabled.extend(tree.list(&format!("{ETC}/{name}")).value?);
    }
    Ok(enabled.into_iter().collect())
}

fn shipped(tree: &FsRoot) -> Reading<Vec<String>> {
    let first = tree.list(SHIPPED[0]);
    match first.known() {
        Some(_) => first,
        None => tree.list(SHIPPED[1]),
    }
}

/// system.conf; drop-ins of the distribution and of the machine.
fn manager(tree: &FsRoot) -> Vec<Unit> {
    let mut paths = vec!["/etc/systemd/system.conf".to_owned()];
    for dir in ["/usr/lib/systemd/system.conf.d", "/etc/systemd/system.conf.d"] {
        let names = tree.list(dir);
        paths.extend(names.known().into_iter().flatten().map(|name| format!("{dir}/{name}")));
    }
    paths.iter().map(|path| Unit::read(tree, "system.conf", path)).collect()
}

/// A service's environment and command may hold secrets, and no rule needs them.
fn without_environment(text: &str) -> String {
    let secret = |line: &str| {
        let key = line.split('=').next().unwrap_or_default().trim();
        key.contains("Environment") || key.starts_with("Exec") || key.contains("Credential")
    };
    let mut kept = String::new();
    let mut goes_on = false;
    for line in text.lines() {
        // A line that ends in a backslash goes on in the next, which is as secret.
        let drop = if goes_on { true } else { secret(line) };
        goes_on = drop && line.ends_with('\\');
        if !drop {
            kept.push_str(line);
            kept.push('\n');
        }
    }
    kept
}

fn settings(text: &str) -> Vec<(String, String)> {
    let lines = text.lines().map(str::trim).filter(|line| !line.starts_with(['#', ';', '[']));
    lines
        .filter_map(|line| line.split_once('='))
        .map(|(key, value)| (key.trim().to_owned(), value.trim().to_owned()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn enabled_units_and_their_settings() {
        let systemd = Systemd::read(&FsRoot::memory(&[
            ("/etc/systemd/system.conf", "[Manager]\n#CPUAffinity=9\nCPUAffinity=0 1\n"),
            ("/etc/systemd/system/multi-user.target.wants/irqbalance.service", ""),
            ("/etc/systemd/system/app.service.d/rt.conf", "[Service]\nCPUSchedulingPolicy=fifo\n"),
            (
                "/usr/lib/systemd/system/irqbalance.service",
                "[Service]\nEnvironment=KEY=secret \\\n more\nExecStart=/usr/sbin/irqbalance --token x\nNice=5\n",
            ),
        ]));
        assert_eq!(systemd.is_enabled("irqbalance.service"), Ok(true));
        assert_eq!(systemd.manager[0].get("CPUAffinity"), Ok(Some("0 1")));
        let of = |name: &str| systemd.units.iter().find(|unit| unit.name == name).expect("unit");
        assert_eq!(of("app.service").get("CPUSchedulingPolicy"), Ok(Some("fifo")));
        assert_eq!(of("irqbalance.service").settings.need().expect("read"), &[("Nice".into(), "5".into())]);
        assert!(Systemd::read(&FsRoot::memory(&[])).is_enabled("x").is_err());
    }
}
