//! The values of one group.

use std::collections::BTreeMap;

/// Values by name. A value that cannot be read is an error message instead.
pub type Values = BTreeMap<String, String>;
