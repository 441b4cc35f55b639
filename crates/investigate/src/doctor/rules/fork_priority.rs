//! Programs and processes that a real-time thread starts and that inherit its priority.

use super::lines::{Line, Placed, by_line};
use super::rule::{DoctorRule, Needs, page};
use super::start_in_loop::starts;
use crate::doctor::calls::SystemCall;
use crate::doctor::facts::{Call, Observation, ThreadFacts};
use crate::doctor::finding::{DoctorFinding, FoundThread};
use whylate_base::{Ns, Severity, Tid};
use whylate_events::StackId;

pub(super) const RULE: DoctorRule =
    DoctorRule { code: "fork-priority", page: page!("fork-priority"), needs: Needs::AllCalls, find };

fn find(observation: &Observation) -> Vec<DoctorFinding> {
    let starts: Vec<Start<'_>> =
        observation.threads.values().filter_map(|child| inherits(observation, child)).collect();
    let lines = by_line(observation, starts.iter().map(|start| (start.parent, start)));
    lines.iter().filter_map(finding).collect()
}

/// A program that a real-time thread started.
struct Start<'a> {
    parent: &'a ThreadFacts,
    child: &'a ThreadFacts,
    call: Option<&'a Call>,
}

impl Placed for Start<'_> {
    fn stack(&self) -> Option<StackId> {
        self.call.and_then(|call| call.stack)
    }

    fn duration(&self) -> Option<Ns> {
        None
    }
}

/// Those of one thread at one line, in one finding.
fn finding(line: &Line<'_, Start<'_>>) -> Option<DoctorFinding> {
    let child = line.items.first()?.child;
    let (parent, child_name) = (line.thread.ranked_name(), child.name());
    let title = match line.items.len() {
        1 => format!("{parent} starts {child_name}, which inherits its priority"),
        count => format!("{parent} starts {child_name} and {} more, which inherit its priority", count - 1),
    };
    let mut finding = line.finding(RULE.code, Severity::Warning, title).because(WHY).fix(FIX);
    finding.other = Some((FoundThread::from(child), None));
    Some(finding)
}

/// A process that a thread started after it had made itself real-time, that executed another program or did a job of files
/// and ended, and never asked for a priority itself. What a launcher such as chrt(1) or a shell hands on is meant.
fn inherits<'a>(observation: &'a Observation, child: &'a ThreadFacts) -> Option<Start<'a>> {
    let (parent, at) = child.forked?;
    let is_meant = child.executed.is_none() && !is_job(observation, child);
    if is_meant || !child.policy.is_realtime() || !child.requests.is_empty() {
        return None;
    }
    let parent = observation.threads.get(&parent).filter(|parent| parent.pid != child.pid)?;
    let raised =
        parent.requests.iter().find(|request| request.is_for_realtime() && request.error.is_none())?;
    let raised = observation.calls.get(raised.call)?;
    if raised.end.is_none_or(|raised| raised > at) || !parent.policy.is_realtime() {
        return None;
    }
    Some(Start { parent, child, call: start_of(observation, parent.tid, at) })
}

/// A process that works with files and ends, and has no period of its own: no part of the real-time work, such as one that
/// saves a snapshot. One that lasts, or only computes, may have the priority for a reason.
fn is_job(observation: &Observation, child: &ThreadFacts) -> bool {
    use SystemCall as C;
    let mut own = observation.threads.values().filter(|thread| thread.pid == child.tid);
    if own.any(|thread| thread.path.is_some()) {
        return false;
    }
    let did = |is_one: fn(C) -> bool| {
        observation.calls.iter().any(|call| call.tid == child.tid && is_one(call.call))
    };
    let uses_files = |call| {
        matches!(
            call,
            C::Open | C::Openat | C::Openat2 | C::Creat | C::Fsync | C::Fdatasync | C::Syncfs | C::Sync
        )
    };
    did(|call| call == C::ExitGroup) && did(uses_files)
}

/// The call in which a thread started another.
fn start_of(observation: &Observation, tid: Tid, at: Ns) -> Option<&Call> {
    let is_one = |call: &&Call| {
        starts(call) && call.tid == tid && call.start <= at && call.end.is_none_or(|end| end >= at)
    };
    observation.calls.iter().find(is_one)
}

const WHY: &str = "a new process has the policy and priority of the thread that starts it, also when it executes another program: \
     work that is not real-time then keeps every other thread of its CPU waiting, and at the same priority the real-time \
     thread as well";

const FIX: &[&str] = &[
    "SCHED_RESET_ON_FORK: sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &param); children are then SCHED_OTHER",
    "POSIX_SPAWN_SETSCHEDULER with SCHED_OTHER in posix_spawn()",
    "start programs from a thread that is not real-time",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::facts::{PolicyRequest, RealTimePath};
    use crate::doctor::made_up::{PID, call, found, program, request};
    use whylate_base::Policy;

    #[test]
    fn a_program_that_inherits_is_found_at_its_start() {
        let raise =
            Call { start: Ns(10), end: Some(Ns(20)), ..call(11, SystemCall::SchedSetScheduler, &[0, 1], 3) };
        let start =
            Call { start: Ns(30), end: Some(Ns(90)), ret: Some(20), ..call(11, SystemCall::Clone, &[], 4) };
        let made_with = |calls: &[Call], change: fn(&mut ThreadFacts, &mut Vec<PolicyRequest>)| {
            let mut observation = program(&[(11, Policy::Fifo, 50)]);
            observation.calls = [&[raise, start], calls].concat();
            let mut asked = vec![request(11, 0, Policy::Fifo, None)];
            let mut child = ThreadFacts::new(Tid(20), Tid(20));
            (child.policy, child.priority) = (Policy::Fifo, 50);
            (child.forked, child.executed) = (Some((Tid(11), Ns(40))), Some(Ns(60)));
            change(&mut child, &mut asked);
            observation.threads.get_mut(&Tid(11)).expect("a thread").requests = asked;
            observation.threads.insert(child.tid, child);
            found(&observation)
        };
        let made = |change| made_with(&[], change);
        let of_child = |kind, at| Call { start: Ns(at), ..call(20, kind, &[], 5) };
        let (opens, ends) = (of_child(SystemCall::Openat, 50), of_child(SystemCall::ExitGroup, 70));
        let forked = |child: &mut ThreadFacts, _: &mut Vec<PolicyRequest>| child.executed = None;
        let periodic = |child: &mut ThreadFacts, _: &mut Vec<PolicyRequest>| {
            child.executed = None;
            child.path = Some(RealTimePath { start: Ns(51), warm: Ns(52), end: Ns(60), waits: 9 });
        };
        assert_eq!(made_with(&[opens, ends], forked), [("fork-priority", Some(4))]);
        for (what, found) in [
            ("it lasts", made_with(&[opens], forked)),
            ("it computes", made_with(&[ends], forked)),
            ("it is periodic", made_with(&[Call { start: Ns(45), ..opens }, ends], periodic)),
        ] {
            assert!(!found.iter().any(|(code, _)| *code == "fork-priority"), "{what}: {found:?}");
        }
        assert_eq!(made(|_, _| {}), [("fork-priority", Some(4))]);
        for (what, found) in [
            ("reset", made(|child, _| child.policy = Policy::Other)),
            ("only a fork", made(|child, _| child.executed = None)),
            ("a thread", made(|child, _| child.pid = PID)),
            ("asked for it", made(|child, _| child.requests = vec![request(20, 0, Policy::Fifo, None)])),
            ("the parent inherited it as well", made(|_, asked| asked.clear())),
            ("before", made(|child, _| child.forked = Some((Tid(11), Ns(5))))),
        ] {
            assert_eq!(found, [], "{what}");
        }
    }
}
