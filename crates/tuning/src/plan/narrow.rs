//! From failed checks to the wishes that mend them.

use super::links::rules_of;
use crate::{LeftOut, Wish, Wishes};

/// Of a profile what is linked to one of these rules, alone. A rule that nothing is linked to is among what is left
/// out.
pub fn for_rules(wishes: Wishes, codes: &[String]) -> Wishes {
    let is_about = |wish: &Wish, code: &str| {
        wish.reasons.rule.as_deref() == Some(code) || rules_of(&wish.aim).contains(&code)
    };
    let unmet = codes.iter().filter(|code| !wishes.wishes.iter().any(|wish| is_about(wish, code)));
    let left_out = unmet.map(|code| LeftOut {
        what: format!("check {code}"),
        why: format!(
            "the profile sets nothing that it looks at: `whylate check --explain {code}` says what to do"
        ),
    });
    let left_out = left_out.collect();
    let kept = wishes.wishes.into_iter().filter(|wish| codes.iter().any(|code| is_about(wish, code)));
    Wishes { wishes: kept.collect(), left_out, ..wishes }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Aim, Reasons};

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
}
