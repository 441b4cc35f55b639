//! What a thread does inside the kernel: system calls, page faults, contended locks.

use super::Engine;
use whylate_base::{Cpu, Ns, Tid};
use whylate_events::{Event, Syscall, SyscallReturn};

impl Engine<'_> {
    pub(super) fn syscall_enter(&mut self, at: Ns, event: &Event, call: &Syscall) {
        let table = self.syscalls;
        let thread = self.threads.get_mut(event.context.tid);
        thread.syscall = Some(*call);
        thread.faulting = None;
        let Some(table) = table else { return };
        let setting = table.setting(call, event.context.tid);
        // The settings are recorded of every thread, other calls only of chosen ones.
        if setting.is_none() {
            thread.syscalls_recorded = true;
        }
        match table.sleeps_relative(call) {
            Some(true) => thread.sleeps.relative_calls += 1,
            Some(false) => thread.sleeps.absolute_calls += 1,
            None => {}
        }
        if let Some((setting, target)) = setting {
            self.asks(at, event.context.tid, setting, target);
        }
    }

    pub(super) fn syscall_exit(&mut self, at: Ns, event: &Event, ret: &SyscallReturn) {
        let caller = event.context.tid;
        let call = self.threads.get_mut(caller).syscall.take().filter(|call| call.nr == ret.nr);
        let setting = call.and_then(|call| self.syscalls?.setting(&call, caller));
        if let Some((setting, target)) = setting {
            self.is_answered(at, event, setting, target, ret.ret);
        }
    }

    pub(super) fn page_fault(&mut self, at: Ns, event: &Event) {
        self.in_fault(at, event.cpu, event.context.tid);
    }

    /// A thread is in a page fault's handler from here on.
    pub(super) fn in_fault(&mut self, at: Ns, cpu: Cpu, tid: Tid) {
        let thread = self.threads.get_mut(tid);
        thread.faulting = Some(at);
        if let Some(open) = &mut thread.open {
            open.fault(at);
            if let Some(cpu) = self.cpus.get_mut(cpu) {
                cpu.faulting = Some(tid);
            }
        }
    }

    pub(super) fn contention_begin(&mut self, at: Ns, event: &Event, lock: u64) {
        if !event.context.flags.in_interrupt() {
            self.threads.get_mut(event.context.tid).contending = Some((lock, at));
        }
    }

    pub(super) fn contention_end(&mut self, at: Ns, event: &Event) {
        if event.context.flags.in_interrupt() {
            return;
        }
        let thread = self.threads.get_mut(event.context.tid);
        let began = thread.contending.take();
        if let (Some((_, since)), Some(open)) = (began, &mut thread.open) {
            open.spin(since, at);
        }
    }
}
