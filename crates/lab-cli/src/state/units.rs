//! systemd's units: whether they run, whether they are started at boot, as systemctl(1) reports.

use super::values::Values;
use std::process::{Command, Stdio};

pub(super) fn all() -> Values {
    let mut values = Values::new();
    let active = ["list-units", "--all", "--type=service,timer,slice,socket,path,mount"];
    match systemctl(&active) {
        Ok(text) => values.extend(running(&text)),
        Err(why) => drop(values.insert("systemctl list-units".to_owned(), why)),
    }
    match systemctl(&["list-unit-files"]) {
        Ok(text) => values.extend(at_boot(&text)),
        Err(why) => drop(values.insert("systemctl list-unit-files".to_owned(), why)),
    }
    values
}

fn systemctl(arguments: &[&str]) -> Result<String, String> {
    let mut command = Command::new("systemctl");
    command.args(arguments).args(["--no-legend", "--no-pager", "--plain", "--full"]);
    let output = command.env("LC_ALL", "C").stdin(Stdio::null()).output();
    let output = output.map_err(|error| format!("cannot run systemctl: {error}"))?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => Err(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
    }
}

/// UNIT LOAD ACTIVE SUB DESCRIPTION
fn running(text: &str) -> Values {
    let unit = |line: &str| {
        let mut words = line.split_ascii_whitespace();
        let (name, load, active) = (words.next()?, words.next()?, words.next()?);
        // A unit without a file is one that another names.
        (load != "not-found").then(|| (format!("{name} runs"), format!("{load} {active}")))
    };
    text.lines().filter_map(unit).collect()
}

/// UNIT-FILE STATE PRESET
fn at_boot(text: &str) -> Values {
    let unit = |line: &str| {
        let mut words = line.split_ascii_whitespace();
        Some((format!("{} at boot", words.next()?), words.next()?.to_owned()))
    };
    text.lines().filter_map(unit).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_have_two_states() {
        let units = "irqbalance.service loaded active running irqbalance daemon\n\
                     auditd.service not-found inactive dead auditd.service\n\
                     fstrim.timer masked inactive dead fstrim.timer\n";
        let files = "irqbalance.service enabled enabled\nfstrim.timer masked enabled\n-.slice static -\n";
        let expected = |pairs: &[(&str, &str)]| {
            pairs.iter().map(|&(a, b)| (a.to_owned(), b.to_owned())).collect::<Values>()
        };
        assert_eq!(
            running(units),
            expected(&[
                ("fstrim.timer runs", "masked inactive"),
                ("irqbalance.service runs", "loaded active")
            ])
        );
        let at_boot = at_boot(files);
        assert_eq!((at_boot.len(), at_boot["irqbalance.service at boot"].as_str()), (3, "enabled"));
    }
}
