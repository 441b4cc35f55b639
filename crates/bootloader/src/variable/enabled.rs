//! Whether a unit of systemd is started at boot, by the links in /etc/systemd/system; systemctl(1) on `enable` and
//! `mask` selects which. Links rather than systemctl, so that what was there comes back as it was.

use super::error::VariableError;
use crate::ini;
use crate::staged::StagedEdits;
use crate::systemd::{UNIT_DIRECTORIES, unit_file};
use whylate_host::{FsRoot, Why};

const ETC: &str = "/etc/systemd/system";

/// The file of a unit; an instance of a template has the template's.
fn file(tree: &FsRoot, unit: &str) -> Result<Option<(String, String)>, Why> {
    for name in [unit.to_owned(), unit_file(unit)] {
        for directory in UNIT_DIRECTORIES {
            let path = format!("{directory}/{name}");
            match tree.text(&path).value {
                Ok(text) => return Ok(Some((path, text))),
                Err(why) if why.is_absent() => {}
                Err(why) => return Err(why),
            }
        }
    }
    Ok(None)
}

/// The links that have a unit started with another.
fn wanted_by(tree: &FsRoot, unit: &str) -> Result<Vec<String>, Why> {
    let mut links = Vec::new();
    for directory in tree.list(ETC).value? {
        if !(directory.ends_with(".wants") || directory.ends_with(".requires")) {
            continue;
        }
        let directory = format!("{ETC}/{directory}");
        if tree.list(&directory).value?.iter().any(|name| name == unit) {
            links.push(format!("{directory}/{unit}"));
        }
    }
    Ok(links)
}

/// What a unit's `[Install]` has.
struct Install {
    wants: Vec<String>,
    requires: Vec<String>,
    aliases: Vec<String>,
}

fn install(text: &str) -> Install {
    let words = |key: &str| -> Vec<String> {
        let values = ini::values(text, "Install", key);
        values.iter().flat_map(|value| value.split_whitespace()).map(str::to_owned).collect()
    };
    Install { wants: words("WantedBy"), requires: words("RequiredBy"), aliases: words("Alias") }
}

pub(crate) fn change(
    staged: &mut StagedEdits<'_>,
    tree: &FsRoot,
    unit: &str,
    then: Option<&str>,
) -> Result<(), VariableError> {
    let refused = |why: &'static str| VariableError::Unit {
        unit: unit.to_owned(),
        then: then.unwrap_or("nothing").to_owned(),
        why,
    };
    if unit.is_empty() || unit.contains(['/', '%']) || !unit.contains('.') {
        return Err(refused("a unit has a name such as irqbalance.service"));
    }
    let own = format!("{ETC}/{unit}");
    let is_masked = staged.link_at(&own)?.as_deref() == Some("/dev/null");
    match then {
        Some("masked") if is_masked => Ok(()),
        Some("masked") if staged.exists(&own)? => Err(refused(
            "/etc/systemd/system has a unit of that name, which a mask would replace: disable it instead",
        )),
        Some("masked") => Ok(staged.link(&own, "/dev/null")?),
        Some("disabled") => {
            let Ok(links) = wanted_by(tree, unit) else {
                return Err(refused("the links in /etc/systemd/system cannot be read"));
            };
            let text = file(tree, unit).ok().flatten().map(|(_, text)| text).unwrap_or_default();
            let aliases = install(&text).aliases.into_iter().map(|alias| format!("{ETC}/{alias}"));
            for link in links.into_iter().chain(aliases) {
                if staged.link_at(&link)?.is_some() {
                    staged.remove(&link)?;
                }
            }
            if is_masked {
                staged.remove(&own)?;
            }
            Ok(())
        }
        Some("enabled") => {
            if is_masked {
                staged.remove(&own)?;
            }
            let Ok(Some((path, text))) = file(tree, unit) else {
                return Err(refused("the unit's file cannot be read; is it installed?"));
            };
            let Install { wants, requires, aliases } = install(&text);
            if wants.is_empty() && requires.is_empty() && aliases.is_empty() {
                return Err(refused("its [Install] section names no unit to start it with"));
            }
            let wants = wants.iter().map(|target| format!("{ETC}/{target}.wants/{unit}"));
            let requires = requires.iter().map(|target| format!("{ETC}/{target}.requires/{unit}"));
            let aliases = aliases.iter().map(|alias| format!("{ETC}/{alias}"));
            wants.chain(requires).chain(aliases).try_for_each(|link| Ok(staged.link(&link, &path)?))
        }
        _ => Err(refused("it can be enabled, disabled or masked")),
    }
}
