//! What a user names to compare: a profile of whylate, one of TuneD, or a machine.

use crate::DesiredState;
use crate::profile::{self, ProfileError};
use crate::tuned::{self, TunedError};
use std::path::{Path, PathBuf};
use whylate_host::{FsRoot, Snapshot};

/// A profile or a machine that was found by its name or its path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProfileReference {
    /// A profile of whylate: its name, or the path of its file.
    Own(String),
    /// A profile of TuneD: its name, or several with blanks between.
    Tuned(String),
    /// A directory of this machine with a `tuned.conf`, absolute.
    TunedDirectory(String),
    /// The state of a machine: a file of `whylate snapshot`, or a directory with its root.
    Machine(PathBuf),
}

/// What a profile asks for, and the values that it takes nothing from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResolvedProfile {
    /// What it asks for.
    pub desired: DesiredState,
    /// The names of given variables that it does not have.
    pub unknown: Vec<String>,
}

/// Why there is no such profile or machine, or why it cannot be resolved.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReferenceError {
    /// It is no name of a profile and no path.
    #[error(
        "`{name}` is neither a profile nor a file: whylate's profiles are {own}; TuneD's profiles are {tuned}; a machine is a \
         file of `whylate snapshot -o FILE`, or a directory with its root"
    )]
    Unknown {
        /// What was asked for.
        name: String,
        /// The names of whylate's profiles.
        own: String,
        /// The names of TuneD's profiles.
        tuned: String,
    },
    /// The path cannot be looked at.
    #[error("cannot open {path}: {why}")]
    Unreadable {
        /// The path.
        path: String,
        /// Why not.
        why: String,
    },
    /// A machine was named where a profile is needed.
    #[error("{path} is a machine, which asks for nothing: name a profile")]
    Machine {
        /// The path.
        path: String,
    },
    /// The profile of whylate cannot be resolved.
    #[error(transparent)]
    Own(#[from] ProfileError),
    /// The profile of TuneD cannot be resolved.
    #[error(transparent)]
    Tuned(#[from] TunedError),
}

impl ProfileReference {
    /// What a text names: `tuned:NAME` is TuneD's; a text with a `/` or that ends in `.toml` is a path; any other text is
    /// the name of a profile, whylate's before TuneD's, and after these a path.
    ///
    /// # Errors
    /// If there is nothing of this name.
    pub fn find(
        text: &str,
        tree: &FsRoot,
        directories: &[PathBuf],
    ) -> Result<ProfileReference, ReferenceError> {
        if let Some(name) = text.strip_prefix("tuned:") {
            return match name.contains('/') {
                true => of_path(name),
                false => Ok(ProfileReference::Tuned(name.to_owned())),
            };
        }
        if text.contains('/') || text.ends_with(".toml") {
            return of_path(text);
        }
        let own: Vec<String> = profile::list(directories).into_iter().map(|listed| listed.name).collect();
        if own.iter().any(|name| name == text) {
            return Ok(ProfileReference::Own(text.to_owned()));
        }
        let tuned: Vec<String> = tuned::list(tree)?.into_iter().map(|listed| listed.name).collect();
        if tuned.iter().any(|name| name == text) {
            return Ok(ProfileReference::Tuned(text.to_owned()));
        }
        match Path::new(text).try_exists() {
            Ok(false) => Err(ReferenceError::Unknown {
                name: text.to_owned(),
                own: own.join(", "),
                tuned: if tuned.is_empty() { "none here".to_owned() } else { tuned.join(", ") },
            }),
            _ => of_path(text),
        }
    }

    /// The variable of the profile that holds the isolated CPUs.
    pub fn isolated_variable(&self) -> &'static str {
        match self {
            ProfileReference::Tuned(_) | ProfileReference::TunedDirectory(_) => "isolated_cores",
            ProfileReference::Own(_) | ProfileReference::Machine(_) => "isolated",
        }
    }

    /// What the profile asks for on a machine. Values for variables that it does not have are left out and named.
    ///
    /// # Errors
    /// If it cannot be resolved, or is no profile.
    pub fn resolve(
        &self,
        given: &[(String, String)],
        tree: &FsRoot,
        snapshot: &Snapshot,
        directories: &[PathBuf],
    ) -> Result<ResolvedProfile, ReferenceError> {
        match self {
            ProfileReference::Machine(path) => {
                Err(ReferenceError::Machine { path: path.display().to_string() })
            }
            ProfileReference::Own(name) => {
                let known = profile::variable_names(name, directories)?;
                let (kept, left): (Vec<_>, Vec<_>) =
                    given.iter().cloned().partition(|(name, _)| known.contains(name));
                let unknown = left.into_iter().map(|(name, _)| name).collect();
                Ok(ResolvedProfile { desired: profile::load(name, &kept, snapshot, directories)?, unknown })
            }
            ProfileReference::Tuned(name) => {
                known_alone(given, |given| tuned::load(name, tree, snapshot, given))
            }
            ProfileReference::TunedDirectory(path) => {
                known_alone(given, |given| tuned::load_directory(path, tree, snapshot, given))
            }
        }
    }
}

/// Loads a profile of TuneD without the values that it refuses: which variables it has is known only once it is loaded.
fn known_alone(
    given: &[(String, String)],
    load: impl Fn(&[(String, String)]) -> Result<DesiredState, TunedError>,
) -> Result<ResolvedProfile, ReferenceError> {
    let mut given = given.to_vec();
    let mut unknown = Vec::new();
    loop {
        match load(&given) {
            Err(TunedError::Given { name, .. }) if given.iter().any(|(own, _)| *own == name) => {
                given.retain(|(own, _)| *own != name);
                unknown.push(name);
            }
            loaded => return Ok(ResolvedProfile { desired: loaded?, unknown }),
        }
    }
}

/// What is at a path.
fn of_path(text: &str) -> Result<ProfileReference, ReferenceError> {
    let unreadable = |why: std::io::Error| ReferenceError::Unreadable {
        path: text.to_owned(),
        why: match why.kind() {
            std::io::ErrorKind::NotFound => "there is no such file or directory".to_owned(),
            _ => why.to_string(),
        },
    };
    let path = Path::new(text);
    let is_directory = std::fs::metadata(path).map_err(unreadable)?.is_dir();
    let tuned = match is_directory {
        true => Some(path).filter(|path| path.join("tuned.conf").exists()),
        false => path.parent().filter(|_| path.file_name().is_some_and(|name| name == "tuned.conf")),
    };
    if let Some(directory) = tuned {
        let directory = if directory.as_os_str().is_empty() { Path::new(".") } else { directory };
        let absolute = directory.canonicalize().map_err(unreadable)?;
        return match absolute.into_os_string().into_string() {
            Ok(absolute) => Ok(ProfileReference::TunedDirectory(absolute)),
            Err(_) => Err(ReferenceError::Unreadable {
                path: text.to_owned(),
                why: "its absolute path is not UTF-8".to_owned(),
            }),
        };
    }
    Ok(match !is_directory && text.ends_with(".toml") {
        true => ProfileReference::Own(text.to_owned()),
        false => ProfileReference::Machine(path.to_owned()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn what_a_text_names() {
        let dir = tempfile::tempdir().expect("a directory");
        let at = |name: &str| dir.path().join(name).to_str().expect("UTF-8").to_owned();
        fs::create_dir_all(dir.path().join("strict")).expect("made");
        fs::write(dir.path().join("strict/tuned.conf"), "[main]\n").expect("written");
        fs::write(dir.path().join("line.toml"), "summary = \"x\"\n").expect("written");
        fs::write(dir.path().join("box.tar.zst"), "").expect("written");
        let tree = FsRoot::memory(&[
            ("/etc/hostname", "x\n"),
            ("/usr/lib/tuned/realtime/tuned.conf", "[main]\n"),
            ("/usr/lib/tuned/latency/tuned.conf", "[main]\n"),
        ]);
        let find = |text: &str| ProfileReference::find(text, &tree, &[]);
        let strict = fs::canonicalize(dir.path().join("strict")).expect("it is there");
        let strict = ProfileReference::TunedDirectory(strict.to_str().expect("UTF-8").to_owned());
        for (text, expected) in [
            ("realtime".to_owned(), ProfileReference::Own("realtime".to_owned())),
            ("tuned:realtime".to_owned(), ProfileReference::Tuned("realtime".to_owned())),
            ("latency".to_owned(), ProfileReference::Tuned("latency".to_owned())),
            (at("line.toml"), ProfileReference::Own(at("line.toml"))),
            (at("strict"), strict.clone()),
            (at("strict/tuned.conf"), strict.clone()),
            (format!("tuned:{}", at("strict")), strict),
            (at("box.tar.zst"), ProfileReference::Machine(at("box.tar.zst").into())),
            ("/".to_owned(), ProfileReference::Machine("/".into())),
        ] {
            assert_eq!(find(&text), Ok(expected), "{text}");
        }
        let unknown = find("absent").expect_err("there is none").to_string();
        assert!(unknown.contains("cpu-partitioning") && unknown.contains("latency, realtime"), "{unknown}");
        let missing = find(&at("absent")).expect_err("there is none").to_string();
        assert!(missing.contains("no such file or directory"), "{missing}");
    }

    #[test]
    fn a_profile_takes_the_variables_that_it_has() {
        let tree = FsRoot::memory(&[
            ("/etc/hostname", "x\n"),
            ("/sys/devices/system/cpu/online", "0-3\n"),
            ("/sys/devices/system/cpu/present", "0-3\n"),
            ("/sys/devices/system/cpu/possible", "0-3\n"),
            (
                "/usr/lib/tuned/two/tuned.conf",
                "[variables]\nisolated_cores=1\n[bootloader]\ncmdline=+isolcpus=${isolated_cores}\n",
            ),
        ]);
        let host = Snapshot::read(&tree);
        let given = [("isolated_cores", "2"), ("isolated", "3"), ("no-net", "yes")]
            .map(|(name, value)| (name.to_owned(), value.to_owned()));
        let resolve = |reference: ProfileReference| reference.resolve(&given, &tree, &host, &[]);
        let tuned = resolve(ProfileReference::Tuned("two".to_owned())).expect("a profile");
        assert_eq!(tuned.unknown, ["isolated", "no-net"]);
        assert_eq!(tuned.desired.settings[0].value.as_deref(), Some("2"));
        let own = resolve(ProfileReference::Own("realtime".to_owned())).expect("a profile");
        assert_eq!(own.unknown, ["isolated_cores"]);
        assert!(own.desired.variables.contains(&("isolated".to_owned(), "3".to_owned())));
        let machine = resolve(ProfileReference::Machine("/".into())).expect_err("it asks for nothing");
        assert_eq!(machine, ReferenceError::Machine { path: "/".to_owned() });
    }

    /// A directory of a checkout: what it includes is beside it.
    #[test]
    fn a_directory_is_a_profile_with_those_beside_it() {
        let dir = tempfile::tempdir().expect("a directory");
        for (name, text) in [
            ("base", "[sysctl]\nvm.swappiness=7\n"),
            ("top", "[main]\ninclude=base\n[sysctl]\nvm.stat_interval=10\n"),
        ] {
            fs::create_dir(dir.path().join(name)).expect("made");
            fs::write(dir.path().join(name).join("tuned.conf"), text).expect("written");
        }
        // The machine has another profile of that name.
        let own = ("/usr/lib/tuned/base/tuned.conf", "[sysctl]\nvm.swappiness=1\n");
        let tree = FsRoot::memory(&[("/etc/hostname", "x\n"), own]);
        let top = dir.path().join("top");
        let found = ProfileReference::find(top.to_str().expect("UTF-8"), &tree, &[]).expect("a profile");
        let resolved = found.resolve(&[], &tree, &Snapshot::read(&tree), &[]).expect("it resolves");
        let values: Vec<_> = resolved
            .desired
            .settings
            .iter()
            .map(|own| (own.selector.to_string(), own.value.clone()))
            .collect();
        assert_eq!(
            values,
            [("vm.swappiness", "7"), ("vm.stat_interval", "10")]
                .map(|(name, value)| (name.to_owned(), Some(value.to_owned())))
        );
        assert!(resolved.desired.profile.starts_with("tuned:/"), "{}", resolved.desired.profile);
    }
}
