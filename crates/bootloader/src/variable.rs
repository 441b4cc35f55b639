//! Variables of configuration files, and whether a unit of systemd is started at boot: both are files.
//!
//! ```text
//! shell.rs    NAME=value, in the quotes of the shell: /etc/default/irqbalance
//! ini.rs      key=value under [section]
//! limits.rs   limits of a login, by domain: /etc/security
//! enabled.rs  the links by which a unit is started at boot
//! ```
//!
//! A configuration of systemd (`/etc/systemd/NAME.conf`) is not edited: what we set goes to a file of our own in
//! `/etc/systemd/NAME.conf.d`, which is read after all others. So it is with limits.

mod enabled;
mod error;

pub use error::VariableError;

use crate::edit::{Edit, edited};
use crate::files::Files;
use crate::staged::{StagedEdit, StagedEdits};
use crate::systemd::runs_systemd;
use crate::{ini, limits, shell};
use std::collections::BTreeMap;
use whylate_host::{FsRoot, Reading, Why};

const OWN: &str = "zz-whylate.conf";
const HEAD: &str = "# Set by `whylate apply`. `whylate rollback` removes it.\n";
/// Keys of systemd that gather what is assigned until an empty value begins anew (systemd-system.conf(5)).
const GATHERED: [&str; 4] = ["CPUAffinity", "DefaultEnvironment", "ManagerEnvironment", "NUMAMask"];

/// The value a variable has in a file: with a section, of `key=value` lines under it, else of shell assignments.
/// `None`: it is not set there. Of systemd's configuration, the result of all its files; of limits, whose sections are
/// domains, as well.
pub fn variable(tree: &FsRoot, file: &str, section: Option<&str>, name: &str) -> Reading<Option<String>> {
    let value = match (section, drop_ins(file)) {
        (Some(domain), _) if limits::has_limits(file) => limits::effective(tree, domain, name),
        (Some(section), Some(stem)) => of_systemd(tree, file, stem, section, name),
        (Some(section), None) => tree.text(file).value.map(|text| {
            let values = ini::values(&text, section, name);
            values.last().map(|&value| value.to_owned())
        }),
        (None, _) => tree.text(file).value.and_then(|text| of_shell(&text, name)),
    };
    Reading::new(file, value)
}

fn of_shell(text: &str, name: &str) -> Result<Option<String>, Why> {
    let script = shell::parse(text);
    let own: Vec<_> = script.assignments.iter().filter(|own| own.name == name).collect();
    match own.last() {
        _ if !script.whole => Err(Why::Malformed { expected: "shell assignments".to_owned() }),
        None => Ok(None),
        Some(last) if last.literal && !last.appends && !last.conditional => Ok(Some(last.value.clone())),
        Some(_) => Err(Why::Malformed { expected: format!("a plain value of {name}") }),
    }
}

/// Of a configuration of systemd that has a directory of drop-ins, its name.
fn drop_ins(file: &str) -> Option<&str> {
    let name = file.strip_prefix("/etc/systemd/")?;
    (name.ends_with(".conf") && !name.contains('/')).then_some(name)
}

/// The files in the order in which they count: of two with one name, that in /etc alone (systemd.conf(5)).
fn of_systemd(
    tree: &FsRoot,
    file: &str,
    name: &str,
    section: &str,
    key: &str,
) -> Result<Option<String>, Why> {
    let mut paths: BTreeMap<String, String> = BTreeMap::new();
    for place in ["/usr/lib/systemd", "/usr/local/lib/systemd", "/run/systemd", "/etc/systemd"] {
        let directory = format!("{place}/{name}.d");
        let names = match tree.list(&directory).value {
            Ok(names) => names,
            Err(why) if why.is_absent() => continue,
            Err(why) => return Err(why),
        };
        for own in names.into_iter().filter(|own| own.ends_with(".conf")) {
            paths.insert(own.clone(), format!("{directory}/{own}"));
        }
    }
    let mut values: Vec<String> = Vec::new();
    let mut seen = false;
    for path in std::iter::once(file).chain(paths.values().map(String::as_str)) {
        let text = match tree.text(path).value {
            Ok(text) => text,
            Err(why) if why.is_absent() && path == file => continue,
            Err(why) => return Err(why),
        };
        seen = true;
        for value in ini::values(&text, section, key) {
            if value.is_empty() || !GATHERED.contains(&key) {
                values.clear();
            }
            values.extend((!value.is_empty()).then(|| value.to_owned()));
        }
    }
    // Newer systems have the file in /usr/lib only, with nothing but comments in it.
    if !seen && let Err(why) = tree.list("/etc/systemd").value {
        return Err(why);
    }
    Ok(Some(values.join(" ")).filter(|value| !value.is_empty()))
}

/// A change of a configuration file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigurationChange {
    /// What changes.
    pub subject: ConfigurationSubject,
    /// The new value; `None`: it is taken out.
    pub value: Option<String>,
    /// The setting it is for, by name.
    pub setting: String,
}

/// What a configuration file decides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConfigurationSubject {
    /// A variable.
    Variable {
        /// The file.
        file: String,
        /// The section, in files that have sections.
        section: Option<String>,
        /// The variable.
        name: String,
    },
    /// Whether systemd starts a unit at boot: `enabled`, `disabled` or `masked`.
    UnitAtBoot {
        /// The unit.
        unit: String,
    },
}

/// The edits that make these changes. The program that reads a file is notified.
///
/// # Errors
/// If a file cannot be read or changed. Nothing has been written then.
pub fn edits(changes: &[ConfigurationChange], files: &dyn Files) -> Result<Vec<StagedEdit>, VariableError> {
    let running = runs_systemd(files)?;
    let mut staged = StagedEdits::new(files);
    for change in changes {
        let mark = staged.mark();
        let value = change.value.as_deref();
        let notify = match &change.subject {
            ConfigurationSubject::Variable { file, section, name } => {
                set(&mut staged, file, section.as_deref(), name, value)?;
                reader(file)
            }
            ConfigurationSubject::UnitAtBoot { unit } => {
                enabled::change(&mut staged, &files.tree(), unit, value)?;
                Some(&["systemctl", "daemon-reload"][..])
            }
        };
        staged.label(mark, std::slice::from_ref(&change.setting), notify.filter(|_| running));
    }
    Ok(staged.into_edits())
}

/// The command that makes a file's reader read it again.
fn reader(file: &str) -> Option<&'static [&'static str]> {
    match file {
        "/etc/default/irqbalance" | "/etc/sysconfig/irqbalance" | "/etc/irqbalance.env" => {
            Some(&["systemctl", "try-restart", "irqbalance.service"])
        }
        "/etc/systemd/system.conf" => Some(&["systemctl", "daemon-reload"]),
        _ => None,
    }
}

fn set(
    staged: &mut StagedEdits<'_>,
    file: &str,
    section: Option<&str>,
    name: &str,
    then: Option<&str>,
) -> Result<(), VariableError> {
    if let Some(value) = then.filter(|value| value.chars().any(char::is_control)) {
        return Err(VariableError::NotALine { name: name.to_owned(), value: value.to_owned() });
    }
    if let (Some(section), Some(stem)) = (section, drop_ins(file)) {
        return set_in_own(staged, &format!("/etc/systemd/{stem}.d/{OWN}"), section, name, then);
    }
    if let (Some(domain), true) = (section, limits::has_limits(file)) {
        let before = staged.text(file)?.unwrap_or_else(|| HEAD.to_owned());
        let made = limits::set(&before, domain, name, then);
        return keep_own(staged, file, &before, made, limits::is_without_limits);
    }
    let no_file = || VariableError::NoFile { file: file.to_owned(), name: name.to_owned() };
    let text = staged.text(file)?.ok_or_else(no_file)?;
    let made = match section {
        Some(section) => {
            let values: Vec<String> = then.iter().map(|&value| value.to_owned()).collect();
            ini::set(&text, section, name, &values)
        }
        None => set_in_shell(&text, name, then).map_err(|why| VariableError::NotPlain {
            file: file.to_owned(),
            name: name.to_owned(),
            why,
        })?,
    };
    Ok(staged.write(file, made)?)
}

fn set_in_own(
    staged: &mut StagedEdits<'_>,
    path: &str,
    section: &str,
    name: &str,
    then: Option<&str>,
) -> Result<(), VariableError> {
    let before = staged.text(path)?.unwrap_or_else(|| HEAD.to_owned());
    let mut values: Vec<String> = then.iter().map(|&value| value.to_owned()).collect();
    if GATHERED.contains(&name) && values.iter().any(|value| !value.is_empty()) {
        values.insert(0, String::new());
    }
    let made = ini::set(&before, section, name, &values);
    keep_own(staged, path, &before, made, ini::is_without_settings)
}

/// Writes a file; one of our own goes once nothing is left in it.
fn keep_own(
    staged: &mut StagedEdits<'_>,
    path: &str,
    before: &str,
    made: String,
    is_empty: fn(&str) -> bool,
) -> Result<(), VariableError> {
    match is_empty(&made) && before.starts_with(HEAD) {
        true if staged.exists(path)? => Ok(staged.remove(path)?),
        true => Ok(()),
        false => Ok(staged.write(path, made)?),
    }
}

/// The last assignment is changed; without one, a line is added. Taken out, all of them go.
fn set_in_shell(text: &str, name: &str, then: Option<&str>) -> Result<String, &'static str> {
    let script = shell::parse(text);
    if !script.whole {
        return Err("the file ends within quotes");
    }
    let own: Vec<_> = script.assignments.iter().filter(|own| own.name == name).collect();
    if own.iter().any(|own| own.conditional || own.appends) {
        return Err("its assignment is conditional");
    }
    let edits: Vec<Edit> = match (own.last(), then) {
        (Some(last), Some(value)) if last.literal && last.value == value => Vec::new(),
        (Some(last), Some(value)) => vec![last.set(value)],
        (None, Some(value)) => {
            let newline = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
            let line = format!("{newline}{name}={}\n", shell::quoted(value));
            vec![Edit { range: text.len()..text.len(), text: line }]
        }
        (_, None) => {
            let lines: Option<Vec<Edit>> = own.iter().map(|own| whole_line(text, own)).collect();
            lines.ok_or("its line has other content")?
        }
    };
    Ok(edited(text, &edits))
}

/// An assignment's line, if there is nothing else on it.
fn whole_line(text: &str, own: &shell::Assignment) -> Option<Edit> {
    let start = text[..own.span.start].rfind('\n').map_or(0, |at| at + 1);
    let end = text[own.span.end..].find('\n').map_or(text.len(), |at| own.span.end + at + 1);
    let around = format!("{}{}", &text[start..own.span.start], &text[own.span.end..end]);
    let alone = matches!(around.trim(), "" | "export");
    alone.then(|| Edit { range: start..end, text: String::new() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shell_variables() {
        let text = "# IRQBALANCE_BANNED_CPULIST=\nARGS=\"-p 5\"\nexport B='x'\nIF=$(hostname)\n";
        let tree = FsRoot::memory(&[("/etc/default/irqbalance", text)]);
        let read = |name: &str| variable(&tree, "/etc/default/irqbalance", None, name).value;
        assert_eq!(read("ARGS"), Ok(Some("-p 5".to_owned())));
        assert_eq!(read("IRQBALANCE_BANNED_CPULIST"), Ok(None));
        assert!(matches!(read("IF"), Err(Why::Malformed { .. })));
        assert_eq!(variable(&tree, "/etc/sysconfig/irqbalance", None, "ARGS").value, Err(Why::Missing));
        for (name, then, made) in [
            ("ARGS", Some("-p 6"), text.replace("-p 5", "-p 6")),
            ("ARGS", None, text.replace("ARGS=\"-p 5\"\n", "")),
            ("B", None, text.replace("export B='x'\n", "")),
            ("B", Some("x"), text.to_owned()),
            ("L", Some("2-3"), format!("{text}L=2-3\n")),
            ("L", Some("a $b"), format!("{text}L=\"a \\$b\"\n")),
            ("L", None, text.to_owned()),
        ] {
            assert_eq!(set_in_shell(text, name, then), Ok(made), "{name}={then:?}");
        }
        assert!(set_in_shell("test x && A=1\n", "A", Some("2")).is_err());
        assert!(set_in_shell("A=1; x\n", "A", None).is_err());
    }

    #[test]
    fn systemd_gathers_cpus() {
        let file = "/etc/systemd/system.conf";
        let read = |files: &[(&str, &str)]| {
            variable(&FsRoot::memory(files), file, Some("Manager"), "CPUAffinity").value
        };
        let main = (file, "[Manager]\nCPUAffinity=0\n#CPUAffinity=9\n");
        assert_eq!(read(&[main]), Ok(Some("0".to_owned())));
        let more = ("/usr/lib/systemd/system.conf.d/a.conf", "[Manager]\nCPUAffinity=1\n");
        assert_eq!(read(&[main, more]), Ok(Some("0 1".to_owned())));
        let masked = ("/etc/systemd/system.conf.d/a.conf", "[Other]\nCPUAffinity=7\n");
        assert_eq!(read(&[main, more, masked]), Ok(Some("0".to_owned())));
        let own =
            ("/etc/systemd/system.conf.d/zz-whylate.conf", "[Manager]\nCPUAffinity=\nCPUAffinity=2-3\n");
        assert_eq!(read(&[main, more, own]), Ok(Some("2-3".to_owned())));
        assert_eq!(read(&[("/etc/systemd/logind.conf", "")]), Ok(None));
        assert!(read(&[]).is_err());
    }
}
