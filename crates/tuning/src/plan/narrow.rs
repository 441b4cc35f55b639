//! Less than a profile asks for: what mends failed checks, or what needs no reboot.

use super::links::rules_of;
use crate::Setting;
use whylate_profiles::{DesiredSetting, DesiredState, Selector, Skipped};

/// All but kernel parameters: if the boot loader is not known, or no reboot is wanted. They are among what is
/// left out.
pub fn without_parameters(mut desired: DesiredState) -> DesiredState {
    let mut skipped = Vec::new();
    desired.settings.retain(|desired_setting| match &desired_setting.selector {
        Selector::Parameter { name } => {
            let what = Setting::Parameter { name: name.clone() }.to_string();
            skipped.push(Skipped { what, why: "--skip-kernel-parameters was given".to_owned() });
            false
        }
        _ => true,
    });
    desired.skipped.extend(skipped);
    desired
}

/// Of a profile what is linked to one of these rules, alone. A rule that nothing is linked to is among what is left
/// out.
pub fn for_rules(desired: DesiredState, codes: &[String]) -> DesiredState {
    let is_about = |desired_setting: &DesiredSetting, code: &str| {
        desired_setting.reasons.rule.as_deref() == Some(code)
            || rules_of(&desired_setting.selector).contains(&code)
    };
    let unmet = codes
        .iter()
        .filter(|code| !desired.settings.iter().any(|desired_setting| is_about(desired_setting, code)));
    let skipped = unmet.map(|code| Skipped {
        what: format!("check {code}"),
        // The same for all of them, so that they are reported together.
        why: "the profile sets nothing that this check reads: see `whylate check --explain CODE`".to_owned(),
    });
    let skipped = skipped.collect();
    let kept = desired
        .settings
        .into_iter()
        .filter(|desired_setting| codes.iter().any(|code| is_about(desired_setting, code)));
    DesiredState { settings: kept.collect(), skipped, conditional: Vec::new(), ..desired }
}

#[cfg(test)]
mod tests {
    use super::*;
    use whylate_profiles::{Reasons, Selector};

    #[test]
    fn only_what_is_linked_stays() {
        let desired_setting = |path: &str, rule: Option<&str>| DesiredSetting {
            selector: Selector::Tunable { path: path.to_owned() },
            value: Some("0".to_owned()),
            reasons: Reasons { rule: rule.map(str::to_owned), ..Reasons::default() },
            origin: "test".to_owned(),
            optional: false,
        };
        let desired = DesiredState {
            settings: vec![
                desired_setting("/proc/sys/kernel/timer_migration", None),
                desired_setting("/proc/sys/vm/swappiness", None),
                desired_setting("/proc/sys/vm/other", Some("ksm")),
            ],
            ..DesiredState::default()
        };
        let codes = ["timer-migration", "ksm", "smi"].map(str::to_owned);
        let narrowed = for_rules(desired, &codes);
        let paths: Vec<_> =
            narrowed.settings.iter().map(|desired_setting| &desired_setting.selector).collect();
        assert_eq!(paths.len(), 2, "{paths:?}");
        assert_eq!(narrowed.skipped.len(), 1);
        assert_eq!(narrowed.skipped[0].what, "check smi");
    }

    #[test]
    fn without_parameters_all_else_stays() {
        let desired_setting = |selector| DesiredSetting {
            selector,
            value: Some("1".to_owned()),
            reasons: Reasons::default(),
            origin: "test".to_owned(),
            optional: false,
        };
        let tunable = desired_setting(Selector::Tunable { path: "/proc/sys/vm/swappiness".to_owned() });
        let desired =
            vec![desired_setting(Selector::Parameter { name: "skew_tick".to_owned() }), tunable.clone()];
        let left = without_parameters(DesiredState { settings: desired, ..DesiredState::default() });
        assert_eq!(left.settings, [tunable]);
        assert_eq!(left.skipped[0].what, "kernel parameter skew_tick");
    }
}
