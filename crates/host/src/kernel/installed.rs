//! The kernels that could be booted.

use super::Config;
use crate::{FsRoot, Reading, Why};

/// A kernel image in /boot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Installed {
    /// The release, from the file's name.
    pub release: String,
    /// Whether it is PREEMPT_RT, by its configuration; without one, by its name, which is only a hint.
    pub realtime: Reading<bool>,
    /// Whether it is the one that runs.
    pub running: bool,
}

/// More are not looked at: each has a configuration of 300 KiB.
const MOST: usize = 12;

/// `config` is the running kernel's, which need not be read twice.
pub(super) fn read(
    tree: &FsRoot,
    running: &Reading<String>,
    config: &Reading<Config>,
) -> Reading<Vec<Installed>> {
    tree.list("/boot").and_then(|names| {
        // Without the running release it is unknown whether another one is waiting.
        let running = running.value.as_ref().map_err(Clone::clone)?;
        let releases = names.iter().filter_map(|name| {
            ["vmlinuz-", "vmlinux-", "Image-", "kernel-"].iter().find_map(|prefix| name.strip_prefix(prefix))
        });
        let mut releases: Vec<&str> = releases.filter(|release| !release.contains("rescue")).collect();
        releases.sort_unstable();
        releases.dedup();
        let installed = releases.into_iter().take(MOST).map(|release| Installed {
            release: release.to_owned(),
            realtime: match release == running && config.known().is_some() {
                true => config.and_then(|config| Ok(config.has("PREEMPT_RT"))),
                false => realtime(tree, release),
            },
            running: release == running,
        });
        Ok(installed.collect())
    })
}

fn realtime(tree: &FsRoot, release: &str) -> Reading<bool> {
    // Of a whole configuration this one line is wanted.
    let filter = |text: &str| -> String {
        text.lines()
            .filter(|line| line.contains("CONFIG_PREEMPT_RT"))
            .chain(text.contains("CONFIG_").then_some("# (other lines left out)"))
            .map(|line| format!("{line}\n"))
            .collect()
    };
    let config = tree.filtered(&format!("/boot/config-{release}"), filter).and_then(|text| {
        let has = |option: &str| text.lines().any(|line| line == option);
        match text.is_empty() {
            true => Err(Why::Malformed { expected: "CONFIG_... lines".to_owned() }),
            false => Ok(has("CONFIG_PREEMPT_RT=y") || has("CONFIG_PREEMPT_RT_FULL=y")),
        }
    });
    let named = || release.split(['-', '+', '.', '_']).any(|part| part == "rt" || part == "realtime");
    match config.value {
        Err(Why::Missing) if named() => Reading::new(format!("/boot/vmlinuz-{release}"), Ok(true)),
        _ => config,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_in_boot() {
        let tree = FsRoot::memory(&[
            ("/boot/vmlinuz-6.1.0-1-amd64", ""),
            ("/boot/config-6.1.0-1-amd64", "CONFIG_X=y\n# CONFIG_PREEMPT_RT is not set\n"),
            ("/boot/vmlinuz-6.1.0-1-rt-amd64", ""),
            ("/boot/config-6.1.0-1-rt-amd64", "CONFIG_PREEMPT_RT=y\n"),
            ("/boot/vmlinuz-6.8.1-1015-realtime", ""),
            ("/boot/vmlinuz-0-rescue-abc", ""),
            ("/boot/initrd.img-6.1.0-1-amd64", ""),
        ]);
        let running = Reading::new("/r", Ok("6.1.0-1-amd64".to_owned()));
        let config = Reading::new("/proc/config.gz", Err(Why::Missing));
        let found = read(&tree, &running, &config);
        let found: Vec<_> = found
            .need()
            .expect("listed")
            .iter()
            .map(|kernel| (kernel.release.as_str(), kernel.realtime.known().copied(), kernel.running))
            .collect();
        assert_eq!(
            found,
            [
                ("6.1.0-1-amd64", Some(false), true),
                ("6.1.0-1-rt-amd64", Some(true), false),
                ("6.8.1-1015-realtime", Some(true), false)
            ]
        );
        assert!(read(&FsRoot::memory(&[("/proc/x", "")]), &running, &config).need().is_err());
    }
}
