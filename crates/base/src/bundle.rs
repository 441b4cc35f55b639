//! The names of what is in a bundle of `whylate bundle`, a zstd-compressed tar. Those that write it and those that read a
//! part of it are in different crates.

/// The list of its parts, and of those that are missing. The first file.
pub const MANIFEST: &str = "bundle.json";
/// What `whylate snapshot` writes.
pub const SNAPSHOT: &str = "snapshot.tar.zst";
/// The directory of its measurements, which come before the trace.
pub const MEASUREMENTS: &str = "measurements/";
/// The measurement that was made for the bundle.
pub const OWN_MEASUREMENT: &str = "measurements/this-machine.json";
/// The recording. The last file, as it may be large.
pub const TRACE: &str = "trace.dat";
