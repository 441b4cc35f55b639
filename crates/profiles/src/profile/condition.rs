//! When an entry counts: `isolated and not polling`, of variables and of what the machine is.
//!
//! What could not be read makes a condition neither true nor false, unless the rest of it settles the matter.

use super::error::{Mistake, there_are};
use super::facts::{FACTS, Truth};
use super::grammar::{Expression, Language, Operator};

const CONDITIONS: Language = Language {
    subject: "condition",
    example,
    levels: &[&[("or", Operator::Or)], &[("and", Operator::And)]],
    longest: 1024,
};

fn example() -> String {
    let facts = there_are(FACTS.iter().map(|(name, _)| *name));
    format!(
        "a condition is written like `isolated and not polling`, of variables and facts; of facts {facts}"
    )
}

/// A condition that can be evaluated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Condition(Expression);

impl Condition {
    pub(super) fn parse(text: &str) -> Result<Condition, Mistake> {
        Ok(Condition(CONDITIONS.parse(text)?))
    }

    /// Whether it holds; `name` gives what a name stands for, be it a variable or a fact.
    pub(super) fn holds(
        &self,
        name: &mut dyn FnMut(&str) -> Result<Truth, Mistake>,
    ) -> Result<Truth, Mistake> {
        holds(&self.0, name)
    }

    /// True where it asks anything of the machine, and not only of variables.
    pub(super) fn asks_machine(&self) -> bool {
        asks_machine(&self.0)
    }
}

fn holds(
    condition: &Expression,
    name: &mut dyn FnMut(&str) -> Result<Truth, Mistake>,
) -> Result<Truth, Mistake> {
    Ok(match condition {
        Expression::Name(own) => name(own)?,
        Expression::Not(inner) => holds(inner, name)?.map(|truth| !truth),
        Expression::Joined(Operator::And, a, b) => match (holds(a, name)?, holds(b, name)?) {
            (Ok(false), _) | (_, Ok(false)) => Ok(false),
            (Ok(true), other) | (other, Ok(true)) => other,
            (unknown, _) => unknown,
        },
        Expression::Joined(Operator::Or, a, b) => match (holds(a, name)?, holds(b, name)?) {
            (Ok(true), _) | (_, Ok(true)) => Ok(true),
            (Ok(false), other) | (other, Ok(false)) => other,
            (unknown, _) => unknown,
        },
        Expression::List(_) | Expression::Call(..) | Expression::Joined(Operator::Minus, ..) => {
            return Err(CONDITIONS.mistake("a set of CPUs is not a condition"));
        }
    })
}

fn asks_machine(condition: &Expression) -> bool {
    match condition {
        Expression::Name(name) => FACTS.iter().any(|(fact, _)| fact == name),
        Expression::List(_) => false,
        Expression::Not(inner) | Expression::Call(_, inner) => asks_machine(inner),
        Expression::Joined(_, a, b) => asks_machine(a) || asks_machine(b),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn holds(text: &str) -> Truth {
        let condition = Condition::parse(text).unwrap_or_else(|wrong| panic!("{text}: {}", wrong.what));
        let named = condition.holds(&mut |name| {
            Ok(match name {
                "yes" => Ok(true),
                "no" => Ok(false),
                _ => Err(name.to_owned()),
            })
        });
        named.expect("only names")
    }

    #[test]
    fn what_is_not_known_stays_so_unless_the_rest_settles_it() {
        for (text, truth) in [
            ("yes", Some(true)),
            ("not yes", Some(false)),
            ("yes and no or yes", Some(true)),
            ("no and (yes or yes)", Some(false)),
            ("unknown", None),
            ("not unknown", None),
            ("unknown or yes", Some(true)),
            ("yes or unknown", Some(true)),
            ("unknown and no", Some(false)),
            ("unknown and yes", None),
            ("no or unknown", None),
            ("not (unknown and no)", Some(true)),
        ] {
            assert_eq!(holds(text).ok(), truth, "{text}");
        }
    }

    #[test]
    fn mistakes_are_named() {
        for (text, part) in [
            ("", "missing at the end"),
            ("yes no", "`no` is unexpected"),
            ("and yes", "condition is missing before `and`"),
            ("(yes", "`)` is missing"),
            ("kernel > 6", "`>` is not part"),
        ] {
            let wrong = Condition::parse(text).expect_err(text);
            assert!(wrong.what.contains(part) && wrong.possible.contains("fair-server"), "{text}: {wrong:?}");
        }
        assert!(Condition::parse(&"not ".repeat(100)).is_err());
    }

    proptest! {
        #[test]
        fn no_text_is_too_much(text in "\\PC{0,200}") {
            let _ = Condition::parse(&text);
        }

        #[test]
        fn words_in_any_order(words in prop::collection::vec(
            prop::sample::select(vec!["yes", "no", "unknown", "and", "or", "not", "(", ")"]), 0..120,
        )) {
            let _ = Condition::parse(&words.join(" "));
        }
    }
}
