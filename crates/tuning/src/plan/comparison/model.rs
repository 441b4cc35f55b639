//! A comparison of settings, as it is shown.

use super::subject::ComparedSubject;
use crate::plan::model::MachineIdentity;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use whylate_profiles::{Reasons, Skipped};

/// Two sides and a machine, setting by setting.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SettingsComparison {
    /// The machine beside the two sides: profiles are resolved for it.
    pub machine: MachineIdentity,
    /// Where its files are: `/` is the machine of the comparison, anything else that of `--root`.
    pub root: String,
    /// The first side.
    pub a: ComparedSide,
    /// The second side.
    pub b: ComparedSide,
    /// Every setting of either side, in the order of the first.
    pub settings: Vec<ComparedSetting>,
    /// What limits the values of the machine: that its next boot is unknown.
    pub notes: Vec<String>,
}

/// What is compared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ComparedSide {
    /// What it is.
    pub kind: SideKind,
    /// The profile's name, `tuned:NAME` of one of TuneD; the file or directory of a machine.
    pub name: String,
    /// The variables of a profile, each a name and its resolved value.
    #[schemars(with = "Vec<[String; 2]>")]
    pub variables: Vec<(String, String)>,
    /// What identifies a machine; null: it is a profile.
    pub machine: Option<MachineIdentity>,
    /// What a profile asks for and is not supported, and so not compared.
    pub skipped: Vec<Skipped>,
    /// What limits the values of a machine: that its next boot is unknown.
    pub notes: Vec<String>,
}

/// What a side is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SideKind {
    /// A profile of whylate.
    Profile,
    /// A profile of TuneD.
    Tuned,
    /// The state of a machine.
    Machine,
}

/// One setting.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ComparedSetting {
    /// The setting in a few words, the same each time.
    pub name: String,
    /// The setting.
    pub subject: ComparedSubject,
    /// Whether the sides agree about it.
    pub agreement: Agreement,
    /// What the first side sets, or has.
    pub a: SideValue,
    /// What the second side sets, or has.
    pub b: SideValue,
    /// What the machine has.
    pub here: SideValue,
}

/// Whether two sides agree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Agreement {
    /// Both have the same value.
    Same,
    /// The values differ, or only one side sets it.
    Different,
    /// The value of a machine could not be read.
    CannotTell,
}

/// What a side has of one setting.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SideValue {
    /// Whether there is a value.
    pub state: ValueState,
    /// The distinct values, as a plan writes them: several where threads or interrupts of one name differ. null: the
    /// setting is absent, or is to be absent.
    pub values: Vec<Option<String>>,
    /// Why there is no value, or the condition that is not met; null: there is a value without a condition.
    pub why: Option<String>,
    /// Further information, such as that the kernel will refuse the value; null: none.
    pub note: Option<String>,
    /// Where a profile has it: `realtime.toml [sysctl]`; null: it is of a machine, or not set.
    pub origin: Option<String>,
    /// Why a profile sets it; null: it is of a machine, or not set.
    pub reasons: Option<Reasons>,
}

/// Whether a side has a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ValueState {
    /// The profile sets it, or the machine has it.
    Known,
    /// The profile sets it only under a condition, which is not met here.
    Conditional,
    /// The profile does not set it.
    NotSet,
    /// The machine has no such setting, or it cannot be set there.
    NotApplicable,
    /// It could not be read.
    Unread,
}

impl SettingsComparison {
    /// How many settings have an agreement.
    pub fn count(&self, agreement: Agreement) -> usize {
        self.settings.iter().filter(|setting| setting.agreement == agreement).count()
    }
}

impl SideValue {
    /// A profile does not set it.
    pub(super) fn not_set() -> SideValue {
        SideValue::without(ValueState::NotSet, None)
    }

    /// No value, and why.
    pub(super) fn without(state: ValueState, why: Option<String>) -> SideValue {
        SideValue { state, values: Vec::new(), why, note: None, origin: None, reasons: None }
    }

    /// The value of a machine.
    pub(super) fn read(value: Option<String>, note: Option<String>) -> SideValue {
        SideValue { values: vec![value], note, ..SideValue::without(ValueState::Known, None) }
    }
}
