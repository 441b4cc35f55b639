//! Options of plugins: what several of them have in common.

use super::super::merge::{Item, Unit};
use super::super::output::Output;
use super::super::python::strip;

/// An option that the plugin does not have.
pub(super) fn unknown(item: &Item, unit: &Unit, out: &mut Output<'_, '_>) {
    out.leave(item, format!("this option of TuneD's plugin {} is not supported", unit.kind));
}

/// A value in double quotes loses them.
pub(super) fn unquoted(value: &str) -> &str {
    value.strip_prefix('"').and_then(|value| value.strip_suffix('"')).unwrap_or(value)
}

/// `commands.get_bool`: what is no word for it stays as it is.
pub(super) fn truth(value: &str) -> String {
    match strip(value).to_uppercase().as_str() {
        "Y" | "YES" | "T" | "TRUE" | "1" => "1".to_owned(),
        "N" | "NO" | "F" | "FALSE" | "0" => "0".to_owned(),
        _ => value.to_owned(),
    }
}
