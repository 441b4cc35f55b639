//! The value of `--limit`.

use std::time::Duration;
use whylate_base::{Ns, parse_duration};

/// A duration of more than zero.
pub(super) fn limit(text: &str) -> Result<Duration, String> {
    match parse_duration(text) {
        Ok(Ns(nanoseconds @ 1..)) => Ok(Duration::from_nanos(nanoseconds.unsigned_abs())),
        Ok(_) => Err("must be more than zero".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}
