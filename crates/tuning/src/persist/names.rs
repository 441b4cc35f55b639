//! The names of what is installed.

/// The unit that makes the settings again at each boot.
pub const TUNING_UNIT: &str = "whylate-tuning.service";
/// The unit that holds /dev/cpu_dma_latency.
pub const LATENCY_UNIT: &str = "whylate-latency.service";
/// The unit that goes on with a proof across reboots, after each boot.
pub const RESUME_UNIT: &str = "whylate-prove-resume.service";
/// Where the program is copied to, where it is not installed in a place that is fit for a service of root.
pub const PROGRAM_COPY: &str = "/usr/local/sbin/whylate-boot";
