//! Samples of the osnoise and hwlat tracers: findings.

use super::{event, explained, named, on};
use whylate_base::{Cpu, Ns, Severity};
use whylate_events::{EventKind, Noise, NoiseSource, OsnoiseSample, TraceInfo};

#[test]
fn osnoise_samples_are_noise_and_no_activation() {
    let sample = |cpu: u32, noise: i64, longest: i64, hw_count: u32| {
        let sample = OsnoiseSample {
            runtime: Ns::from_ms(1_000),
            noise: Ns(noise),
            max_sample: Ns(longest),
            hw_count,
            irq_count: 1_007,
            thread_count: 1,
            ..OsnoiseSample::default()
        };
        on(Cpu(cpu), 81_637_220_000, 859, "", EventKind::OsnoiseSample(sample))
    };
    let explained = explained(
        TraceInfo::default(),
        vec![
            sample(0, 190_000, 9_000, 0),
            event(
                81_000_000_000,
                859,
                "dh",
                EventKind::Noise(Noise {
                    source: NoiseSource::Irq,
                    name: "local_timer".into(),
                    id: 236,
                    start: Ns(80_999_955_000),
                    duration: Ns(45_000),
                }),
            ),
            sample(5, 12_000_000, 74_000, 23),
        ],
    );
    assert!(explained.0.activations.is_empty() && explained.0.tasks.is_empty());
    assert!(explained.0.concludes());
    let finding = explained.finding("os-noise").expect("a finding");
    assert_eq!(
        finding.title,
        "CPU 5 lost 1.20 % of 1.000 s to noise, 74.00 us at once; the largest recorded interference took 45.00 us: local_timer interrupt"
    );
    assert_eq!(finding.severity, Severity::Warning);
    assert!(
        finding.evidence.iter().any(|seen| seen.cpu == Some(Cpu(0)) && seen.what.contains("0.02 %")),
        "{finding:#?}"
    );
    let lost =
        "lost 1.20 % of 1.000 s to noise, 74.00 us at once: 12.00 ms in all, by 1007 interrupts and 1 thread";
    assert!(finding.evidence.iter().any(|seen| seen.what == lost), "{finding:#?}");
    let hardware = explained.finding("hardware-noise").expect("a finding");
    assert!(hardware.title.starts_with("23 noises") && hardware.severity == Severity::Info, "{hardware:#?}");
}

#[test]
fn hwlat_gaps_are_stolen_time_and_the_suspect_is_named_as_one() {
    let gap = |ns, inner, outer| event(ns, 9, "d", EventKind::Hwlat { inner: Ns(inner), outer: Ns(outer) });
    let explained =
        explained(TraceInfo::default(), vec![gap(1_000, 12_000, 10_000), gap(2_000, 11_000, 130_000)]);
    let finding = explained.finding("stolen").expect("a finding");
    assert!(
        finding.title.contains("130.0 us") && finding.title.contains("2 samples with gaps"),
        "{finding:#?}"
    );
    assert!(finding.why.contains("does not show") && finding.severity == Severity::Warning, "{finding:#?}");
    assert!(explained.0.concludes() && explained.0.activations.is_empty());
}

#[test]
fn without_a_thread_that_spins_the_times_of_threads_are_no_noise() {
    let noise = |cpu: u32, name: &str, id: u32, duration: i64| {
        let kind = EventKind::Noise(Noise {
            source: NoiseSource::Thread,
            name: name.into(),
            id,
            start: Ns(1_000),
            duration: Ns(duration),
        });
        on(Cpu(cpu), 20_000_000, 0, "d", kind)
    };
    let threads = || vec![noise(2, "sh", 121, 8_943_000), noise(3, "swapper/3", 0, 13_191_000)];
    assert_eq!(explained(TraceInfo::default(), threads()).codes(), Vec::<&str>::new());
    // Of a few rows the idle thread need not have one.
    let one = || vec![noise(2, "sh", 121, 8_943_000)];
    assert_eq!(explained(TraceInfo::default(), one()).codes(), Vec::<&str>::new());
    for (name, measures) in
        [("osnoise/2", true), ("timerlatu/2", true), ("osnoised/x", false), ("dsh/2", false)]
    {
        let found = explained(TraceInfo::default(), [named(name), one()].concat()).codes();
        assert_eq!(found, if measures { vec!["os-noise"] } else { Vec::new() }, "{name}");
    }
    // A sample is of one that spins; the CPU idles between two periods.
    let sample =
        OsnoiseSample { runtime: Ns::from_ms(1_000), max_sample: Ns(9_000_000), ..OsnoiseSample::default() };
    let with_sample =
        threads().into_iter().chain([on(Cpu(2), 30_000_000, 9, "", EventKind::OsnoiseSample(sample))]);
    let with_sample = explained(TraceInfo::default(), with_sample.collect());
    assert!(with_sample.finding("os-noise").expect("a finding").title.contains("sh:121"));
}

#[test]
fn the_longest_interference_alone_is_the_least_that_was_lost() {
    let noise = |name: &str, id: u32| {
        let kind = EventKind::Noise(Noise {
            source: NoiseSource::Thread,
            name: name.into(),
            id,
            start: Ns(1_000),
            duration: Ns(3_070),
        });
        on(Cpu(2), 20_000_000, 0, "d", kind)
    };
    let title = |events| {
        explained(TraceInfo::default(), events).finding("os-noise").expect("a finding").title.clone()
    };
    let least = title([named("osnoise/9"), vec![noise("sh", 121)]].concat());
    assert!(least.starts_with("CPU 2 lost at least 3.07 us at once to noise"), "{least}");
    let whole = EventKind::OsnoiseThreshold { start: Ns(900), duration: Ns(8_000), interferences: 2 };
    let most = title(vec![noise("sh", 121), on(Cpu(2), 20_000_100, 7, "", whole)]);
    assert!(most.starts_with("CPU 2 lost up to 8.00 us at once to noise"), "{most}");
}

#[test]
fn a_kernel_thread_of_one_cpu_is_not_to_be_moved() {
    let advice = |name: &str| {
        let kind = EventKind::Noise(Noise {
            source: NoiseSource::Thread,
            name: name.into(),
            id: 54,
            start: Ns(1_000),
            duration: Ns(9_000),
        });
        let events = [named("osnoise/9"), vec![on(Cpu(2), 20_000_000, 7, "d", kind)]].concat();
        let explained = explained(TraceInfo::default(), events);
        explained.finding("os-noise").expect("a finding").fix[0].text.clone()
    };
    for name in ["migration/2", "ksoftirqd/2", "kworker/2:1H"] {
        let text = advice(name);
        assert!(!text.contains("taskset") && text.contains("cannot be moved"), "{text}");
    }
    for name in ["sh", "kworker/u16:0", "worker/2"] {
        assert!(advice(name).contains("taskset"), "{name}");
    }
}
