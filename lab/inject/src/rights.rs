//! The rights of the victim's process.

/// The rights of the victim's process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rights {
    /// Those of this process.
    Same,
    /// No real-time policy: another user, with RLIMIT_RTPRIO 0.
    AnotherUser,
    /// No real-time policy: a control group without real-time runtime.
    RtGroup,
}
