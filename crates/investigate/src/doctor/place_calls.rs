//! Joins system calls with the call stacks that were sampled as they were made, or as the thread slept in them.

use super::calls::SystemCall;
use super::facts::Call;
use std::collections::HashMap;
use whylate_base::Tid;
use whylate_events::{SampleKind, StackId, StackSample, Stacks};

/// Gives each call the stack of the sample that was taken in it: of the same thread and call, between its start and its
/// end. Both are on one clock, and a thread is in one call at a time; the two events are taken one after the other, in
/// any order.
pub(super) fn place(calls: &mut [Call], stacks: &Stacks) {
    let mut samples: HashMap<Tid, Vec<(&StackSample, SystemCall)>> = HashMap::new();
    let mut sleeps: HashMap<Tid, Vec<&StackSample>> = HashMap::new();
    for sample in &stacks.samples {
        match sample.kind {
            SampleKind::Syscall { number } => {
                samples.entry(sample.tid).or_default().push((sample, SystemCall::of(number)));
            }
            SampleKind::SwitchOut => sleeps.entry(sample.tid).or_default().push(sample),
            _ => {}
        }
    }
    let mut ended = HashMap::new();
    for call in calls {
        // From the end of the call before: a sample may be taken just before the event.
        let after = ended.insert(call.tid, call.end.unwrap_or(call.start));
        if call.slept {
            call.stack = sleeps.get(&call.tid).and_then(|sleeps| asleep(call, sleeps));
        }
        let Some(samples) = samples.get(&call.tid) else { continue };
        let from = after.map_or(0, |after| samples.partition_point(|(sample, _)| sample.time <= after));
        let within = samples.get(from..).unwrap_or_default().iter();
        let mut within = within.take_while(|(sample, _)| call.end.is_none_or(|end| sample.time <= end));
        let entered = within.find(|(_, number)| *number == call.call).map(|(sample, _)| sample.stack);
        call.stack = entered.or(call.stack);
    }
}

/// The stack with which a thread left the CPU in a call.
fn asleep(call: &Call, sleeps: &[&StackSample]) -> Option<StackId> {
    let first = sleeps.get(sleeps.partition_point(|sample| sample.time < call.start))?;
    call.end.is_none_or(|end| first.time <= end).then_some(first.stack)
}

#[cfg(test)]
mod tests {
    use super::*;
    use whylate_base::{Cpu, Ns};

    #[test]
    fn a_call_has_the_stack_of_its_own_sample() {
        let number =
            |call: SystemCall| (0..500).find(|&number| SystemCall::of(number) == call).expect("a number");
        let call = |start, end: Option<i64>| Call {
            tid: Tid(7),
            call: SystemCall::Write,
            args: [0; 6],
            start: Ns(start),
            end: end.map(Ns),
            ret: Some(1),
            slept: false,
            slept_interruptibly: false,
            woken_by: None,
            due: None,
            stack: None,
        };
        let sample = |time, tid, call, stack| StackSample {
            time: Ns(time),
            tid: Tid(tid),
            pid: Tid(7),
            cpu: Cpu(0),
            kind: SampleKind::Syscall { number: number(call) },
            stack: StackId(stack),
        };
        let samples = vec![
            sample(9, 7, SystemCall::Write, 1),
            sample(12, 8, SystemCall::Write, 2),
            sample(31, 7, SystemCall::Fsync, 3),
            sample(51, 7, SystemCall::Write, 4),
        ];
        let found = |samples: &[StackSample], mut calls: [Call; 3]| {
            place(&mut calls, &Stacks { samples: samples.to_vec(), ..Stacks::default() });
            calls.map(|call| call.stack.map(|StackId(id)| id))
        };
        let calls = [call(10, Some(20)), call(30, Some(40)), call(50, None)];
        assert_eq!(found(&samples, calls), [Some(1), None, Some(4)]);
        let slept = calls.map(|call| Call { slept: true, ..call });
        let switch = |time, stack| StackSample {
            kind: SampleKind::SwitchOut,
            ..sample(time, 7, SystemCall::Write, stack)
        };
        let switches = [switch(25, 5), switch(35, 6), switch(60, 7)];
        assert_eq!(found(&switches, calls), [None; 3]);
        assert_eq!(found(&switches, slept), [None, Some(6), Some(7)]);
        let both = [&samples[..], &switches].concat();
        assert_eq!(found(&both, slept), [Some(1), Some(6), Some(4)]);
    }
}
