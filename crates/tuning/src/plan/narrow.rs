//! Less than a profile asks for: what mends failed checks, or what needs no reboot.

use super::links::rules_of;
use crate::Setting;
use whylate_profiles::{Aim, LeftOut, Wish, Wishes};

/// All but kernel parameters: where the boot loader cannot be told, or nobody wants a reboot. They are among what is
/// left out.
pub fn without_parameters(mut wishes: Wishes) -> Wishes {
    let mut skipped = Vec::new();
    wishes.wishes.retain(|wish| match &wish.aim {
        Aim::Parameter { name } => {
            let what = Setting::Parameter { name: name.clone() }.to_string();
            skipped.push(LeftOut { what, why: "kernel parameters are to be skipped".to_owned() });
            false
        }
        _ => true,
    });
    wishes.left_out.extend(skipped);
    wishes
}

/// Of a profile what is linked to one of these rules, alone. A rule that nothing is linked to is among what is left
/// out.
pub fn for_rules(wishes: Wishes, codes: &[String]) -> Wishes {
    let is_about = |wish: &Wish, code: &str| {
        wish.reasons.rule.as_deref() == Some(code) || rules_of(&wish.aim).contains(&code)
    };
    let unmet = codes.iter().filter(|code| !wishes.wishes.iter().any(|wish| is_about(wish, code)));
    let left_out = unmet.map(|code| LeftOut {
        what: format!("check {code}"),
        // The same for all of them, so that they are told together.
        why: "the profile sets nothing that it looks at: `whylate check --explain CODE` says what to do"
            .to_owned(),
    });
    let left_out = left_out.collect();
    let kept = wishes.wishes.into_iter().filter(|wish| codes.iter().any(|code| is_about(wish, code)));
    Wishes { wishes: kept.collect(), left_out, ..wishes }
}

#[cfg(test)]
mod tests {
    use super::*;
    use whylate_profiles::{Aim, Reasons};

    #[test]
    fn only_what_is_linked_stays() {
        let wish = |path: &str, rule: Option<&str>| Wish {
            aim: Aim::Knob { path: path.to_owned() },
            value: Some("0".to_owned()),
            reasons: Reasons { rule: rule.map(str::to_owned), ..Reasons::default() },
            origin: "test".to_owned(),
            optional: false,
        };
        let wishes = Wishes {
            wishes: vec![
                wish("/proc/sys/kernel/timer_migration", None),
                wish("/proc/sys/vm/swappiness", None),
                wish("/proc/sys/vm/other", Some("ksm")),
            ],
            ..Wishes::default()
        };
        let codes = ["timer-migration", "ksm", "smi"].map(str::to_owned);
        let narrowed = for_rules(wishes, &codes);
        let paths: Vec<_> = narrowed.wishes.iter().map(|wish| &wish.aim).collect();
        assert_eq!(paths.len(), 2, "{paths:?}");
        assert_eq!(narrowed.left_out.len(), 1);
        assert_eq!(narrowed.left_out[0].what, "check smi");
    }

    #[test]
    fn without_parameters_all_else_stays() {
        let wish = |aim| Wish {
            aim,
            value: Some("1".to_owned()),
            reasons: Reasons::default(),
            origin: "test".to_owned(),
            optional: false,
        };
        let knob = wish(Aim::Knob { path: "/proc/sys/vm/swappiness".to_owned() });
        let wishes = vec![wish(Aim::Parameter { name: "skew_tick".to_owned() }), knob.clone()];
        let left = without_parameters(Wishes { wishes, ..Wishes::default() });
        assert_eq!(left.wishes, [knob]);
        assert_eq!(left.left_out[0].what, "kernel parameter skew_tick");
    }
}
