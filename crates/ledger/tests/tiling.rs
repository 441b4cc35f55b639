//! Whatever the events are: no panic, every ledger tiles its activation, sums agree, and the answer is always the same.

mod simulator;

use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed};
use simulator::Simulator;
use std::collections::BTreeMap;
use whylate_base::{Comm, Cpu, Ns, Priority, Tid};
use whylate_events::{
    ContentionFlags, Context, ContextFlags, Event, EventKind, Fact, HrtimerExpiry, HrtimerStart, KindSet,
    Marker, Packet, PacketStep, PageFault, Signal, Switch, Syscall, SyscallReturn, TaskState, TraceInfo,
    VecSource, Wake, Work, WorkStep,
};
use whylate_ledger::{Activation, Cause, ChainOptions, Explanation, Options, Select, explain};

/// Threads of the arbitrary streams, the idle task among them.
const THREADS: i32 = 6;

/// The same cases in every run.
fn config(cases: u32, seed: u64) -> Config {
    Config { cases, rng_seed: RngSeed::Fixed(seed), failure_persistence: None, ..Config::default() }
}

fn explain_all(events: &[Event], kernel: Option<&str>, threads: i32) -> Explanation {
    let info = TraceInfo {
        clock: Some("mono".into()),
        kernel_release: kernel.map(str::to_owned),
        machine: Some("x86_64".into()),
        ..TraceInfo::default()
    };
    let tasks = (0..threads).map(|tid| Select::Tid(Tid(tid))).collect();
    let options = Options {
        tasks,
        deadline: Some(Ns::from_us(100)),
        worst: usize::MAX,
        chains: Some(ChainOptions::default()),
        ..Options::default()
    };
    explain(VecSource::new(events.to_vec(), info, false), &options)
}

/// Checks everything that has to be true of any explanation that keeps all activations.
fn check(explanation: &Explanation, events: &[Event]) {
    let mut first_seen: BTreeMap<Cpu, Ns> = BTreeMap::new();
    for event in events {
        let first = first_seen.entry(event.cpu).or_insert(event.ts);
        *first = event.ts.min(*first);
    }
    for activation in &explanation.activations {
        // A CPU that was only named as a wake-up's target has no track.
        let seen = |cpu: &Cpu| first_seen.get(cpu).is_some_and(|first| *first < activation.due);
        check_activation(activation);
        let tracked = |cpu: Cpu| activation.tracks.iter().any(|track| track.cpu == cpu);
        let mut cpus = activation.ledger.iter().map(|segment| segment.cpu).filter(seen);
        assert!(cpus.all(tracked), "a CPU without a track: {activation:#?}");
    }
    for task in &explanation.tasks {
        let own = explanation.activations.iter().filter(|activation| activation.tid == task.tid);
        let mut causes: BTreeMap<Cause, Ns> = BTreeMap::new();
        let mut count = 0;
        for activation in own {
            count += 1;
            activation.ledger.iter().for_each(|s| *causes.entry(s.cause).or_default() += s.length());
        }
        assert_eq!(task.activations, count, "activations of {}", task.tid);
        assert_eq!(task.causes.iter().copied().collect::<BTreeMap<_, _>>(), causes, "causes of {}", task.tid);
        assert!(task.causes.is_sorted_by(|a, b| a.1 >= b.1), "{:?}", task.causes);
    }
    for instance in explanation.chains.iter().flat_map(|chains| &chains.found).flat_map(|chain| &chain.worst)
    {
        let mut at = instance.start;
        for segment in instance.hops.iter().flat_map(|hop| &hop.ledger) {
            assert_eq!(segment.start, at, "the hops of a chain do not tile it: {instance:#?}");
            at = segment.end;
        }
        assert_eq!(at, instance.end, "{instance:#?}");
    }
    let (first, last) = explanation.trace.span.unwrap_or_default();
    let inside = |at: Ns| at >= first && at <= last;
    assert!(
        explanation.activations.iter().all(|a| inside(a.due) && inside(a.end)),
        "outside of {first}..{last}"
    );
}

fn check_activation(activation: &Activation) {
    let Activation { due, woken, running, done, end, .. } = *activation;
    assert!(due <= end, "{activation:#?}");
    let mut at = due;
    for segment in &activation.ledger {
        assert_eq!(segment.start, at, "a gap or an overlap: {activation:#?}");
        assert!(segment.end > segment.start, "an empty segment: {activation:#?}");
        at = segment.end;
    }
    assert_eq!(at, end, "the ledger ends early or late: {activation:#?}");
    assert!(done.is_none_or(|done| done == end), "{activation:#?}");
    assert!(woken.is_none_or(|woken| woken >= due), "{activation:#?}");
    assert!(running.is_none_or(|running| running >= due && running <= end), "{activation:#?}");
    assert!(activation.latency().is_none_or(|latency| latency <= activation.response()), "{activation:#?}");

    let verdict = &activation.verdict;
    assert!((0.0..=1.0).contains(&verdict.share), "{verdict:#?}");
    assert!(verdict.charged >= Ns::ZERO && verdict.charged <= activation.response(), "{activation:#?}");
    assert!(!verdict.why.is_empty());

    let mut before = None;
    for track in &activation.tracks {
        assert!(before < Some(track.cpu), "tracks out of order: {:?}", activation.tracks);
        before = Some(track.cpu);
        let mut at = due;
        for slice in &track.slices {
            assert!(slice.start == at && slice.end > slice.start, "{track:#?}");
            at = slice.end;
        }
        assert_eq!(at, end, "a track ends early or late: {track:#?}");
    }
}

/// Explains twice, checks once.
fn explained(events: &[Event], kernel: Option<&str>, threads: i32) -> Explanation {
    let explanation = explain_all(events, kernel, threads);
    check(&explanation, events);
    let again = explain_all(events, kernel, threads);
    assert_eq!(format!("{explanation:?}"), format!("{again:?}"), "two runs over the same trace differ");
    explanation
}

/// Small values collide often, which is where the trouble is; a few are beyond all reason.
fn instant() -> impl Strategy<Value = i64> {
    prop_oneof![
        40 => 0i64..2_000,
        20 => (0i64..2_000).prop_map(|us| us * 1_000),
        10 => (0i64..4_000).prop_map(|ms| ms * 1_000_000),
    ]
}

fn clock_reading() -> impl Strategy<Value = i64> {
    prop_oneof![30 => instant(), 1 => any::<i64>(), 1 => Just(i64::MAX), 1 => Just(i64::MIN)]
}

fn tid() -> impl Strategy<Value = Tid> {
    prop_oneof![30 => (0..THREADS).prop_map(Tid), 1 => Just(Tid(-1)), 1 => Just(Tid(i32::MAX))]
}

fn priority() -> impl Strategy<Value = Priority> {
    prop_oneof![
        Just(Priority(120)),
        Just(Priority(49)),
        Just(Priority(9)),
        Just(Priority(0)),
        Just(Priority(-1)),
        any::<i32>().prop_map(Priority)
    ]
}

fn comm() -> impl Strategy<Value = Comm> {
    prop_oneof![Just("a"), Just("b"), Just("migration/1"), Just("kworker/0:1"), Just("")].prop_map(Comm::from)
}

fn cpu() -> impl Strategy<Value = Cpu> {
    prop_oneof![30 => (0u32..3).prop_map(Cpu), 1 => Just(Cpu(7))]
}

fn state() -> impl Strategy<Value = TaskState> {
    prop_oneof![
        Just(TaskState::Runnable),
        Just(TaskState::Preempted),
        Just(TaskState::Interruptible),
        Just(TaskState::Uninterruptible),
        Just(TaskState::Idle),
        Just(TaskState::Dead),
        Just(TaskState::Stopped),
        Just(TaskState::Traced),
        Just(TaskState::Other)
    ]
}

fn fact() -> impl Strategy<Value = Fact> {
    prop_oneof![
        any::<i64>().prop_map(Fact::RtRuntimeUs),
        any::<i64>().prop_map(Fact::RtPeriodUs),
        any::<bool>().prop_map(Fact::RtGroupSched),
        any::<u32>().prop_map(|ns| Fact::FairServerNs(ns.into())),
        any::<bool>().prop_map(Fact::Hypervisor),
        (tid(), prop::collection::vec(cpu(), 0..3))
            .prop_map(|(tid, cpus)| Fact::Affinity { tid, cpus: cpus.into_iter().collect() }),
        (tid(), any::<u32>()).prop_map(|(tid, priority)| Fact::Policy {
            tid,
            policy: whylate_base::Policy::Fifo,
            priority,
            comm: "a".into()
        }),
    ]
}

fn scheduling() -> impl Strategy<Value = EventKind> {
    let wake = || {
        (comm(), tid(), priority(), cpu()).prop_map(|(comm, tid, prio, target_cpu)| Wake {
            comm,
            tid,
            prio,
            target_cpu,
        })
    };
    let switch = (comm(), tid(), priority(), state(), comm(), tid(), priority()).prop_map(
        |(prev_comm, prev_tid, prev_prio, prev_state, next_comm, next_tid, next_prio)| {
            EventKind::Switch(Switch {
                prev_comm,
                prev_tid,
                prev_prio,
                prev_state,
                next_comm,
                next_tid,
                next_prio,
            })
        },
    );
    prop_oneof![
        6 => switch,
        2 => wake().prop_map(EventKind::Waking),
        3 => (wake(), any::<bool>()).prop_map(|(wake, new)| EventKind::Wakeup { wake, new }),
        1 => (tid(), cpu(), cpu()).prop_map(|(tid, from, to)| EventKind::Migrate { tid, from, to }),
        1 => (tid(), priority(), priority()).prop_map(|(tid, old, new)| EventKind::PiSetprio { tid, old, new }),
        1 => (tid(), tid(), comm()).prop_map(|(parent, child, comm)| EventKind::Fork { parent, child, comm }),
        1 => tid().prop_map(|tid| EventKind::Exit { tid }),
        1 => (tid(), tid()).prop_map(|(old, tid)| EventKind::Exec { old, tid }),
    ]
}

fn interrupts() -> impl Strategy<Value = EventKind> {
    prop_oneof![
        (0u32..3).prop_map(|irq| EventKind::IrqEntry { irq, name: "eth0".into() }),
        (0u32..3).prop_map(|irq| EventKind::IrqExit { irq }),
        Just(EventKind::VectorEntry { name: "local_timer".into() }),
        Just(EventKind::VectorExit { name: "local_timer".into() }),
        (0u32..3).prop_map(|vec| EventKind::SoftirqEntry { vec }),
        (0u32..3).prop_map(|vec| EventKind::SoftirqExit { vec }),
        (0u64..3, clock_reading(), clock_reading()).prop_map(|(hrtimer, expires, softexpires)| {
            let (expires, softexpires) = (Ns(expires), Ns(softexpires));
            EventKind::HrtimerStart(HrtimerStart { hrtimer, function: "".into(), expires, softexpires })
        }),
        (0u64..3, clock_reading()).prop_map(|(hrtimer, now)| {
            let function = ["", "sched_cfs_period_timer", "sched_cfs_slack_timer"][hrtimer as usize].into();
            EventKind::HrtimerExpire(HrtimerExpiry { hrtimer, function, now: Ns(now) })
        }),
        (0u64..3).prop_map(|hrtimer| EventKind::HrtimerExpireExit { hrtimer }),
        prop::option::of(0u32..3).prop_map(|state| EventKind::CpuIdle { state }),
    ]
}

fn workings() -> impl Strategy<Value = EventKind> {
    let nr = || prop_oneof![Just(202i64), Just(230), Just(203), Just(144), Just(0), any::<i64>()];
    prop_oneof![
        (nr(), any::<bool>(), any::<bool>()).prop_map(|(nr, pi, two)| {
            let args = [0, if pi { 6 } else { 0x80 }, if two { 2 } else { 0 }, 0, 0, 0];
            EventKind::SyscallEnter(Syscall { nr, args })
        }),
        (nr(), prop_oneof![Just(0i64), Just(-1), Just(-16), any::<i64>()])
            .prop_map(|(nr, ret)| EventKind::SyscallExit(SyscallReturn { nr, ret })),
        (tid(), prop_oneof![Just(Signal::SIGKILL), Just(Signal::SIGXCPU)]).prop_map(|(tid, sig)| {
            EventKind::Signal(Signal { sig, code: Signal::SI_KERNEL, tid, comm: "a".into() })
        }),
        any::<bool>().prop_map(|user| EventKind::PageFault(PageFault {
            address: 0x1000,
            ip: 0,
            user,
            error_code: 0
        })),
        (0u64..2).prop_map(|lock| EventKind::ContentionBegin { lock, flags: ContentionFlags(1) }),
        (0u64..2).prop_map(|lock| EventKind::ContentionEnd { lock, ret: 0 }),
        fact().prop_map(|fact| EventKind::Marker(Marker::from(fact.to_string().as_str()))),
        Just(EventKind::Lost { count: None, since: None, kinds: KindSet::NONE }),
        Just(EventKind::Function { name: "do_nanosleep".into(), caller: "".into() }),
        (0u32..5).prop_map(|vec| EventKind::SoftirqRaise { vec }),
        (0u64..3, prop::sample::select(PacketStep::ALL.to_vec()))
            .prop_map(|(skb, step)| { EventKind::Packet(Packet { skb, len: 1, dev: "lo".into(), step }) }),
        (0u64..3, prop::sample::select(WorkStep::ALL.to_vec()))
            .prop_map(|(work, step)| { EventKind::Work(Work { work, function: "f".into(), step }) }),
        Just(EventKind::Other),
    ]
}

fn event() -> impl Strategy<Value = Event> {
    // Boxed: unboxed, the value trees of all variants at once overflow a test thread's stack.
    let kind = prop_oneof![3 => scheduling().boxed(), 2 => interrupts().boxed(), 1 => workings().boxed()];
    (instant(), cpu(), tid(), any::<u8>(), kind).prop_map(|(ts, cpu, tid, flags, kind)| {
        let context = Context { tid, flags: ContextFlags(flags.into()), preempt_depth: None };
        Event { ts: Ns(ts), cpu, context, kind }
    })
}

fn kernel() -> impl Strategy<Value = Option<&'static str>> {
    prop::sample::select(vec![None, Some("6.1.0"), Some("6.12.9"), Some("junk")])
}

proptest! {
    #![proptest_config(config(200, 1))]

    #[test]
    fn arbitrary_events_are_charged_to_the_nanosecond(events in prop::collection::vec(event(), 0..80), kernel in kernel()) {
        explained(&events, kernel, THREADS);
    }
}

proptest! {
    #![proptest_config(config(80, 2))]

    #[test]
    fn nearly_valid_traces_are_charged_to_the_nanosecond(seed in any::<u64>(), omit in prop::sample::select(vec![0u32, 0, 20, 200]), kernel in kernel()) {
        let mut simulator = Simulator::new(seed);
        simulator.run(300);
        let explanation = explained(&simulator.recorded(omit), kernel, simulator::THREADS);
        prop_assert!(!explanation.activations.is_empty());
    }
}

/// Past two clean-ups of the engine's memory, and over many periods of RT bandwidth control.
#[test]
fn a_long_trace_is_charged_to_the_nanosecond() {
    let mut simulator = Simulator::new(42);
    simulator.stretch(40);
    simulator.run(60_000);
    let events = simulator.recorded(0);
    assert!(events.len() > 2 << 16, "{} events", events.len());
    let explanation = explain_all(&events, Some("6.1.0"), simulator::THREADS);
    check(&explanation, &events);
    let unexplained: Ns = explanation
        .tasks
        .iter()
        .flat_map(|task| &task.causes)
        .filter(|(cause, _)| *cause == Cause::Unexplained)
        .map(|(_, time)| *time)
        .sum();
    let all: Ns = explanation.tasks.iter().flat_map(|task| &task.causes).map(|(_, time)| *time).sum();
    assert!(unexplained.0 * 100 < all.0, "{unexplained} of {all} unexplained in a trace without a gap");
}

/// A clean trace of a scheduler that obeys its rules accuses no thread of breaking them.
#[test]
fn a_scheduler_by_the_rules_is_not_accused() {
    let forbidden = [Cause::PreemptionDisabled, Cause::IrqsDisabled, Cause::Stolen, Cause::TraceLoss];
    for seed in 0..20 {
        let mut simulator = Simulator::new(seed);
        simulator.orderly();
        simulator.run(400);
        let events = simulator.recorded(0);
        let explanation = explain_all(&events, Some("6.12.9"), simulator::THREADS);
        check(&explanation, &events);
        for activation in &explanation.activations {
            let wrong = activation.ledger.iter().find(|segment| forbidden.contains(&segment.cause));
            assert!(wrong.is_none(), "seed {seed}: {wrong:?} in {activation:#?}");
        }
    }
}

/// A damaged event's clock reading may be anything; no difference of two may overflow.
#[test]
fn clock_readings_beyond_reason_do_no_harm() {
    let wild = [i64::MIN, i64::MIN + 1, -1, 0, 1, i64::MAX - 1, i64::MAX].map(Ns);
    for (first, second, third) in
        wild.iter().flat_map(|&a| wild.iter().flat_map(move |&b| wild.map(|c| (a, b, c))))
    {
        let context = Context { tid: Tid(1), ..Context::default() };
        let readings = [first, second, third].into_iter().enumerate();
        let events = readings.flat_map(|(index, reading)| {
            let at = |offset: i64| Ns(1_500_000_000 * index as i64 + offset);
            let event = |ts, kind| Event { ts, cpu: Cpu(0), context, kind };
            let start =
                HrtimerStart { hrtimer: 1, function: "".into(), expires: reading, softexpires: second };
            let expiry = HrtimerExpiry { hrtimer: 1, function: "".into(), now: reading };
            [
                event(at(0), EventKind::HrtimerStart(start)),
                event(at(1_000), EventKind::HrtimerStart(HrtimerStart { softexpires: reading, ..start })),
                event(at(2_000), EventKind::HrtimerExpire(expiry)),
                event(at(3_000), EventKind::HrtimerExpireExit { hrtimer: 1 }),
            ]
        });
        explained(&events.collect::<Vec<_>>(), None, THREADS);
    }
}
