//! Cases whose operations are pages.

use crate::bench::BenchError;
use crate::bench::case::Case;
use whylate_base::Ns;

/// Pages of a sample, so that one system call for all of them costs little beside them.
const PAGES: u32 = 64;
const MOST_PAGES: u32 = 256;

/// A case whose operations are pages.
pub(super) fn pages<'a>(
    group: &'static str,
    name: &str,
    perform: impl FnMut(usize) -> Result<Ns, BenchError> + 'a,
) -> Case<'a> {
    let mut perform = perform;
    Case::new(group, name, move |pages| perform(pages as usize)).at_least(PAGES).at_most(MOST_PAGES)
}
