//! Less than a profile asks for: what mends failed checks, or what needs no reboot.

use super::links::rules_of;
use crate::Setting;
use whylate_host::Snapshot;
use whylate_profiles::fixes::Fixes;
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

/// Of a profile what is linked to the failed rules of a check. For a rule that nothing is linked to, the first fix that the
/// check advises and that can be made on this machine is taken; where there is none, that is among what is left out.
pub fn for_rules(desired: DesiredState, fixes: &Fixes, host: &Snapshot) -> DesiredState {
    let is_about = |desired_setting: &DesiredSetting, code: &str| {
        desired_setting.reasons.rule.as_deref() == Some(code)
            || rules_of(&desired_setting.selector).contains(&code)
    };
    let unmet = fixes
        .failed_rules
        .iter()
        .filter(|code| !desired.settings.iter().any(|desired_setting| is_about(desired_setting, code)));
    let mut skipped = Vec::new();
    let mut advised: Vec<DesiredSetting> = Vec::new();
    for code in unmet {
        let own = fixes.each.iter().filter(|fix| fix.code == *code && !fix.is_minor);
        let made = own.clone().find_map(|fix| fixes.choose(&[fix.number], host).ok());
        match made {
            Some(chosen) => {
                let known = |setting: &DesiredSetting| {
                    desired.settings.iter().chain(&advised).any(|known| known.selector == setting.selector)
                };
                let new: Vec<DesiredSetting> =
                    chosen.desired.settings.into_iter().filter(|setting| !known(setting)).collect();
                advised.extend(new);
            }
            None => skipped.push(Skipped {
                what: format!("check {code}"),
                // The same for all of them, so that they are reported together.
                why: "neither the profile nor a fix of the check sets what it reads: see `whylate check --explain CODE`"
                    .to_owned(),
            }),
        }
    }
    let kept = desired
        .settings
        .into_iter()
        .filter(|desired_setting| fixes.failed_rules.iter().any(|code| is_about(desired_setting, code)));
    let settings = kept.chain(advised).collect();
    DesiredState { settings, skipped, conditional: Vec::new(), ..desired }
}

#[cfg(test)]
mod tests {
    use super::*;
    use whylate_base::Action;
    use whylate_host::FsRoot;
    use whylate_profiles::fixes::NumberedFix;
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
        let fix = |number, code: &str, action| NumberedFix {
            number,
            code: code.to_owned(),
            title: String::new(),
            text: String::new(),
            action: Some(action),
            risk: None,
            finding: number,
            is_minor: false,
        };
        let fixes = Fixes {
            failed_rules: ["timer-migration", "ksm", "smi", "swap"].map(str::to_owned).to_vec(),
            each: vec![
                fix(1, "smi", Action::by_hand("it is about the firmware")),
                fix(2, "swap", Action::by_hand("memory must be free")),
                fix(3, "swap", Action::sysctl("vm.advised", "1")),
                fix(4, "ksm", Action::sysctl("vm.not_needed", "1")),
            ],
            ..Fixes::default()
        };
        let narrowed = for_rules(desired, &fixes, &Snapshot::read(&FsRoot::memory(&[])));
        let paths: Vec<_> =
            narrowed.settings.iter().map(|desired_setting| &desired_setting.selector).collect();
        let advised = Selector::Tunable { path: "/proc/sys/vm/advised".to_owned() };
        assert_eq!((paths.len(), paths.last()), (3, Some(&&advised)), "{paths:?}");
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
