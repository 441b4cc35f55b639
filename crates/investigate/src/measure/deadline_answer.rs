//! What a measurement shows of a deadline: data for the renderers.

use whylate_base::Ns;

/// An approach to real-time work with Linux.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Approach {
    /// A kernel without PREEMPT_RT, and a real-time policy.
    OrdinaryKernel,
    /// A kernel with PREEMPT_RT.
    PreemptRt,
    /// A real-time system on a CPU of its own, or below Linux (Xenomai).
    BesideLinux,
}

impl Approach {
    /// The name of the code in JSON.
    pub fn code(self) -> &'static str {
        match self {
            Approach::OrdinaryKernel => "ordinary-kernel",
            Approach::PreemptRt => "preempt-rt",
            Approach::BesideLinux => "beside-linux",
        }
    }

    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Approach::OrdinaryKernel => "an ordinary kernel with a real-time policy",
            Approach::PreemptRt => "a kernel with PREEMPT_RT",
            Approach::BesideLinux => {
                "a real-time system beside Linux (on a CPU of its own, or below Linux as Xenomai)"
            }
        }
    }
}

/// A deadline, beside what was measured.
#[derive(Clone, Debug, PartialEq)]
pub struct DeadlineAnswer {
    /// The deadline.
    pub deadline: Ns,
    /// The order of magnitude of the worst case that it permits: 10 us, 100 us or 1 ms.
    pub class: Ns,
    /// Whether every sample kept it; `None`: the measurement does not show it.
    pub is_kept: Option<bool>,
    /// Samples that were at least that late.
    pub late: u64,
    /// Of so many.
    pub samples: u64,
    /// What suits it, by its class and by what was measured.
    pub approach: Approach,
    /// The reasons, in sentences.
    pub reasons: Vec<String>,
}
