//! apt and dpkg-deb, with directories of their own: nothing is installed, and the machine's own
//! lists, cache and settings stay as they are. Signatures are verified as the machine's apt does.

use super::sources::{self, Mirror};
use crate::Arch;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The address of a mirror, where this machine has none of Debian.
const VARIABLE: &str = "WHYLATE_LAB_MIRROR";
/// The keys of all of Debian's suites, in the package debian-archive-keyring.
const KEYRINGS: [&str; 2] =
    ["/usr/share/keyrings/debian-archive-keyring.gpg", "/usr/share/keyrings/debian-archive-keyring.pgp"];
const INSTALL: &str = "kernels are fetched with Debian's tools: apt-get install apt dpkg; or give a kernel of your \
                       own: --kernel PATH/vmlinuz --modules DIR";

/// apt, for one suite.
#[derive(Debug)]
pub(super) struct Apt {
    /// Lists, cache and sources.
    directory: PathBuf,
    suite: &'static str,
    arch: Arch,
}

impl Apt {
    /// Sets up `directory` for an architecture in a suite of this machine's mirror.
    pub(super) fn new(directory: PathBuf, suite: &'static str, arch: Arch) -> Result<Apt, String> {
        let mirror = mirror()?;
        let made = ["lists/partial", "cache/archives/partial", "parts"]
            .iter()
            .try_for_each(|part| std::fs::create_dir_all(directory.join(part)))
            .and_then(|()| {
                std::fs::write(directory.join("parts/whylate.sources"), stanza(&mirror, suite, keyring()))
            });
        made.map_err(|error| format!("cannot write to {}: {error}", directory.display()))?;
        Ok(Apt { directory, suite, arch })
    }

    /// Brings the lists up to date.
    pub(super) fn update(&self) -> Result<(), String> {
        let output = self.run("apt-get", &["update", "-q"], &self.directory)?;
        let errors = String::from_utf8_lossy(&output.stderr);
        // A mirror that cannot be reached is only a warning to apt.
        match output.status.success()
            && !errors.contains("W: Failed to fetch")
            && !errors.contains("not signed")
        {
            true => Ok(()),
            false => Err(format!("apt-get update of {}: {}{}", self.suite, errors.trim(), advice(&errors))),
        }
    }

    /// The names of all its packages that begin with `prefix`.
    pub(super) fn package_names(&self, prefix: &str) -> Result<String, String> {
        let output = self.run("apt-cache", &["pkgnames", prefix], &self.directory)?;
        match output.status.success() {
            true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
            false => Err(format!("apt-cache pkgnames: {}", String::from_utf8_lossy(&output.stderr).trim())),
        }
    }

    /// Downloads packages into `to`.
    pub(super) fn download(&self, packages: &[String], to: &Path) -> Result<(), String> {
        let mut arguments = vec!["download", "-q"];
        arguments.extend(packages.iter().map(String::as_str));
        let output = self.run("apt-get", &arguments, to)?;
        match output.status.success() {
            true => Ok(()),
            false => {
                let errors = String::from_utf8_lossy(&output.stderr);
                Err(format!("apt-get download {}: {}{}", packages.join(" "), errors.trim(), advice(&errors)))
            }
        }
    }

    fn run(&self, program: &'static str, arguments: &[&str], directory: &Path) -> Result<Output, String> {
        let place = |name: &str, part: &str| format!("{name}={}", self.directory.join(part).display());
        let options = [
            place("Dir::State::Lists", "lists"),
            place("Dir::Cache", "cache"),
            place("Dir::Etc::SourceParts", "parts"),
            // Emptied: the packages and preferences of this machine must not matter.
            "Dir::Etc::SourceList=/dev/null".to_owned(),
            "Dir::Etc::Preferences=/dev/null".to_owned(),
            "Dir::Etc::PreferencesParts=/dev/null".to_owned(),
            "Dir::State::status=/dev/null".to_owned(),
            format!("APT::Architecture={}", self.arch.debian()),
            format!("APT::Architectures={}", self.arch.debian()),
            // That user has no access to a cache in a home directory.
            "APT::Sandbox::User=root".to_owned(),
            "Acquire::Languages=none".to_owned(),
            "Acquire::Retries=2".to_owned(),
        ];
        let mut command = Command::new(program);
        command.current_dir(directory).env("LC_ALL", "C").args(arguments);
        for option in options {
            command.args(["-o", &option]);
        }
        whylate_sys::die_with_parent(&mut command);
        command.output().map_err(|error| format!("cannot run {program}: {error}; {INSTALL}"))
    }
}

/// Unpacks a package into `to`.
pub(super) fn unpack(package: &Path, to: &Path) -> Result<(), String> {
    let mut command = Command::new("dpkg-deb");
    command.arg("-x").args([package, to]);
    whylate_sys::die_with_parent(&mut command);
    let output = command.output().map_err(|error| format!("cannot run dpkg-deb: {error}; {INSTALL}"))?;
    match output.status.success() {
        true => Ok(()),
        false => Err(format!(
            "dpkg-deb -x {}: {}",
            package.display(),
            String::from_utf8_lossy(&output.stderr).trim()
        )),
    }
}

/// apt's entry of a suite of this machine's mirror.
pub(crate) fn debian_source(suite: &str) -> Result<String, String> {
    Ok(stanza(&mirror()?, suite, keyring()))
}

fn mirror() -> Result<Mirror, String> {
    if let Some(uri) = std::env::var(VARIABLE).ok().filter(|uri| !uri.is_empty()) {
        return Ok(Mirror { uri, signed_by: None });
    }
    sources::mirror_of(Path::new("/etc/apt")).ok_or_else(|| {
        format!("the apt sources of this machine (/etc/apt) have no mirror of Debian: set {VARIABLE} to the address of one")
    })
}

fn keyring() -> Option<&'static str> {
    KEYRINGS.into_iter().find(|keyring| Path::new(keyring).exists())
}

/// The source of a suite. Debian's whole keyring is preferred to the key of the machine's own suite.
fn stanza(mirror: &Mirror, suite: &str, keyring: Option<&str>) -> String {
    let signed_by = keyring.or(mirror.signed_by.as_deref());
    let signed_by = signed_by.map(|key| format!("Signed-By: {key}\n")).unwrap_or_default();
    format!("Types: deb\nURIs: {}\nSuites: {suite}\nComponents: main\n{signed_by}", mirror.uri)
}

/// The advice for an error of apt.
pub(crate) fn advice(errors: &str) -> &'static str {
    // Such an error contains `Failed to fetch` too.
    if errors.contains("No space left") || errors.contains("enough free space") {
        return "\nThe disk is full: free some space, or set WHYLATE_LAB_CACHE to a directory on another disk";
    }
    if errors.contains("NO_PUBKEY") || errors.contains("not signed") {
        return "\nThis machine does not have the key of that suite: apt-get install debian-archive-keyring";
    }
    if errors.contains("resolving") || errors.contains("connect") || errors.contains("Failed to fetch") {
        return "\nThe mirror cannot be reached: is there a network?";
    }
    ""
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mirror_stays_and_the_suite_changes() {
        let mirror = Mirror { uri: "http://m.example/debian".into(), signed_by: Some("/k.gpg".into()) };
        let own = stanza(&mirror, "sid", None);
        assert_eq!(
            own,
            "Types: deb\nURIs: http://m.example/debian\nSuites: sid\nComponents: main\nSigned-By: /k.gpg\n"
        );
        assert!(stanza(&mirror, "sid", Some("/all.gpg")).ends_with("Signed-By: /all.gpg\n"));
        assert!(!stanza(&Mirror { signed_by: None, ..mirror }, "sid", None).contains("Signed-By"));
    }

    #[test]
    fn what_apt_says_has_a_remedy() {
        assert!(advice("W: GPG error: ... NO_PUBKEY 6ED0E7B82643E131").contains("debian-archive-keyring"));
        assert!(advice("Err:1 ... Temporary failure resolving").contains("network"));
        for full in [
            "E: You don't have enough free space in /c/",
            "W: Failed to fetch http://m.example/x  Error writing to file - write (28: No space left on device)",
        ] {
            assert!(advice(full).contains("WHYLATE_LAB_CACHE"), "{full}");
        }
        assert_eq!(advice("E: Unable to locate package x"), "");
    }
}
