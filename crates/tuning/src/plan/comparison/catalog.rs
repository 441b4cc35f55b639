//! What machines are compared by where no profile names settings.

use crate::plan::context::PlanContext;
use crate::plan::links;
use whylate_profiles::{DesiredSetting, Pattern, Reasons, Selector, ThreadSelector, profile, tunable};

/// The settings of built-in profiles and the policies of kernel threads. The CPUs of threads and interrupts are not among
/// them: which are right depends on the CPUs of each machine.
pub(super) fn settings(context: &PlanContext<'_>) -> Vec<DesiredSetting> {
    let cpus = context.host.cpus.present.known().cloned().unwrap_or_default();
    let mut settings: Vec<DesiredSetting> =
        profile::built_in_settings(&cpus).into_iter().filter_map(readable).collect();
    let named = Pattern::Glob("[*".to_owned());
    let threads = ThreadSelector { named, except: Vec::new() };
    settings.extend(readable(setting(Selector::ThreadPolicy { threads })));
    settings
}

/// Kernel parameters that a check reads.
pub(super) fn parameters() -> impl Iterator<Item = DesiredSetting> {
    links::known_parameters().map(|name| setting(Selector::Parameter { name: name.to_owned() }))
}

fn setting(selector: Selector) -> DesiredSetting {
    let origin = "whylate check".to_owned();
    DesiredSetting { selector, value: None, reasons: Reasons::default(), origin, optional: true }
}

/// With a value, where a selector is read only for one; any serves, as it is not shown. `None`: it is not compared.
fn readable(setting: DesiredSetting) -> Option<DesiredSetting> {
    let value = match &setting.selector {
        Selector::Tunable { path } => Some(tunable::feature(path).map_or("0", |(_, name)| name).to_owned()),
        Selector::ThreadPolicy { threads } if threads.named == Pattern::Glob("[*".to_owned()) => {
            Some("other".to_owned())
        }
        Selector::UnitActive { .. } => Some("inactive".to_owned()),
        Selector::UnitEnabled { .. } => Some("masked".to_owned()),
        Selector::CpuDmaLatency => Some("0".to_owned()),
        Selector::Parameter { .. } | Selector::Variable { .. } => None,
        Selector::ThreadPolicy { .. }
        | Selector::ThreadCpus { .. }
        | Selector::ThreadPlacement { .. }
        | Selector::Irqs
        | Selector::Partition { .. } => return None,
    };
    Some(DesiredSetting { value, ..setting })
}
