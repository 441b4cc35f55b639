//! The same check of many files: one for each CPU, interrupt, thread.

use crate::CannotTell;
use whylate_host::Reading;

/// The result, with at least one reading.
#[derive(Clone, Debug)]
pub(crate) struct Survey<'a, T> {
    /// Those that are as they should be.
    pub(crate) fine: Vec<&'a Reading<T>>,
    /// Those that are not. What could not be read does not matter any more, once there is one.
    pub(crate) wrong: Vec<&'a Reading<T>>,
}

/// Puts `is_fine` to every reading.
///
/// One that is wrong settles it. Where none is wrong, one that could not be read, or that nothing could be
/// asked at all, is "cannot tell": so an empty survey never passes. `what` is what nothing was found of.
pub(crate) fn survey<'a, T: 'a>(
    what: &str,
    readings: impl IntoIterator<Item = &'a Reading<T>>,
    is_fine: impl Fn(&T) -> bool,
) -> Result<Survey<'a, T>, CannotTell> {
    let mut unread = None;
    let mut survey = Survey { fine: Vec::new(), wrong: Vec::new() };
    for reading in readings {
        match reading.need() {
            Ok(value) if is_fine(value) => survey.fine.push(reading),
            Ok(_) => survey.wrong.push(reading),
            Err(why) => unread = unread.or(Some(why)),
        }
    }
    match unread {
        _ if !survey.wrong.is_empty() => Ok(survey),
        Some(unread) => Err(unread.into()),
        None if survey.fine.is_empty() => Err(CannotTell::because(what, "there is nothing to ask")),
        None => Ok(survey),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use whylate_host::Why;

    #[test]
    fn one_wrong_settles_it_and_one_unread_prevents_a_pass() {
        let of = |value| Reading::<u64>::new("/f", value);
        let (good, bad, denied) = (of(Ok(1)), of(Ok(0)), of(Err(Why::Denied)));
        let options = |readings: &[&Reading<u64>]| {
            survey("x", readings.iter().copied(), |&value| value == 1).map(|survey| survey.wrong.len())
        };
        assert_eq!(options(&[&good, &good]), Ok(0));
        assert_eq!(options(&[&good, &denied, &bad]), Ok(1));
        assert!(options(&[&good, &denied]).is_err());
        assert!(options(&[]).is_err());
    }
}
