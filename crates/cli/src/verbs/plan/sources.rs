//! Where profiles come from.

use std::path::PathBuf;

/// The profile unless one is given.
pub(super) const DEFAULT: &str = "realtime";

/// Where profiles of the user, of the machine and of packages are looked for.
pub(super) fn directories() -> Vec<PathBuf> {
    let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".config"));
    let config = std::env::var_os("XDG_CONFIG_HOME").map(PathBuf::from).filter(|dir| dir.is_absolute());
    let own = config.or_else(home).map(|dir| dir.join("whylate/profiles"));
    // The administrator's before those of packages, as of the vendor of a board.
    let all = ["/etc/whylate/profiles", "/usr/share/whylate/profiles"].map(PathBuf::from);
    own.into_iter().chain(all).collect()
}
