//! Errors: the program's messages.

use pyo3::PyErr;
use pyo3::create_exception;
use pyo3::exceptions::PyException;
use std::error::Error as StdError;

create_exception!(_whylate, Error, PyException, "What could not be done, and why.");

/// An error with its causes, as the program prints it.
pub(crate) fn failed<E: StdError>(error: E) -> PyErr {
    Error::new_err(words(&error))
}

/// The same, with the file or input that it is about.
pub(crate) fn in_file(name: &str, error: impl StdError) -> PyErr {
    Error::new_err(format!("{name}: {}", words(&error)))
}

fn words(error: &dyn StdError) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let words = error.to_string();
        // Some errors have their cause in their own words.
        if !text.ends_with(&words) {
            text.push_str(": ");
            text.push_str(&words);
        }
        cause = error.source();
    }
    text
}
