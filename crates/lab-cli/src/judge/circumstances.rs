//! What a judge must know of a run beside its label.

/// Facts about a run that are not in its label.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Circumstances {
    /// The host may have taken time from the guest: it ran in the host's time, or had several CPUs on one thread of
    /// the emulator. A verdict `stolen` is then neither right nor wrong.
    pub host_noise: bool,
}
