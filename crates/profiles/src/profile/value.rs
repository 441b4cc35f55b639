//! The values of variables.

use whylate_base::CpuSet;

/// A resolved value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum VariableValue {
    Cpus(CpuSet),
    Text(String),
    Number(i64),
    YesNo(bool),
}

impl VariableValue {
    /// As it stands in texts.
    pub(super) fn show(&self) -> String {
        match self {
            VariableValue::Cpus(cpus) => cpus.to_string(),
            VariableValue::Text(text) => text.clone(),
            VariableValue::Number(number) => number.to_string(),
            VariableValue::YesNo(yes) => if *yes { "yes" } else { "no" }.to_owned(),
        }
    }
}
