//! System calls: which one a thread is in, and what it asks of the scheduler by one.

use super::Engine;
use super::stops::slept_while_stopped;
use super::syscall_table::SyscallTable;
use crate::timeline::spent::{Spent, Within};
use crate::timeline::states::State;
use crate::timeline::stops::StoppedSleep;
use whylate_base::Ns;
use whylate_events::{Event, Syscall, SyscallReturn};

impl Engine<'_> {
    pub(super) fn syscall_enter(&mut self, at: Ns, event: &Event, call: &Syscall) {
        let is_asked_for = self.is_asked_for(at);
        let thread = self.timeline.threads.get_mut(event.context.tid);
        let table = SyscallTable::of_thread(self.syscalls, thread);
        thread.syscall = Some(*call);
        thread.faulting = None;
        if let Some(open) = &mut thread.open {
            open.crosses(at);
        }
        thread.crossings.enters(at);
        let Some(table) = table else { return };
        if table.ends_handler(call)
            && let (Some(spent), Some(open)) = (thread.crossings.handled(at), &mut thread.open)
        {
            open.spends(spent);
        }
        let setting = table.setting(call, event.context.tid);
        let adjusts_clock = table.adjusts_clock(call);
        thread.syscalls_recorded = thread.syscalls_recorded || !table.is_of_all_threads(call.nr);
        match table.sleeps_relative(call).filter(|_| is_asked_for) {
            Some(true) => thread.pacing.relative_calls += 1,
            Some(false) => thread.pacing.absolute_calls += 1,
            None => {}
        }
        if table.is_sleep(call.nr) {
            thread.crossings.sleeps_again();
        }
        if let Some(word) = table.wakes_on(call) {
            thread.futexes.wakes(word);
        }
        if adjusts_clock {
            self.timeline.clock_adjusted = at;
        }
        if table.ends_process(call) {
            self.timeline.process_ends.begins(at, event.context.tid, false);
        }
        if let Some((setting, target)) = setting {
            self.asks(at, event.context.tid, setting, target);
        }
    }

    pub(super) fn syscall_exit(&mut self, at: Ns, event: &Event, ret: &SyscallReturn) {
        let caller = event.context.tid;
        let thread = self.timeline.threads.get_mut(caller);
        if let Some(open) = &mut thread.open {
            open.crosses(at);
        }
        let table = SyscallTable::of_thread(self.syscalls, thread);
        // A recording may begin in the middle of a call.
        let is_chosen = |table: &SyscallTable| ret.nr >= 0 && !table.is_of_all_threads(ret.nr);
        thread.syscalls_recorded = thread.syscalls_recorded || table.is_some_and(is_chosen);
        let known = thread.syscall.as_ref().filter(|call| call.nr == ret.nr).zip(table);
        let sleep = known.is_some_and(|(call, table)| table.is_sleep(call.nr));
        let until_instant = known.and_then(|(call, table)| table.sleeps_relative(call)) == Some(false);
        if let (Some(from), Some((call, table)), Some(open)) =
            (thread.crossings.returns(at), known.filter(|_| !sleep), &mut thread.open)
        {
            // In a call that it entered before, it slept until the activation began.
            if from >= open.due {
                let name = table.name(call.nr);
                let whole_pages = name.and_then(|name| SyscallTable::writes_whole_pages(name, call));
                let whole_pages = whole_pages.map(|is_whole| is_whole && self.is_x86);
                open.spends(Spent { within: Within::Call { nr: call.nr, name }, from, to: at, whole_pages });
            }
        }
        if let (Some(_), Some(running)) = (known.filter(|_| !sleep), thread.since()) {
            thread.crossings.returned_soon(ret.nr, running);
        }
        if let Some((address, length, huge)) = known.and_then(|(call, table)| table.maps(call, ret.ret)) {
            thread.crossings.huge_pages.map(address, length, huge);
        }
        let setting = known.and_then(|(call, table)| table.setting(call, caller));
        let locks_memory = ret.ret == 0 && known.is_some_and(|(call, table)| table.locks_memory(call));
        thread.syscall = None;
        thread.lent_priority_to = None;
        thread.locks_memory |= locks_memory;
        if sleep && is_interrupted(ret.ret) {
            thread.crossings.is_interrupted(at);
            let woken = thread.open.as_ref().map(|open| StoppedSleep { since: open.due, over: None });
            thread.stopped_in_sleep = thread.stopped_in_sleep.or(woken);
        } else if thread.stopped_in_sleep.is_some() {
            slept_while_stopped(thread);
        } else if until_instant && ret.ret == 0 {
            self.slept_until_past(at, caller);
        }
        let thread = self.timeline.threads.get_mut(caller);
        if let (State::Running(on), Some(since), Some(open)) =
            (thread.state(), thread.since(), &mut thread.open)
        {
            if let Some(cpu) = self.timeline.cpus.get_mut(on).filter(|_| sleep && !open.returned) {
                cpu.idle_ways.returns(caller, open.due);
            }
            open.returns(at, since, sleep);
        }
        if let Some((setting, target)) = setting {
            self.is_answered(at, event, setting, target, ret.ret);
        }
    }
}

/// True of the results with which a signal ends a call that sleeps: EINTR, and the kernel's own that it leaves to the signal
/// (`include/linux/errno.h`).
fn is_interrupted(result: i64) -> bool {
    const EINTR: i64 = 4;
    const ERESTARTSYS: i64 = 512;
    const ERESTART_RESTARTBLOCK: i64 = 516;
    result == -EINTR || (-ERESTART_RESTARTBLOCK..=-ERESTARTSYS).contains(&result)
}
