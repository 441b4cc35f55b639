//! What a piece of time is charged to.

use crate::causes::Cause;
use crate::model::Culprit;
use whylate_base::Confidence;

/// A cause with its culprit, and how sure that is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Charge {
    pub(crate) cause: Cause,
    pub(crate) by: Option<Culprit>,
    /// The owner of the lock that was waited for, where it was one.
    pub(crate) owner: Option<Culprit>,
    pub(crate) confidence: Confidence,
}

impl Charge {
    pub(crate) fn to(cause: Cause, by: Option<Culprit>, confidence: Confidence) -> Charge {
        Charge { cause, by, owner: None, confidence }
    }

    /// To what an interrupt's handler, or a thread that works like one, does: of a `silent` one it cannot be determined whether it
    /// worked, or whether it lost the CPU.
    pub(crate) fn to_handler(cause: Cause, by: Culprit, silent: bool) -> Charge {
        Charge::to(cause, Some(by), if silent { Confidence::Low } else { Confidence::High })
    }

    /// To a device that a thread of the kernel, or the late thread, waited for.
    pub(crate) fn device() -> Charge {
        Charge::to(Cause::BlockIo, None, Confidence::Medium)
    }

    pub(crate) fn unexplained() -> Charge {
        Charge::to(Cause::Unexplained, None, Confidence::Low)
    }
}
