//! Sets of CPUs in words: `2-3`, `all - isolated`, `siblings(2) & node(0)`.

use super::error::Mistake;
use super::grammar::{Expression, Function, Language, Operator};
use super::topology::Topology;
use whylate_base::CpuSet;

/// `+` and `-` bind least, a `,` joins what belongs together.
const SETS: Language = Language {
    subject: "set of CPUs",
    example,
    levels: &[
        &[("+", Operator::Or), ("-", Operator::Minus)],
        &[("&", Operator::And)],
        &[(",", Operator::Or)],
    ],
    longest: 4096,
};

fn example() -> String {
    "a set of CPUs is written like `2-3`, `all - isolated`, `siblings(2)`, `node(0) & online`, `first(2 of cores)` or \
     `not 0`"
        .to_owned()
}

/// What a name stands for.
pub(super) trait Names {
    /// The CPUs of a variable.
    fn cpus(&mut self, name: &str) -> Result<CpuSet, Mistake>;
}

/// The CPUs that a text stands for.
pub(super) fn cpus(text: &str, machine: Topology<'_>, names: &mut dyn Names) -> Result<CpuSet, Mistake> {
    evaluate(&SETS.parse(text)?, machine, names)
}

fn evaluate(
    expression: &Expression,
    machine: Topology<'_>,
    names: &mut dyn Names,
) -> Result<CpuSet, Mistake> {
    let mut of = |inner: &Expression| evaluate(inner, machine, names);
    Ok(match expression {
        Expression::List(list) => {
            let all = machine.all()?;
            match list.iter().find(|&cpu| !all.contains(cpu)) {
                None => list.clone(),
                Some(cpu) => {
                    let possible = format!("this machine has {all}");
                    return Err(Mistake::new(format!("there is no CPU {cpu}"), possible));
                }
            }
        }
        Expression::Name(name) => match name.as_str() {
            "all" => machine.all()?,
            "online" => machine.online()?,
            "cores" => machine.cores()?,
            "none" => CpuSet::new(),
            _ => names.cpus(name)?,
        },
        Expression::Not(inner) => machine.all()?.without(&of(inner)?),
        Expression::Joined(operator, a, b) => {
            let (a, b) = (of(a)?, of(b)?);
            match operator {
                Operator::Or => a.iter().chain(b.iter()).collect(),
                Operator::And => a.iter().filter(|&cpu| b.contains(cpu)).collect(),
                Operator::Minus => a.without(&b),
            }
        }
        Expression::Call(Function::Node, inner) => match &**inner {
            Expression::List(numbers) => nodes(numbers, machine)?,
            _ => {
                return Err(Mistake::new(
                    "`node` takes numbers of nodes",
                    "write it like `node(0)` or `node(0-1)`",
                ));
            }
        },
        Expression::Call(Function::Siblings, inner) => machine.siblings(&of(inner)?)?,
        Expression::Call(Function::First(count), inner) => of(inner)?.iter().take(*count).collect(),
        Expression::Call(Function::Last(count), inner) => {
            let cpus = of(inner)?;
            cpus.iter().skip(cpus.len().saturating_sub(*count)).collect()
        }
    })
}

fn nodes(numbers: &CpuSet, machine: Topology<'_>) -> Result<CpuSet, Mistake> {
    let mut cpus = CpuSet::new();
    for number in numbers.iter() {
        machine.node(number.0)?.iter().for_each(|cpu| cpus.insert(cpu));
    }
    Ok(cpus)
}

#[cfg(test)]
mod tests;
