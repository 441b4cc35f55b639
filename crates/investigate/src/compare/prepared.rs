//! A run with what is computed once from its samples: for the comparison, claims and plots.

use std::sync::OnceLock;
use whylate_stats::{FitRefusal, Measured, Run, Tail};

/// A run, its threads together, and the tails that can be fitted.
#[derive(Clone, Debug, Default)]
pub struct Prepared {
    /// The run.
    pub run: Run,
    /// All its threads together, under no name. The maxima are `None` where one of the threads has none.
    pub all: Measured,
    tail: Fit,
    /// Of each thread, in order.
    tails: Vec<Fit>,
}

/// A fit draws thousands of samples, and not every answer needs one: it is made when it is first asked for.
type Fit = OnceLock<Result<Tail, FitRefusal>>;

impl Prepared {
    /// Sums up the threads.
    pub fn of(run: Run) -> Prepared {
        let all = Measured { histogram: run.all(), maxima: run.maxima(), ..Measured::default() };
        Prepared { all, tail: Fit::new(), tails: vec![Fit::new(); run.threads.len()], run }
    }

    /// All threads together.
    pub fn together(&self) -> Samples<'_> {
        Samples { measured: &self.all, fit: &self.tail }
    }

    /// Each thread alone, in order.
    pub fn threads(&self) -> impl Iterator<Item = Samples<'_>> {
        self.run.threads.iter().zip(&self.tails).map(|(measured, fit)| Samples { measured, fit })
    }
}

/// All the rest follows from the run; whether a fit was computed makes no difference.
impl PartialEq for Prepared {
    fn eq(&self, other: &Prepared) -> bool {
        self.run == other.run
    }
}

/// Samples of a [`Prepared`] run: of a thread, or of all together.
#[derive(Clone, Copy, Debug)]
pub struct Samples<'a> {
    /// What was measured.
    pub measured: &'a Measured,
    fit: &'a Fit,
}

impl<'a> Samples<'a> {
    /// The tail that is fitted to these samples.
    ///
    /// # Errors
    /// Why no fit would mean anything.
    pub fn tail(&self) -> Result<&'a Tail, FitRefusal> {
        let fit = || Tail::fit(&self.measured.histogram, self.measured.maxima.as_ref());
        self.fit.get_or_init(fit).as_ref().map_err(|refusal| *refusal)
    }
}
