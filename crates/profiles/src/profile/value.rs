//! The values of variables.

use whylate_base::CpuSet;

/// What a variable is worth.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Worth {
    Cpus(CpuSet),
    Text(String),
    Number(i64),
    YesNo(bool),
}

impl Worth {
    /// As it stands in texts.
    pub(super) fn show(&self) -> String {
        match self {
            Worth::Cpus(cpus) => cpus.to_string(),
            Worth::Text(text) => text.clone(),
            Worth::Number(number) => number.to_string(),
            Worth::YesNo(yes) => if *yes { "yes" } else { "no" }.to_owned(),
        }
    }
}
