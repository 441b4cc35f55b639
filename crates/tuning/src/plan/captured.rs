//! What a captured machine lacks.

use whylate_host::Why;

/// Reasons without the advice how to capture a file, which is the same for each; `None`: nothing was not collected.
pub(super) fn short(why: &str) -> Option<String> {
    let long = Why::NotCollected.to_string();
    why.contains(&long).then(|| why.replace(&long, "it was not collected"))
}
