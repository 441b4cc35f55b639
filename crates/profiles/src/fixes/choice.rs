//! Which fixes are planned: those that are asked for by number, or else the first of each finding that can be made.

use super::{Fixes, NumberedFix, resolve};
use crate::{DesiredSetting, DesiredState, Reasons, Skipped};
use whylate_host::Snapshot;

/// The desired state that chosen fixes ask for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChosenFixes {
    /// Their settings; the other fixes are among what is skipped, each with the reason.
    pub desired: DesiredState,
    /// The numbers of those that are planned.
    pub numbers: Vec<usize>,
}

/// Why fixes cannot be chosen.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FixChoiceError {
    /// There is no such number.
    #[error("{name} has no fix {number}: {have}")]
    NoSuchFix {
        /// The document.
        name: String,
        /// The number that was asked for.
        number: usize,
        /// What it has.
        have: String,
    },
    /// It cannot be made on this machine.
    #[error("fix {number} of {name} cannot be made: {why} ({text})")]
    NotMade {
        /// The document.
        name: String,
        /// Its number.
        number: usize,
        /// Why not.
        why: String,
        /// What it would be.
        text: String,
    },
    /// None can be made.
    #[error("no fix of {name} can be made{reasons}")]
    None {
        /// The document.
        name: String,
        /// Each fix with its reason, a line each.
        reasons: String,
    },
}

/// Documents that were written before fixes had actions.
const OLD: &str = "the document was written before fixes had settings: run the verb that wrote it again";

impl Fixes {
    /// The fixes with these numbers, for a machine; without numbers the first of each finding that can be made.
    ///
    /// # Errors
    /// [`FixChoiceError`]: there is no such fix, it cannot be made, or none can.
    pub fn choose(&self, numbers: &[usize], host: &Snapshot) -> Result<ChosenFixes, FixChoiceError> {
        let mut chosen = Vec::new();
        let mut skipped = Vec::new();
        match numbers {
            [] => self.first_of_each(host, &mut chosen, &mut skipped),
            numbers => {
                for &number in numbers {
                    chosen.push(self.asked_for(number, host)?);
                }
            }
        }
        if chosen.is_empty() && !self.each.is_empty() {
            let lines = skipped.iter().map(|left: &Skipped| format!("\n  {}: {}", left.what, left.why));
            let reasons = format!(":{}", lines.collect::<String>());
            return Err(FixChoiceError::None { name: self.name.clone(), reasons });
        }
        let numbers: Vec<usize> = chosen.iter().map(|(fix, _)| fix.number).collect();
        let list: Vec<String> = numbers.iter().map(ToString::to_string).collect();
        let mut settings: Vec<DesiredSetting> = Vec::new();
        for (fix, wanted) in chosen {
            for (selector, value) in wanted {
                match settings.iter().find(|known| known.selector == selector) {
                    None => {}
                    Some(known) if known.value == value => continue,
                    Some(known) => {
                        let why = format!("{} sets the same to another value", known.origin);
                        skipped.push(Skipped { what: format!("fix {}: {selector}", fix.number), why });
                        continue;
                    }
                }
                let is_rule = self.failed_rules.contains(&fix.code);
                settings.push(DesiredSetting {
                    selector,
                    value,
                    reasons: Reasons {
                        why: Some(format!("{}: {}", fix.code, fix.title)),
                        rule: is_rule.then(|| fix.code.clone()),
                        benefit: None,
                        risk: fix.risk.clone(),
                    },
                    origin: format!("fix {} of {}", fix.number, self.name),
                    optional: false,
                });
            }
        }
        let desired = DesiredState {
            profile: format!("fixes of {}", self.name),
            variables: vec![("fix".to_owned(), list.join(", "))],
            settings,
            skipped,
            conditional: Vec::new(),
        };
        Ok(ChosenFixes { desired, numbers })
    }

    fn asked_for(
        &self,
        number: usize,
        host: &Snapshot,
    ) -> Result<(&NumberedFix, Vec<resolve::Wanted>), FixChoiceError> {
        let Some(fix) = self.each.iter().find(|fix| fix.number == number) else {
            let have = match self.each.len() {
                0 => "it advises none".to_owned(),
                count => format!("its fixes are 1 to {count}; `whylate plan --from` lists them"),
            };
            return Err(FixChoiceError::NoSuchFix { name: self.name.clone(), number, have });
        };
        made(fix, host).map(|wanted| (fix, wanted)).map_err(|why| FixChoiceError::NotMade {
            name: self.name.clone(),
            number,
            why,
            text: fix.text.clone(),
        })
    }

    fn first_of_each<'a>(
        &'a self,
        host: &Snapshot,
        chosen: &mut Vec<(&'a NumberedFix, Vec<resolve::Wanted>)>,
        skipped: &mut Vec<Skipped>,
    ) {
        let mut done: Option<(usize, usize)> = None;
        for fix in &self.each {
            let why = match made(fix, host) {
                Err(why) => why,
                Ok(_) if fix.is_minor => {
                    format!("it is not planned unless it is asked for: --fix {}", fix.number)
                }
                Ok(wanted) => match done {
                    Some((finding, first)) if finding == fix.finding => {
                        format!("an alternative to fix {first}: --fix {} plans it instead", fix.number)
                    }
                    _ => {
                        done = Some((fix.finding, fix.number));
                        chosen.push((fix, wanted));
                        continue;
                    }
                },
            };
            skipped.push(Skipped { what: format!("fix {}: {} ({})", fix.number, fix.text, fix.code), why });
        }
    }
}

/// The settings of a fix here, or why there are none.
fn made(fix: &NumberedFix, host: &Snapshot) -> Result<Vec<resolve::Wanted>, String> {
    match &fix.action {
        None => Err(OLD.to_owned()),
        Some(action) => resolve::settings(action, host),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use whylate_base::Action;
    use whylate_host::FsRoot;

    fn fix(number: usize, finding: usize, is_minor: bool, action: Option<Action>) -> NumberedFix {
        let text = format!("do {number}");
        let (code, title) = ("c".to_owned(), "T".to_owned());
        NumberedFix { number, code, title, text, action, risk: None, finding, is_minor }
    }

    fn fixes(each: Vec<NumberedFix>) -> Fixes {
        Fixes { name: "x.json".to_owned(), each, ..Fixes::default() }
    }

    #[test]
    fn the_first_of_each_finding_and_the_others_with_a_reason() {
        let host = Snapshot::read(&FsRoot::memory(&[]));
        let sysctl = |name: &str, value: &str| Some(Action::sysctl(name, value));
        let all = fixes(vec![
            fix(1, 0, false, Some(Action::by_hand("the program is to be changed"))),
            fix(2, 0, false, sysctl("a.b", "1")),
            fix(3, 0, false, sysctl("a.c", "1")),
            fix(4, 1, false, sysctl("a.b", "2")),
            fix(5, 2, true, sysctl("a.d", "1")),
            fix(6, 3, false, None),
        ]);
        let chosen = all.choose(&[], &host).expect("some");
        assert_eq!(chosen.numbers, [2, 4]);
        assert_eq!(chosen.desired.settings.len(), 1);
        let whys: Vec<&str> = chosen.desired.skipped.iter().map(|left| left.why.as_str()).collect();
        let expected = [
            "no setting makes it",
            "an alternative to fix 2",
            "not planned unless",
            "written before",
            "another value",
        ];
        for (why, expected) in whys.iter().zip(expected) {
            assert!(why.contains(expected), "{whys:?}");
        }
        assert_eq!(all.choose(&[5, 3], &host).expect("both").numbers, [5, 3]);
        for (numbers, expected) in [
            (&[7][..], "x.json has no fix 7: its fixes are 1 to 6"),
            (&[0], "has no fix 0"),
            (
                &[1],
                "fix 1 of x.json cannot be made: no setting makes it: the program is to be changed (do 1)",
            ),
            (&[2, 6], "fix 6 of x.json cannot be made: the document was written before"),
        ] {
            let error = all.choose(numbers, &host).expect_err("refused").to_string();
            assert!(error.contains(expected), "{error}");
        }
        let none = fixes(vec![fix(1, 0, false, Some(Action::by_hand("the program is to be changed")))]);
        let error = none.choose(&[], &host).expect_err("none").to_string();
        assert!(error.contains("no fix of x.json can be made:\n  fix 1: do 1 (c): no setting"), "{error}");
        assert_eq!(fixes(Vec::new()).choose(&[], &host).expect("nothing").numbers, [] as [usize; 0]);
    }
}
