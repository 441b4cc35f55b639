//! What a captured machine lacks.

use whylate_host::Why;

/// A reason without the advice how to capture a file, if it has that.
pub(super) fn shortened(why: &str) -> String {
    short(why).unwrap_or_else(|| why.to_owned())
}

/// Reasons without the advice how to capture a file, which is the same for each; `None`: nothing was not collected.
pub(super) fn short(why: &str) -> Option<String> {
    let long = Why::NotCollected.to_string();
    why.contains(&long).then(|| why.replace(&long, "it was not collected"))
}
