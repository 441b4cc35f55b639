//! The stacks of several reports of one kind, each of a CPU of its own.

use super::{LoggedStacks, MOST_STACKS, Owner};

impl LoggedStacks {
    /// Takes in that a report of another CPU begins, whose own stack follows.
    pub(in crate::text::kernel_log) fn begin_on(&mut self, cpu: u32) {
        self.is_in_trace = false;
        let owner = Owner { cpu: Some(cpu), ..Owner::default() };
        match self.stacks.last_mut() {
            Some(last) if last.is_empty() && last.work.is_none() => last.owner = owner,
            Some(_) => self.push(owner),
            None => {}
        }
    }

    /// Takes the last stack of a CPU out, with where in it the last line was.
    pub(in crate::text::kernel_log) fn split_last(&mut self, cpu: Option<u32>) -> Option<LoggedStacks> {
        let last = self.stacks.pop_if(|last| last.owner.cpu == cpu)?;
        Some(LoggedStacks { stacks: vec![last], ..self.clone_without_stacks() })
    }

    fn clone_without_stacks(&self) -> LoggedStacks {
        LoggedStacks {
            stacks: Vec::new(),
            is_in_trace: self.is_in_trace,
            is_in_interrupt: self.is_in_interrupt,
            asides: self.asides.clone(),
            has_unsure: false,
        }
    }

    /// Goes on with such a stack.
    pub(in crate::text::kernel_log) fn go_on_with(&mut self, last: LoggedStacks) {
        let mut stacks = std::mem::take(&mut self.stacks);
        let has_unsure = self.has_unsure;
        *self = last;
        self.has_unsure |= has_unsure;
        stacks.truncate(MOST_STACKS - 1);
        stacks.append(&mut self.stacks);
        self.stacks = stacks;
    }
}
