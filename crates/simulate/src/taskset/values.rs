//! Times, amounts, CPU lists and policies, as they are written.

use super::document::AmountText;
use super::error::TaskSetError;
use crate::model::{Amount, TaskPolicy};
use whylate_base::{CpuSet, Ns, parse_duration};
use whylate_events::SOFTIRQ_NAMES;

/// Longer than any run, and short enough that sums of them fit.
const LONGEST: Ns = Ns::from_secs(1_000_000_000);

/// A time; `0` needs no unit.
pub(super) fn time(at: &str, text: &str) -> Result<Ns, TaskSetError> {
    if text.trim() == "0" {
        return Ok(Ns::ZERO);
    }
    let time = parse_duration(text).map_err(|error| TaskSetError::value(at, error.to_string()))?;
    if time > LONGEST {
        return Err(TaskSetError::value(at, format!("`{text}` is longer than {LONGEST}")));
    }
    Ok(time)
}

/// A time that must be more than zero.
pub(super) fn positive(at: &str, text: &str) -> Result<Ns, TaskSetError> {
    match time(at, text)? {
        Ns::ZERO => Err(TaskSetError::value(at, format!("`{text}` must be more than zero"))),
        time => Ok(time),
    }
}

/// `200us`, `100us..300us`, `forever`.
pub(super) fn amount(at: &str, text: &str) -> Result<Amount, TaskSetError> {
    if text.trim() == "forever" {
        return Ok(Amount::Forever);
    }
    let Some((least, most)) = text.split_once("..") else { return Ok(Amount::Fixed(time(at, text)?)) };
    let (least, most) = (time(at, least)?, time(at, most)?);
    if least > most {
        return Err(TaskSetError::value(at, format!("`{text}`: the first must not be more than the second")));
    }
    Ok(Amount::Uniform(least, most))
}

/// Any of the forms.
pub(super) fn any_amount(at: &str, text: &AmountText) -> Result<Amount, TaskSetError> {
    match text {
        AmountText::Text(text) => amount(at, text),
        AmountText::Sequence(values) if values.is_empty() => {
            Err(TaskSetError::value(at, "the list is empty"))
        }
        AmountText::Sequence(values) => {
            Ok(Amount::Sequence(values.iter().map(|value| time(at, value)).collect::<Result<_, _>>()?))
        }
        AmountText::Weighted { values } => {
            let values: Vec<(Ns, f64)> = values
                .iter()
                .map(|(value, weight)| Ok((time(at, value)?, *weight)))
                .collect::<Result<_, TaskSetError>>()?;
            let weights = values.iter().map(|&(_, weight)| weight);
            if values.is_empty() || !weights.clone().all(|weight| weight.is_finite() && weight > 0.0) {
                return Err(TaskSetError::value(at, "each value needs a weight of more than zero"));
            }
            Ok(Amount::Weighted(values))
        }
    }
}

/// `0-3,8`.
pub(super) fn cpus(at: &str, text: &str) -> Result<CpuSet, TaskSetError> {
    text.parse().map_err(|error: whylate_base::CpuSetError| TaskSetError::value(at, error.to_string()))
}

/// A policy with its number: `fifo 50`, `rr 1`, `other`, `other -5`, `idle`.
pub(super) fn scheduling(at: &str, name: &str, number: Option<i64>) -> Result<TaskPolicy, TaskSetError> {
    let priority = || match number {
        Some(priority @ 1..=99) => Ok(priority as u8),
        Some(priority) => Err(TaskSetError::value(at, format!("priority {priority} must be 1 to 99"))),
        None => Err(TaskSetError::value(at, format!("{name} needs a priority of 1 to 99"))),
    };
    let nice = || match number {
        None => Ok(0),
        Some(nice @ -20..=19) => Ok(nice as i8),
        Some(nice) => Err(TaskSetError::value(at, format!("nice {nice} must be -20 to 19"))),
    };
    match name {
        "fifo" => Ok(TaskPolicy::Fifo(priority()?)),
        "rr" => Ok(TaskPolicy::Rr(priority()?)),
        "other" | "batch" => Ok(TaskPolicy::Other(nice()?)),
        "idle" => Ok(TaskPolicy::Idle),
        "stop" => Ok(TaskPolicy::Stop),
        _ => Err(TaskSetError::value(
            at,
            format!("`{name}` is no policy: use fifo, rr, deadline, other, batch, idle or stop"),
        )),
    }
}

/// The softirqs by name.
pub(super) fn softirq(at: &str, name: &str) -> Result<u32, TaskSetError> {
    let found = SOFTIRQ_NAMES.iter().position(|known| *known == name);
    found.map(|vec| vec as u32).ok_or_else(|| {
        TaskSetError::value(at, format!("`{name}` is no softirq: use one of {}", SOFTIRQ_NAMES.join(", ")))
    })
}
