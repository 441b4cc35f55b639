//! Made-up observations for the tests of rules.

use super::calls::SystemCall;
use super::facts::{
    Call, Fault, FaultCause, Observation, PolicyRequest, ProcessFacts, RealTimePath, ThreadFacts,
};
use super::process_files::TaskFiles;
use whylate_base::{Ns, Policy, Tid};
use whylate_events::{AddressId, CodeAddress, CodeLocation, CodeModule, ModuleId, StackId, Stacks};

/// The process of all threads.
pub(super) const PID: Tid = Tid(10);
/// The real-time path of every thread that has one: from here to [`END`].
pub(super) const START: i64 = 1_000;
/// See [`START`].
pub(super) const END: i64 = 1_000_000;

/// A program with these threads: id, policy and priority. Real-time ones have a path.
pub(super) fn program(threads: &[(i32, Policy, u32)]) -> Observation {
    let mut observation = Observation { sees_calls: true, sees_all_calls: true, ..Observation::default() };
    for &(tid, policy, priority) in threads {
        let mut thread = ThreadFacts::new(Tid(tid), PID);
        (thread.policy, thread.priority, thread.comm) = (policy, priority, format!("t{tid}").as_str().into());
        if policy.is_realtime() {
            thread.realtime_since = Some(Ns(0));
            thread.path =
                Some(RealTimePath { start: Ns(START), warm: Ns(2 * START), end: Ns(END), waits: 100 });
        }
        observation.threads.insert(Tid(tid), thread);
    }
    let process =
        ProcessFacts { locked_bytes: Some(4096), most_locked_bytes: Some(4096), ..ProcessFacts::default() };
    observation.processes.insert(PID, process);
    let location = |line| CodeLocation {
        function: Some("step".into()),
        file: Some("/src/a.c".into()),
        line: Some(line),
    };
    let lines = 0..100;
    observation.stacks = std::sync::Arc::new(Stacks {
        modules: vec![CodeModule { path: "/opt/a".into(), ..CodeModule::default() }],
        addresses: lines
            .clone()
            .map(|line| CodeAddress {
                module: Some(ModuleId(0)),
                offset: line.into(),
                locations: vec![location(line)],
            })
            .collect(),
        stacks: lines.map(|line| vec![AddressId(line)]).collect(),
        ..Stacks::default()
    });
    observation
}

/// A program with the real-time thread 11, whose path does not end, and its calls.
pub(super) fn endless(calls: Vec<Call>) -> Observation {
    let mut observation = program(&[(11, Policy::Fifo, 50)]);
    for path in observation.threads.values_mut().filter_map(|thread| thread.path.as_mut()) {
        path.end = Ns(i64::MAX);
    }
    Observation { calls, ..observation }
}

/// A call at a line of the program, in the real-time path, of 100 ns, that returns 0.
pub(super) fn call(tid: i32, call: SystemCall, args: &[u64], line: u32) -> Call {
    let mut all = [0; 6];
    all.iter_mut().zip(args).for_each(|(to, from)| *to = *from);
    Call {
        tid: Tid(tid),
        call,
        args: all,
        start: Ns(5_000),
        end: Some(Ns(5_100)),
        ret: Some(0),
        slept: false,
        slept_interruptibly: false,
        woken_by: None,
        due: None,
        stack: Some(StackId(line)),
    }
}

/// A call of thread 11 at line 7, which starts at an instant, takes 10 ns and returns a value.
pub(super) fn call_at(kind: SystemCall, args: &[u64], ret: i64, at: i64) -> Call {
    Call { ret: Some(ret), start: Ns(at), end: Some(Ns(at + 10)), ..call(11, kind, args, 7) }
}

/// As many calls of a kind, one after the other.
pub(super) fn repeat(one: Call, count: i64) -> Vec<Call> {
    (0..count)
        .map(|n| Call { start: Ns(5_000 + 1_000 * n), end: Some(Ns(5_500 + 1_000 * n)), ..one })
        .collect()
}

/// A fault at a line, in the real-time path.
pub(super) fn fault(tid: i32, cause: FaultCause, line: u32) -> Fault {
    Fault {
        tid: Tid(tid),
        time: Ns(5_000),
        address: 0x1000,
        is_major: false,
        is_write_to_present: None,
        cause: Some(cause),
        stack: StackId(line),
    }
}

/// A request for a policy, by the thread itself.
pub(super) fn request(tid: i32, call: usize, policy: Policy, error: Option<i32>) -> PolicyRequest {
    PolicyRequest { call, by: Tid(tid), policy: Some(policy), error }
}

/// What the files of a thread show that has done nothing yet.
pub(super) fn task(comm: &str, policy: Policy, priority: u32) -> TaskFiles {
    TaskFiles {
        comm: comm.into(),
        policy,
        priority,
        minor_faults: 0,
        major_faults: 0,
        cpus: None,
        voluntary_switches: 0,
        involuntary_switches: 0,
        run_delay: None,
    }
}

/// What the rules find in an observation: each code with its line.
pub(super) fn found(observation: &Observation) -> Vec<(&'static str, Option<u32>)> {
    let findings = super::rules::findings(observation);
    for fix in findings.iter().flat_map(|finding| &finding.fix) {
        assert_eq!(fix.action.flaw(), None, "a fix names settings, or why there are none: {fix:?}");
    }
    findings
        .into_iter()
        .map(|finding| (finding.code, finding.location.and_then(|location| location.line)))
        .collect()
}
