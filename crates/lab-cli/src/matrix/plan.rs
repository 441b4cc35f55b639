//! The runs of a matrix, and the boots they share.

use crate::scenario::{Expectation, Late, Scenario};
use std::sync::Arc;
use std::time::Duration;
use whylate_base::{Ns, parse_duration};
use whylate_lab::{Kernel, TimeSource};

/// One boot has at most this many runs: if it fails, all are repeated one by one.
const MOST_RUNS: usize = 8;
/// And at most this much of the guest's time, so that concurrent boots end at about the same time.
const MOST_TIME: Ns = Ns::from_secs(20);
/// The injector needs this long besides its duration: to calibrate, and to start its threads.
const START_UP: Ns = Ns::from_ms(500);

/// One run: a scenario on a kernel, with a seed.
#[derive(Clone, Debug)]
pub struct Run {
    /// The scenario.
    pub scenario: Arc<Scenario>,
    /// The kernel's name.
    pub kernel: String,
    /// The right answers on this kernel.
    pub expected: Expectation,
    /// The seed of names, phases and lengths; 0 gives descriptive names.
    pub seed: u64,
    /// The arguments of this run of a sweep; empty where there is none.
    pub sweep: Vec<String>,
}

impl Run {
    /// How long the injector runs, in guest time.
    pub(super) fn length(&self) -> Ns {
        // Checked when the scenario was read.
        parse_duration(&self.scenario.duration).unwrap_or(Ns::from_secs(2)) + START_UP
    }
}

/// Runs that need the same machine.
#[derive(Clone, Debug)]
pub struct Boot {
    /// The kernel to boot.
    pub kernel: Kernel,
    /// Their scenarios describe the same machine.
    pub runs: Vec<Run>,
}

impl Boot {
    /// A scenario that describes the machine.
    pub(super) fn scenario(&self) -> Option<&Scenario> {
        self.runs.first().map(|run| run.scenario.as_ref())
    }

    /// The time source: some kernels do not boot in virtual time with several CPUs.
    pub fn time(&self) -> TimeSource {
        match self.scenario() {
            Some(scenario) if scenario.cpus > 1 && !self.kernel.has_virtual_smp() => TimeSource::Free,
            Some(scenario) => scenario.time(),
            None => TimeSource::Virtual,
        }
    }

    /// The limit in host time: far more than the boot needs, on a busy host too.
    pub(crate) fn limit(&self) -> Duration {
        let guest: Ns = self.runs.iter().map(Run::length).sum();
        Duration::from_secs(90 + 20 * guest.0.unsigned_abs() / 1_000_000_000)
    }
}

/// All runs of `scenarios` on those of `kernels` that they apply to, one for each seed, by boots. With
/// `quick`, those of the quick subset only.
pub fn plan(scenarios: &[Arc<Scenario>], kernels: &[Kernel], seeds: &[u64], quick: bool) -> Vec<Boot> {
    let mut boots: Vec<Boot> = Vec::new();
    for kernel in kernels {
        for scenario in scenarios {
            let wanted =
                if quick { scenario.is_quick(&kernel.name) } else { scenario.applies_to(&kernel.name) };
            if wanted && scenario.is_for(kernel.arch) {
                let runs = seeds.iter().flat_map(|seed| runs(scenario, kernel, *seed));
                runs.for_each(|run| place(&mut boots, kernel, run));
            }
        }
    }
    boots
}

/// The runs of one seed: one, or one for each entry of the sweep.
fn runs(scenario: &Arc<Scenario>, kernel: &Kernel, seed: u64) -> Vec<Run> {
    let Some(expected) = scenario.expectation(&kernel.name) else { return Vec::new() };
    let run = |sweep: &[String]| {
        let mut expected = expected.clone();
        if !sweep.is_empty() && expected.late == Late::Some {
            expected.late = Late::Maybe;
        }
        Run {
            scenario: Arc::clone(scenario),
            kernel: kernel.name.clone(),
            expected,
            seed,
            sweep: sweep.to_vec(),
        }
    };
    match scenario.sweep.as_slice() {
        [] => vec![run(&[])],
        sweep => sweep.iter().map(|arguments| run(arguments)).collect(),
    }
}

/// Into a boot that has room and is the same machine, or into one of its own.
fn place(boots: &mut Vec<Boot>, kernel: &Kernel, run: Run) {
    // Of two machines each run has a boot: neither waits for the other between runs.
    let fits = |boot: &Boot| {
        let time: Ns = boot.runs.iter().map(Run::length).sum();
        boot.kernel == *kernel
            && boot.scenario().is_some_and(|scenario| same_machine(scenario, &run.scenario))
            && boot.runs.len() < MOST_RUNS
            && time + run.length() <= MOST_TIME
    };
    match boots.iter_mut().find(|boot| fits(boot)) {
        Some(boot) => boot.runs.push(run),
        None => boots.push(Boot { kernel: kernel.clone(), runs: vec![run] }),
    }
}

fn same_machine(left: &Scenario, right: &Scenario) -> bool {
    left.peer.is_none()
        && right.peer.is_none()
        && left.cpus == right.cpus
        && left.time == right.time
        && left.append == right.append
        && left.modules == right.modules
        && left.settings == right.settings
        && left.stop_ms == right.stop_ms
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::built_in;
    use proptest::prelude::*;
    use std::path::PathBuf;
    use whylate_lab::Arch;

    fn kernel(name: &str) -> Kernel {
        Kernel {
            name: name.to_owned(),
            release: format!("{name}.0"),
            preempt_rt: name.ends_with("-rt"),
            arch: Arch::X86_64,
            image: PathBuf::from("/k"),
            modules: None,
        }
    }

    fn all() -> Vec<Arc<Scenario>> {
        built_in().expect("scenarios").into_iter().map(Arc::new).collect()
    }

    #[test]
    fn a_sweep_is_a_run_for_each_of_its_entries() {
        let coarse: Vec<_> = all().into_iter().filter(|scenario| scenario.name == "coarse-clock").collect();
        let boots = plan(&coarse, &[kernel("6.1"), kernel("7.2")], &[1, 2], false);
        let runs: Vec<&Run> = boots.iter().flat_map(|boot| &boot.runs).collect();
        assert_eq!(runs.len(), 2 * coarse[0].sweep.len());
        assert!(runs.iter().all(|run| run.kernel == "6.1" && run.expected.late == Late::Maybe));
    }

    #[test]
    fn a_scenario_of_another_architecture_is_left_out() {
        let coarse: Vec<_> = all().into_iter().filter(|scenario| scenario.name == "coarse-clock").collect();
        let kernel = Kernel { arch: Arch::Arm64, ..kernel("6.1") };
        assert!(plan(&coarse, &[kernel], &[1], false).is_empty());
    }

    #[test]
    fn the_quick_subset_is_a_part_of_the_whole() {
        let kernels = ["6.1", "6.12-rt", "7.2"].map(kernel);
        let names = |quick| {
            let boots = plan(&all(), &kernels, &[1], quick);
            let runs = boots.into_iter().flat_map(|boot| boot.runs);
            runs.map(|run| (run.kernel, run.scenario.name.clone())).collect::<std::collections::HashSet<_>>()
        };
        let (quick, whole) = (names(true), names(false));
        assert!(!quick.is_empty() && quick.len() < whole.len());
        assert!(quick.is_subset(&whole));
    }

    #[test]
    fn several_cpus_run_free_where_virtual_time_hangs() {
        let two: Vec<_> = all().into_iter().filter(|scenario| scenario.name == "pin-first").collect();
        for (name, time) in [("6.1", TimeSource::Free), ("6.12", TimeSource::Virtual)] {
            let boots = plan(&two, &[kernel(name)], &[1], false);
            assert_eq!(boots[0].time(), time, "{name}");
        }
    }

    /// Read once: reading is the slow part.
    static SCENARIOS: std::sync::OnceLock<Vec<Arc<Scenario>>> = std::sync::OnceLock::new();

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16))]

        #[test]
        fn every_run_is_planned_once_beside_its_like(seeds in prop::collection::hash_set(0_u64..50, 1..5)) {
            let seeds: Vec<u64> = seeds.into_iter().collect();
            let kernels = ["6.1", "6.12-rt"].map(kernel);
            let scenarios = SCENARIOS.get_or_init(all);
            let expected: usize = scenarios.iter().map(|scenario| {
                let on = kernels.iter().filter(|kernel| scenario.applies_to(&kernel.name)).count();
                on * seeds.len() * scenario.sweep.len().max(1)
            }).sum();
            let boots = plan(scenarios, &kernels, &seeds, false);
            prop_assert_eq!(boots.iter().map(|boot| boot.runs.len()).sum::<usize>(), expected);
            for boot in &boots {
                let first = boot.scenario().expect("no boot is empty");
                prop_assert!(boot.runs.len() <= MOST_RUNS);
                prop_assert!(boot.runs.iter().all(|run| run.kernel == boot.kernel.name));
                prop_assert!(boot.runs.iter().skip(1).all(|run| same_machine(first, &run.scenario)));
            }
        }
    }
}
