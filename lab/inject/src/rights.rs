//! The rights of the victim's process.

/// What the victim's process may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rights {
    /// The same as this one.
    Same,
    /// No real-time policy: another user, with RLIMIT_RTPRIO 0.
    AnotherUser,
    /// No real-time policy: a control group that was given no real-time runtime.
    RtGroup,
}
