//! Whether control groups schedule real-time threads (CONFIG_RT_GROUP_SCHED).

use super::{Cmdline, Config, Kernel, KernelVersion, config, names};
use crate::{FsRoot, Reading, Unread, Why};

/// Since then it can be switched off at boot; before, the kernel ignores `rt_group_sched=`.
const SWITCHABLE: KernelVersion = KernelVersion::new(6, 16);

impl Kernel {
    /// Whether control groups schedule real-time threads: built in, and not switched off at boot.
    ///
    /// # Errors
    /// If the configuration, the version or the command line could not be read, as far as the answer depends on it.
    pub fn rt_group_sched(&self) -> Result<bool, Unread> {
        in_force(&self.config, &self.release, &self.cmdline)
    }
}

/// Whether control groups schedule real-time threads, of a machine of which nothing else is read; `None`: not known.
pub fn rt_group_sched(tree: &FsRoot) -> Option<bool> {
    let (release, _) = names(tree);
    in_force(&config::read(tree, &release), &release, &tree.value("/proc/cmdline")).ok()
}

fn in_force(
    config: &Reading<Config>,
    release: &Reading<String>,
    cmdline: &Reading<Cmdline>,
) -> Result<bool, Unread> {
    let config = config.need()?;
    if !config.has("RT_GROUP_SCHED") {
        return Ok(false);
    }
    let default = !config.has("RT_GROUP_SCHED_DEFAULT_DISABLED");
    if default && KernelVersion::of_release(release)? < SWITCHABLE {
        return Ok(true);
    }
    // A number; anything else the kernel refuses.
    Ok(match cmdline.need()?.get("rt_group_sched") {
        Some("0") => false,
        Some("1") => true,
        _ => default,
    })
}

impl KernelVersion {
    /// Of `uname -r`.
    ///
    /// # Errors
    /// If it could not be read, or is none.
    pub fn of_release(release: &Reading<String>) -> Result<KernelVersion, Unread> {
        release.need().and_then(|text| {
            let why = Why::Malformed { expected: "a release such as 6.12.0".to_owned() };
            text.parse().map_err(|()| Unread { path: release.path.clone(), why })
        })
    }
}
