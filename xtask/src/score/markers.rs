//! Sections of a page between two lines, which a command writes anew.

use anyhow::{Result, bail};

/// The section.
///
/// # Errors
/// When the page lacks a marker.
pub(super) fn between<'a>(name: &str, page: &'a str, (begin, end): (&str, &str)) -> Result<&'a str> {
    match page.split_once(begin).and_then(|(_, rest)| rest.split_once(end)) {
        Some((inside, _)) => Ok(inside),
        None => bail!("{name} has no section between `{begin}` and `{end}`: restore both lines"),
    }
}

/// The page with another section.
///
/// # Errors
/// When it lacks a marker.
pub(super) fn replaced(name: &str, page: &str, markers: (&str, &str), body: &str) -> Result<String> {
    between(name, page, markers)?;
    let (before, rest) = page.split_once(markers.0).unwrap_or_default();
    let (_, after) = rest.split_once(markers.1).unwrap_or_default();
    Ok(format!("{before}{}\n{body}{}{after}", markers.0, markers.1))
}
