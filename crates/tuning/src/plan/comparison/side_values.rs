//! What one side has, by setting.

use super::model::{SideValue, ValueState};
use super::subject::ComparedSubject;
use std::collections::HashMap;

/// The values of a side, in the order in which they were found.
#[derive(Debug, Default)]
pub(super) struct SideValues {
    order: Vec<ComparedSubject>,
    values: HashMap<ComparedSubject, SideValue>,
}

impl SideValues {
    /// The settings.
    pub(super) fn subjects(&self) -> impl Iterator<Item = &ComparedSubject> {
        self.order.iter()
    }

    /// The value of a setting.
    pub(super) fn get(&self, subject: &ComparedSubject) -> Option<&SideValue> {
        self.values.get(subject)
    }

    /// Adds a value, unless there is one.
    pub(super) fn add(&mut self, subject: ComparedSubject, value: SideValue) {
        if !self.values.contains_key(&subject) {
            self.order.push(subject.clone());
            self.values.insert(subject, value);
        }
    }

    /// Adds a value; another value of the same setting, as of threads with one name, stands beside it.
    pub(super) fn join(&mut self, subject: ComparedSubject, value: SideValue) {
        match self.values.get_mut(&subject) {
            Some(own) if own.state == ValueState::Known && value.state == ValueState::Known => {
                let new = value.values.into_iter().filter(|value| !own.values.contains(value));
                let new: Vec<Option<String>> = new.collect();
                own.values.extend(new);
                own.values.sort();
            }
            Some(_) => {}
            None => self.add(subject, value),
        }
    }

    /// What is known of a pattern which a setting is of: that nothing matches it, or that nothing could be read.
    pub(super) fn of_pattern(&self, subject: &ComparedSubject) -> Option<&SideValue> {
        let pattern = self.order.iter().find(|pattern| subject.is_of(pattern))?;
        self.get(pattern).filter(|value| value.state != ValueState::Known)
    }
}
