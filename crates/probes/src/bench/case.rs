//! One operation that is to be measured.

use super::BenchError;
use whylate_base::Ns;
use whylate_sys::{Clock, now};

/// Performs so many operations, and gives the time that they took, without what was prepared for them.
type Perform<'a> = Box<dyn FnMut(u32) -> Result<Ns, BenchError> + 'a>;

/// An operation, and how it is performed.
pub(super) struct Case<'a> {
    pub(super) group: &'static str,
    pub(super) name: String,
    pub(super) perform: Perform<'a>,
    /// Operations in a sample, at least and at most.
    pub(super) least: u32,
    pub(super) most: u32,
    /// Its part of the time, beside those of the other cases.
    pub(super) share: u32,
    /// Its time at most, of all rounds.
    pub(super) longest: Option<Ns>,
}

impl<'a> Case<'a> {
    pub(super) fn new(
        group: &'static str,
        name: impl Into<String>,
        perform: impl FnMut(u32) -> Result<Ns, BenchError> + 'a,
    ) -> Case<'a> {
        Case {
            group,
            name: name.into(),
            perform: Box::new(perform),
            least: 1,
            most: 1 << 20,
            share: 1,
            longest: None,
        }
    }

    /// With no fewer operations in a sample.
    #[must_use]
    pub(super) fn at_least(self, least: u32) -> Case<'a> {
        Case { least, ..self }
    }

    /// With so many times the time of other cases, and no more than `longest`.
    #[must_use]
    pub(super) fn with_share(self, share: u32, longest: Option<Ns>) -> Case<'a> {
        Case { share, longest, ..self }
    }

    /// With no more operations in a sample.
    #[must_use]
    pub(super) fn at_most(self, most: u32) -> Case<'a> {
        Case { most, ..self }
    }
}

/// How long `work` takes.
#[inline]
pub(super) fn timed<E: Into<BenchError>>(work: impl FnOnce() -> Result<(), E>) -> Result<Ns, BenchError> {
    let start = now(Clock::Monotonic);
    work().map_err(Into::into)?;
    Ok(now(Clock::Monotonic) - start)
}
