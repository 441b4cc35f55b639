//! A trend in the responses of a thread.

use whylate_base::Ns;

/// A response that grows from one activation to the next.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Growth {
    /// How many of the worst activations are the last ones, in order.
    pub(crate) count: usize,
    /// The responses of the first and of the last of these.
    pub(crate) from: Ns,
    pub(crate) to: Ns,
}
