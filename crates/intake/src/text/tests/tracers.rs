//! Tracers of latency and noise, and `perf script`, line by line and file by file.

use super::*;
use whylate_events::{LatencyTask, LatencyTrace, LatencyTracer, NoiseSource, TimerlatContext};

#[test]
fn samples_and_noises_in_every_spelling() {
    let timerlat = |seq, context, ns| Timerlat(whylate_events::Timerlat { seq, context, latency: Ns(ns) });
    let noise = |source, name: &str, id| {
        Noise(whylate_events::Noise {
            source,
            name: name.into(),
            id,
            start: Ns(2_154_658_536),
            duration: Ns(20_896),
        })
    };
    let sample = |runtime_us| {
        OsnoiseSample(whylate_events::OsnoiseSample {
            runtime: Ns::from_us(runtime_us),
            noise: Ns::from_us(190),
            max_sample: Ns::from_us(12),
            hw_count: 18,
            nmi_count: 1,
            irq_count: 1007,
            softirq_count: 19,
            thread_count: 2,
        })
    };
    let threshold = OsnoiseThreshold { start: Ns(36_469_564_153), duration: Ns(1_452), interferences: 3 };
    let preemptirq = |what, disables, caller: &str| Preemptirq { what, disables, caller: caller.into() };
    let hwlat = Hwlat { inner: Ns::from_us(84), outer: Ns::from_us(124) };
    for (body, expected) in [
        ("#1     context    irq timer_latency       932 ns", timerlat(1, TimerlatContext::Irq, 932)),
        (
            "#4294967295 context thread timer_latency     11700 ns",
            timerlat(u32::MAX, TimerlatContext::Thread, 11700),
        ),
        (
            "#12    context user-ret timer_latency     12050 ns",
            timerlat(12, TimerlatContext::UserReturn, 12050),
        ),
        (
            "timerlat:             #1     context    irq timer_latency       932 ns",
            timerlat(1, TimerlatContext::Irq, 932),
        ),
        (
            "timerlat:             seq:3\tcontext:1\ttimer_latency:932",
            timerlat(3, TimerlatContext::Thread, 932),
        ),
        ("timerlat: seqnum=0x3 context=2 timer_latency=932", timerlat(3, TimerlatContext::UserReturn, 932)),
        ("timerlat_sample: timer_latency=932 seqnum=3 context=0", timerlat(3, TimerlatContext::Irq, 932)),
        ("1000000        190  99.98100        12     18      1   1007     19      2", sample(1_000_000)),
        ("osnoise: noise:190\tmax_sample:12\thw:18\tnmi:1\tirq:1007\tsoftirq:19\tthread:2", sample(0)),
        (
            "osnoise_sample: runtime=1000000 noise=190 max_sample=12 hw_count=18 irq_count=1007 nmi_count=1 softirq_count=19 thread_count=2",
            sample(1_000_000),
        ),
        (
            "irq_noise: local_timer:236 start 2.154658536 duration 20896 ns",
            noise(NoiseSource::Irq, "local_timer", 236),
        ),
        (
            "irq_noise: two words:36 start 2.154658536 duration 20896 ns",
            noise(NoiseSource::Irq, "two words", 36),
        ),
        (
            "irq_noise: [FAILED TO PARSE] start=2154658536 duration=20896 desc=local_timer vector=236",
            noise(NoiseSource::Irq, "local_timer", 236),
        ),
        (
            "softirq_noise:    SCHED:7 start 2.154658536 duration 20896 ns",
            noise(NoiseSource::Softirq, "SCHED", 7),
        ),
        ("softirq_noise: start=2154658536 duration=20896 vector=7", noise(NoiseSource::Softirq, "SCHED", 7)),
        (
            "thread_noise:   rcuc/0:23 start 2.154658536 duration 20896 ns",
            noise(NoiseSource::Thread, "rcuc/0", 23),
        ),
        (
            "thread_noise: a start :b:23 start 2.154658536 duration 20896 ns",
            noise(NoiseSource::Thread, "a start :b", 23),
        ),
        (
            "osnoise:thread_noise: comm=a b start=2154658536 duration=0x51a0 pid=23",
            noise(NoiseSource::Thread, "a b", 23),
        ),
        ("nmi_noise: start 2.154658536 duration 20896 ns", noise(NoiseSource::Nmi, "", 0)),
        ("nmi_noise: start=2154658536 duration=20896", noise(NoiseSource::Nmi, "", 0)),
        ("sample_threshold: start 36.469564153 duration 1452 ns interference 3", threshold),
        ("osnoise:sample_threshold: start=36469564153 duration=1452 interference=3", threshold),
        (
            "irq_disable: caller=console_unlock+0xc0/0x510 parent=vprintk_emit+0x134/0x1d0",
            preemptirq(whylate_events::Preemptirq::Interrupts, true, "console_unlock"),
        ),
        ("irq_enable: caller=a parent=b", preemptirq(whylate_events::Preemptirq::Interrupts, false, "a")),
        (
            "preemptirq:preempt_disable: caller=a parent=0x0",
            preemptirq(whylate_events::Preemptirq::Preemption, true, "a"),
        ),
        (
            "preempt_enable: caller_offs=0x12 parent_offs=0x13",
            preemptirq(whylate_events::Preemptirq::Preemption, false, ""),
        ),
        ("#1     inner/outer(us):   84/124   ts:1795191830.519962072 count:841", hwlat),
        ("#1     inner/outer(us):   84/124   ts:1499801089.066141940 nmi-total:4 nmi-count:1", hwlat),
        (
            "hwlat: cnt:1\tts:0001795191830.0519962072\tinner:84\touter:124\tcount:841\tnmi-ts:0\tnmi-count:0",
            hwlat,
        ),
        (
            "hwlat: duration=84 outer_duration=124 nmi_total_ts=0 tv_sec=1 tv_nsec=2 seqnum=1 nmi_count=0 count=9",
            hwlat,
        ),
        ("#99999999999 context irq timer_latency 1 ns", Other),
        ("#1 context what timer_latency 1 ns", Other),
        ("1 2 3", Other),
    ] {
        let event = one(&format!("  comm-5  [001] d.h1. 12.5: {body}"));
        assert_eq!(event.kind, expected, "{body}");
    }
    for damaged in [
        "timerlat: context=9 seqnum=1 timer_latency=2",
        "irq_noise: x",
        "osnoise: a",
        "hwlat: b",
        "nmi_noise: ",
    ] {
        let (events, info) = all(&format!("  comm-5  [001] d.h1. 12.5: {damaged}"));
        assert_eq!((events.len(), events[0].kind, info.damage.len()), (1, Other, 1), "{damaged}");
    }
}

#[test]
fn perf_script_in_every_spelling() {
    for (head, comm, tid, cpu, ns) in [
        ("perf  7783 [000] 22334.269531", "perf", 7783, 0, 22_334_269_531_000),
        ("  my worker  2522/2523  [011] 22334.269531547", "my worker", 2523, 11, 22_334_269_531_547),
        ("qemu-system-x86  1672/1675  [001] 1.5", "qemu-system-x86", 1675, 1, 1_500_000_000),
        ("memfd:x-91 26927 [001] 1.5", "memfd:x-91", 26927, 1, 1_500_000_000),
        (":1234  1234 [001] 1.5", ":1234", 1234, 1, 1_500_000_000),
        ("swapper     0 [001] 1.5", "swapper", 0, 1, 1_500_000_000),
    ] {
        for event in ["sched:sched_switch", "sched_switch"] {
            let line = format!(
                "{head}:  {event}: prev_comm=a prev_pid=1 prev_prio=120 prev_state=S ==> next_comm=b next_pid=2 next_prio=98 ffffffff821f8b58 __schedule"
            );
            let (found, _) = line::split(&line).unwrap_or_else(|| panic!("{line}"));
            assert_eq!((found.comm, found.context.tid, found.by_perf), (comm, Tid(tid), true), "{line}");
            let event = one(&line);
            assert_eq!((event.cpu, event.ts, event.context.tid), (Cpu(cpu), Ns(ns), Tid(tid)), "{line}");
            assert!(matches!(event.kind, Switch(switch) if switch.next_prio == Priority(98)), "{line}");
        }
    }
    let (events, info) =
        all("a  1 [000] 1.5: PERF_RECORD_LOST lost 12\na  1 [000] 1.6: sched:sched_stat_runtime: comm=x\n");
    assert_eq!(events[0].kind, Lost { count: Some(12), since: None, kinds: KindSet::NONE });
    assert_eq!((events.len(), info.lost_events, info.events), (2, 12, 1));
    assert_eq!(info.format, "perf script text");
    // Without its CPU, an event cannot be placed.
    assert!(
        read(b"perf  7783 22334.269523: sched:sched_waking: comm=a pid=1 prio=1 target_cpu=0", KindSet::ALL)
            .is_err()
    );
}

#[test]
fn call_chains_are_frames_of_their_event() {
    let chain = "perf  8162 [001] 2.5: sched:sched_switch: a:1 [120] S ==> b:2 [98]\n\
        \tffffffff821f8b58 __schedule+0x618 ([kernel.kallsyms])\n\
        \tffffffffc0a1 ext4_sync ([ext4])\n\
        \t           ee137 sched_setaffinity@@GLIBC_2.3.4+0x7 (/usr/lib/libc.so.6)\n\
        \t          146f7c [unknown] (/usr/bin/perf)\n\
        \n\
        perf  8162 [001] 2.6: sched:sched_stat_runtime: x\n";
    let stack = "a-1 [001] d..2. 2.5: sched_switch: a:1 [120] S ==> b:2 [98]\n\
        a-1 [001] d..2. 2.5: <stack trace>\n => __schedule\n => ext4_sync+0x1/0x2 [ext4] <ffffffffc0a1>\n => 0xffffffff81\n\
        a-1 [001] d..2. 2.6: <user stack trace>\n =>  <00007f4c2022f08e>\n => /bin/a[+0x1234]\n\
        a-1 [001] d..2. 2.6: x: y\n => stray\n";
    let reported = "a-1 [001] 2.5: sched_switch: a:1 [120] S ==> b:2 [98]\n\
        a-1 [001] 2.5: kernel_stack:         <stack trace >\n=> __schedule (ffffffff8194)\n=> ext4_sync (ffffffffc0a1)\n\
        a-1 [001] 2.6: x: y\n";
    for (text, count, inner) in
        [(chain, 2, "ext4_sync"), (stack, 4, "ext4_sync [ext4]"), (reported, 3, "ext4_sync")]
    {
        let (events, info) = all(text);
        assert_eq!((info.events, info.damage), (count, vec![]), "{text}");
        let names = events.iter().filter_map(|event| match event.kind {
            StackFrame { name } => Some((event.cpu, event.ts, name.to_string())),
            _ => None,
        });
        let at = |name: &str| (Cpu(1), Ns(2_500_000_000), name.to_owned());
        assert_eq!(names.collect::<Vec<_>>(), [at("__schedule"), at(inner)], "{text}");
        assert!(matches!(events[0].kind, Switch(_)), "{text}");
        assert_eq!(events.len(), 4, "{text}");
    }
}

#[test]
fn functions_in_every_spelling() {
    let function = |name: &str, caller: &str| Function { name: name.into(), caller: caller.into() };
    for (body, expected) in [
        ("schedule <-do_nanosleep", function("schedule", "do_nanosleep")),
        ("schedule+0x5/0x90 <-do_nanosleep+0x1/0x2", function("schedule", "do_nanosleep")),
        ("schedule (do_nanosleep)", function("schedule", "do_nanosleep")),
        ("ksys_read(fd=3, buf=0x7ffe, count=4) <-do_syscall_64", function("ksys_read", "do_syscall_64")),
        ("hrtimer_active <-x (repeats: 3, last_ts:000123.456)", function("hrtimer_active", "x")),
        ("__schedule", function("__schedule", "")),
        ("0", Other),
        ("0xffffffff81 <-0xffffffff82", function("", "")),
        ("type: 5", Other),
    ] {
        assert_eq!(one(&format!("  comm-5  0d..32   36us : {body}")).kind, expected, "{body}");
    }
}

#[test]
fn differences_and_verbose_latency_format() {
    for line in [
        "a-1 [000] 6.335489: (+2138)  softirq_raise:        vec=7 [action=SCHED]",
        "a-1 [000] 6.335489: (+0)     softirq_raise:        vec=7 [action=SCHED]",
        "a-1 [000] 6.335489:          softirq_raise:        vec=7 [action=SCHED]",
    ] {
        let event = one(line);
        assert_eq!((event.ts, event.kind), (Ns(6_335_489_000), SoftirqRaise { vec: 7 }), "{line}");
    }
    let event =
        one("         bus box     130   3 9 00000002 0000002a [01d74a12] 12.459ms (+0.001ms): schedule <-x");
    let flags = ContextFlags::IRQS_OFF | ContextFlags::HARDIRQ;
    let context = Context { tid: Tid(130), flags, preempt_depth: Some(2) };
    let kind = Function { name: "schedule".into(), caller: "x".into() };
    assert_eq!(event, Event { ts: Ns::from_us(12_459), cpu: Cpu(3), context, kind });
}

const IRQSOFF: &str = "# tracer: irqsoff\n#\n\
    # irqsoff latency trace v1.1.5 on 3.8.0-test+\n\
    # --------------------------------------------------------------------\n\
    # latency: 16 us, #4/4, CPU#3 | (M:preempt VP:0, KP:0, SP:0 HP:0 #P:4)\n\
    #    -----------------\n\
    #    | task: swapper/0-0 (uid:0 nice:0 policy:0 rt_prio:0)\n\
    #    -----------------\n\
    #  => started at: run_timer_softirq\n\
    #  => ended at:   run_timer_softirq+0x10/0x20\n\
    #\n\
      <idle>-0       3d.s2    0us+: _raw_spin_lock_irq <-run_timer_softirq\n\
      <idle>-0       3dNs3   17us : _raw_spin_unlock_irq <-run_timer_softirq\n\
      <idle>-0       3dNs3   17us+: trace_hardirqs_on <-run_timer_softirq\n\
      <idle>-0       3dNs3   25us : <stack trace>\n => _raw_spin_unlock_irq\n => run_timer_softirq\n";

#[test]
fn a_critical_section_has_its_ends() {
    let (events, info) = all(IRQSOFF);
    let task =
        LatencyTask { tid: Tid(0), comm: "swapper/0".into(), policy: Some(Policy::Other), rt_priority: 0 };
    let expected = LatencyTrace {
        tracer: LatencyTracer::Irqsoff,
        latency: Ns::from_us(16),
        cpu: Cpu(3),
        task: Some(task),
        started_at: Some("run_timer_softirq".into()),
        ended_at: Some("run_timer_softirq".into()),
        entries: Some(4),
        marked: None,
    };
    assert_eq!((info.latency, info.damage), (Some(expected), vec![]));
    assert_eq!((info.events, events.len()), (4, 6));
    assert_eq!(
        events[1].kind,
        Function { name: "_raw_spin_lock_irq".into(), caller: "run_timer_softirq".into() }
    );
    assert_eq!(events[5].kind, StackFrame { name: "run_timer_softirq".into() });
}

#[test]
fn the_line_with_the_longest_mark_is_kept() {
    let with = |mark: &str| {
        let text = IRQSOFF.replace(
            "<idle>-0       3dNs3   17us : _raw",
            &format!("<idle>-0       3dNs3   17us{mark}: _raw"),
        );
        all(&text).1.latency.and_then(|latency| latency.marked)
    };
    for (mark, least) in
        [("!", Ns::from_us(100)), ("#", Ns::from_ms(1)), ("*", Ns::from_ms(10)), ("$", Ns::from_secs(1))]
    {
        assert_eq!(with(mark), Some(whylate_events::MarkedLine { at: Ns::from_us(17), least }), "{mark}");
    }
    assert_eq!((with("+"), with(" ")), (None, None));
}

#[test]
fn every_latency_tracer_is_known_and_no_other() {
    for name in ["wakeup", "wakeup_rt", "wakeup_dl", "irqsoff", "preemptoff", "preemptirqsoff"] {
        let (_, info) = all(&IRQSOFF.replace("irqsoff", name));
        assert_eq!(info.latency.map(|latency| latency.tracer.name()), Some(name));
    }
    let (_, info) = all(&IRQSOFF.replace("irqsoff", "function_graph"));
    assert_eq!((info.latency, info.format.as_str()), (None, "function_graph latency trace v1.1.5"));
}

#[test]
fn of_two_latency_traces_the_first_counts_and_the_other_is_reported() {
    let (events, info) =
        all(&format!("{IRQSOFF}{}", IRQSOFF.replace("16 us", "99 us").replace("CPU#3", "CPU#1")));
    assert_eq!(info.latency.map(|latency| (latency.latency, latency.cpu)), Some((Ns::from_us(16), Cpu(3))));
    assert!(
        info.damage.iter().any(|damage| {
            damage
                .what
                .starts_with("1 more latency traces follow the first, with a latency of 99.00 us, and are")
        }),
        "{:?}",
        info.damage
    );
    // Lines of both on one CPU would be those of neither.
    let (first, alone) = all(IRQSOFF);
    assert_eq!((events, info.events), (first.clone(), alone.events));
    // A header that stands alone before the trace is of the same trace.
    let header: String =
        IRQSOFF.lines().take_while(|line| line.starts_with('#')).map(|line| format!("{line}\n")).collect();
    assert_eq!(all(&format!("{header}\n{IRQSOFF}")).0.len(), first.len());
}

#[test]
fn of_two_recordings_with_times_of_their_own_the_first_is_read() {
    let part = |title: bool, cpu: u32, times: [u32; 2]| {
        let line = |at: u32| {
            format!(
                "app-7 [00{cpu}] d..2. {at}.000100: sched_waking: comm=app pid=7 prio=49 target_cpu=001\n"
            )
        };
        format!("{}{}{}", if title { "# tracer: nop\n#\n" } else { "" }, line(times[0]), line(times[1]))
    };
    let times = |text: &str| all(text).0.iter().map(|event| event.ts.0 / 1_000_000_000).collect::<Vec<_>>();
    let two = part(true, 0, [10, 12]) + &part(true, 0, [5, 7]) + &part(true, 1, [6, 20]);
    assert_eq!(times(&two), [10, 12]);
    let info = all(&two).1;
    assert!(
        info.damage.iter().any(|damage| damage.what.starts_with("another recording follows")),
        "{info:?}"
    );
    // The files of single CPUs, one after the other; a trace that was read twice without a break; without a title.
    assert_eq!(times(&(part(true, 0, [10, 12]) + &part(true, 1, [5, 7]))), [5, 7, 10, 12]);
    assert_eq!(times(&(part(true, 0, [10, 12]) + &part(true, 0, [13, 14]))), [10, 12, 13, 14]);
    assert_eq!(times(&(part(true, 0, [10, 12]) + &part(false, 0, [5, 7]))), [5, 7, 10, 12]);
}

#[test]
fn calls_of_a_latency_tracer_have_its_times() {
    let header = "# preemptirqsoff latency trace v1.1.5 on 6.6\n# latency: 20 us, #2/2, CPU#0 | (M:server VP:0, KP:0, SP:0 HP:0 #P:2)\n";
    let lines = "        0 us |   0)  sh-12       |  d..1. |   1.500 us    |  add_timer();\n\
                 \x20      4 us |   0)  sh-12       |  d..1. |               |  /* sched_waking: comm=b pid=7 prio=98 target_cpu=000 */\n\
                 \x20      5 us |   0)  sh-12       |  dN.1. | + 15.000 us   |  } /* run */\n";
    let (events, info) = all(&format!("{header}{lines}"));
    assert_eq!((info.damage, info.events), (vec![], 4));
    let found: Vec<_> =
        events.iter().map(|event| (event.ts.0, event.context.tid, event.kind)).skip(1).collect();
    let (name, depth) = ("add_timer".into(), 0);
    let wake = Wake { comm: "b".into(), tid: Tid(7), prio: Priority(98), target_cpu: Cpu(0) };
    assert_eq!(
        found,
        [
            (0, Tid(12), FunctionEntry { name, depth }),
            (1_000, Tid(12), FunctionExit { name, depth, duration: Ns(1_500) }),
            (4_000, Tid(12), Waking(wake)),
            (5_000, Tid(12), FunctionExit { name: "run".into(), depth, duration: Ns(15_000) }),
        ]
    );
}

#[test]
fn calls_as_trace_cmd_prints_them() {
    let (events, info) = all("a-1 [000] 1.000000: funcgraph_entry:                   |  f() {\n\
         a-1 [000] 1.000001: funcgraph_entry:        0.253 us   |    g();\n\
         b-2 [001] 1.000001: x: y\n\
         a-1 [000] 1.000009: funcgraph_exit:         9.000 us   |  }\n\
         a-1 [000] 1.000010: funcgraph_exit:         nonsense\n");
    let kinds: Vec<_> = events.iter().map(|event| event.kind).collect();
    let (f, g) = ("f".into(), "g".into());
    assert_eq!(
        kinds,
        [
            FunctionEntry { name: f, depth: 0 },
            FunctionEntry { name: g, depth: 1 },
            FunctionExit { name: g, depth: 1, duration: Ns(253) },
            Other,
            FunctionExit { name: "".into(), depth: 0, duration: Ns(9_000) },
            Other,
        ]
    );
    assert_eq!((info.events, info.damage.len()), (6, 1));
}

#[test]
fn who_runs_is_told_by_the_lines_between_the_calls() {
    let (events, info) = all(" 0)   1.000 us    |  a();\n ------------------------------------------\n \
        0)  busybox-130   =>    rcuc/0-23   \n ------------------------------------------\n\n \
        0)   2.000 us    |  b();\n (Overruns: 0)\n 1)   3.000 us    |  c();\n 0)   ==========> |\n");
    let found: Vec<_> = events.iter().map(|event| (event.ts.0, event.cpu.0, event.context.tid.0)).collect();
    assert_eq!(
        found,
        [(0, 0, -1), (1_000, 0, -1), (1_000, 0, 23), (1_000, 1, -1), (3_000, 0, 23), (4_000, 1, -1)]
    );
    assert_eq!(info.damage, []);
}

/// A tracer's file as a mail program breaks it: the same events as of the whole lines, and no damage.
#[test]
fn broken_lines_are_read_as_they_were() {
    let whole = "\
# wakeup_rt latency trace v1.1.5 on 6.12.0-test\n\
# latency: 300 us, #6/6, CPU#0 | (M:preempt VP:0, KP:0, SP:0 HP:0 #P:4)\n\
#    | task: irq/77-controller-118 (uid:0 nice:0 policy:1 rt_prio:50)\n\
  cat-229         0dnh5.    0us :      229:120:R   + [000]     118: 49:R irq/77-controller\n\
  cat-229         0dn.5.   10us : _raw_spin_unlock_irqrestore <-complete\n\
  cat-229         0d..3.  280us : thread_noise: kworker/7:0:85 start 3937.898321339 duration 20990 ns\n\
  cat-229         0d..3.  290us : sched_switch: prev_comm=cat prev_pid=229 prev_prio=120 prev_state=R ==> next_comm=b next_pid=118 next_prio=49\n\
  cat-229         0d..3.  300us :      229:120:R ==> [000]     118: 49:R irq/77-controller\n";
    let broken = "\
>> # wakeup_rt latency trace v1.1.5 on 6.12.0-test\n\
>> # latency: 300 us, #6/6, CPU#0 | (M:preempt VP:0, KP:0, SP:0 HP:0\n\
>> #P:4)\n\
>> #    | task: irq/77-controller-118 (uid:0 nice:0 policy:1\n\
>> rt_prio:50)\n\
>>   cat-229         0dnh5.    0us :      229:120:R   + [000]     \n\
>> 118: 49:R irq/77-controller\n\
>>   cat-229         0dn.5.   10us : _raw_spin_unlock_irqrestore\n\
>> <-complete\n\
>>   cat-229         0d..3.  280us : thread_noise: kworker/7:0:85\n\
>> start 3937.898321339 duration 20990 ns\n\
>>   cat-229         0d..3.  290us : sched_switch: prev_comm=cat\n\
>> prev_pid=229 prev_prio=120 prev_state=R ==> next_comm=b\n\
>> next_pid=118 next_prio=49\n\
>>   cat-229         0d..3.  300us :      229:120:R ==> [000]\n\
>> 118: 49:R irq/77-controller\n";
    let ((events, info), (rejoined, same)) = (all(whole), all(broken));
    assert_eq!((rejoined, &same.damage), (events, &vec![]));
    assert_eq!((same.latency, same.events), (info.latency, info.events));
    // Prose is no rest of a line that lacks nothing.
    let (events, info) =
        all(&format!("{whole}\nThis is what the tracer printed here last night, on a new machine.\n"));
    assert_eq!((events.len(), info.damage.len()), (rejoined_length(whole), 1));
}

fn rejoined_length(text: &str) -> usize {
    all(text).0.len()
}

#[test]
fn a_header_is_read_where_its_lines_ran_together() {
    let lines: Vec<&str> = IRQSOFF.lines().collect();
    let expected = all(IRQSOFF).1;
    for text in [
        IRQSOFF.replace("------\n# latency", "------# latency"),
        format!("{}\n{}\n", lines[..11].join(" "), lines[11..].join("\n")),
        IRQSOFF.replace(
            "ended at:   run_timer_softirq+0x10/0x20",
            "ended at:   run_timer_softirq----- the end \u{7ed3}",
        ),
    ] {
        let (_, info) = all(&text);
        assert_eq!(
            (info.latency, info.kernel_release),
            (expected.latency.clone(), expected.kernel_release.clone()),
            "{text}"
        );
    }
}

#[test]
fn a_kernel_with_the_realtime_patches_is_known_by_its_release() {
    let facts = |text: &str| {
        let (events, _) = all(text);
        events.iter().any(|event| matches!(event.kind, Marker(text) if Fact::parse(text.as_str()) == Some(Fact::PreemptRt(true))))
    };
    assert!(!facts(IRQSOFF));
    for release in ["3.8.0-rt7", "5.4.0-4-rt-amd64", "4.9.30-rt20-v7"] {
        assert!(facts(&IRQSOFF.replace("3.8.0-test+", release)), "{release}");
    }
    for release in ["3.8.0-rtl", "5.4.0-smart-2"] {
        assert!(!facts(&IRQSOFF.replace("3.8.0-test+", release)), "{release}");
    }
}

#[test]
fn a_section_whose_title_was_left_out_is_described_by_its_first_line() {
    let lines = "#  => started at: lock_it\n#  => ended at:   unlock_it\n#\n\
        \x20  writer-77        12d....    0us : lock_it\n   writer-77        12d.... 4500us : unlock_it <-caller\n";
    let of = |text: &str| all(text).1.latency.expect("a section");
    let section = of(lines);
    assert_eq!((section.tracer, section.cpu, section.latency), (LatencyTracer::Irqsoff, Cpu(12), Ns::ZERO));
    assert_eq!(section.task.map(|task| task.tid), Some(Tid(77)));
    assert_eq!(
        (section.started_at.as_deref(), section.ended_at.as_deref()),
        (Some("lock_it"), Some("unlock_it"))
    );
    assert_eq!(of(&lines.replace("d....", "....1")).tracer, LatencyTracer::Preemptoff);
    let named = format!("# tracer: preemptirqsoff\n{lines}");
    assert_eq!(of(&named).tracer, LatencyTracer::Preemptirqsoff);
}
