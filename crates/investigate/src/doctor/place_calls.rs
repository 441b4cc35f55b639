//! Joins system calls with the call stacks that were sampled as they were made.

use super::calls::SystemCall;
use super::facts::Call;
use std::collections::HashMap;
use whylate_base::Tid;
use whylate_events::{SampleKind, StackSample, Stacks};

/// Gives each call the stack of the sample that was taken in it: of the same thread and call, between its start and its
/// end. Both are on one clock, and a thread is in one call at a time; the two events are taken one after the other, in
/// any order.
pub(super) fn place(calls: &mut [Call], stacks: &Stacks) {
    let mut samples: HashMap<Tid, Vec<(&StackSample, SystemCall)>> = HashMap::new();
    for sample in &stacks.samples {
        if let SampleKind::Syscall { number } = sample.kind {
            samples.entry(sample.tid).or_default().push((sample, SystemCall::of(number)));
        }
    }
    let mut ended = HashMap::new();
    for call in calls {
        // From the end of the call before: a sample may be taken just before the event.
        let after = ended.insert(call.tid, call.end.unwrap_or(call.start));
        let Some(samples) = samples.get(&call.tid) else { continue };
        let from = after.map_or(0, |after| samples.partition_point(|(sample, _)| sample.time <= after));
        let within = samples.get(from..).unwrap_or_default().iter();
        let mut within = within.take_while(|(sample, _)| call.end.is_none_or(|end| sample.time <= end));
        call.stack = within.find(|(_, number)| *number == call.call).map(|(sample, _)| sample.stack);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use whylate_base::{Cpu, Ns};
    use whylate_events::StackId;

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
        let stacks = Stacks { samples, ..Stacks::default() };
        let mut calls = [call(10, Some(20)), call(30, Some(40)), call(50, None)];
        place(&mut calls, &stacks);
        let found = calls.map(|call| call.stack.map(|StackId(id)| id));
        assert_eq!(found, [Some(1), None, Some(4)]);
    }
}
