//! The headings in `docs/accuracy.md` of what is run apart from the scenarios on x86, which stand before them.

/// Two machines; before those of arm64.
pub(super) const PEERS: &str = "\n## Two machines\n";
/// Guests of arm64.
pub(super) const ARM64: &str = "\n## Guests of arm64\n";
/// Programs of Debian; the last one.
pub(super) const PROGRAMS: &str = "\n## Programs of others\n";
