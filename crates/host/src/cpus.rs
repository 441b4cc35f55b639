//! The CPUs: which there are, how they are wired, how they idle and how fast they run.

use crate::table::readings;
use crate::{Reading, Tree, Words};
use whylate_base::{Cpu, CpuSet};

const DIR: &str = "/sys/devices/system/cpu";

/// All of them, and what holds for all.
#[derive(Clone, Debug, PartialEq)]
pub struct Cpus {
    /// Those that run.
    pub online: Reading<CpuSet>,
    /// Those that are there.
    pub present: Reading<CpuSet>,
    /// Those that the kernel is prepared for.
    pub possible: Reading<CpuSet>,
    /// Those taken out of load balancing by `isolcpus=` or an isolated cpuset partition.
    pub isolated: Reading<CpuSet>,
    /// Those without a tick while one task runs, `nohz_full=`.
    pub nohz_full: Reading<CpuSet>,
    /// SMT: `on`, `off`, `forceoff`, `notsupported`, `notimplemented`.
    pub smt_control: Reading<String>,
    /// Whether siblings share a core right now.
    pub smt_active: Reading<bool>,
    /// The driver that enters idle states: `intel_idle`, `acpi_idle`, `haltpoll`, `none`.
    pub idle_driver: Reading<String>,
    /// The governor that chooses idle states.
    pub idle_governor: Reading<String>,
    /// Whether frequencies above the nominal one are allowed (`cpufreq/boost`).
    pub boost: Reading<bool>,
    /// intel_pstate: 1 where turbo frequencies are off.
    pub no_turbo: Reading<bool>,
    /// intel_pstate: `active`, `passive`, `off`.
    pub pstate_status: Reading<String>,
    /// Latency in microseconds that somebody asks every CPU to keep to (`/dev/cpu_dma_latency`); 2000000000: nobody.
    pub dma_latency_us: Reading<u64>,
    /// Each hardware vulnerability and what is done about it.
    pub vulnerabilities: Reading<Vec<(String, Reading<String>)>>,
    /// The seconds between polls for machine checks (`machinecheck0/check_interval`, hexadecimal); 0: none.
    pub check_interval: Reading<String>,
    /// NUMA nodes.
    pub nodes: Reading<Vec<Node>>,
    /// Each CPU that is present, ascending.
    pub each: Reading<Vec<CpuState>>,
    /// The vendor, the model, the flags: `/proc/cpuinfo` of the first CPU.
    pub info: Reading<String>,
}

/// One CPU.
#[derive(Clone, Debug, PartialEq)]
pub struct CpuState {
    /// Its number.
    pub cpu: Cpu,
    /// Where it sits.
    pub topology: Topology,
    /// How fast it runs; all `Missing` without a frequency driver.
    pub cpufreq: Cpufreq,
    /// Its idle states, shallowest first; `Missing` without an idle driver.
    pub idle_states: Reading<Vec<IdleState>>,
    /// Its caches.
    pub caches: Reading<Vec<Cache>>,
    /// Microseconds until it must be out of an idle state: `n/a`, or 0 for no constraint.
    pub resume_latency_us: Reading<String>,
}

readings! {
    /// Where a CPU sits, in `cpuN/topology` (Documentation/admin-guide/cputopology.rst).
    pub struct Topology {
        /// Its socket.
        pub package: i64 = "physical_package_id",
        /// Its core, within the socket.
        pub core: i64 = "core_id",
        /// Those that share its core, itself among them.
        pub siblings: CpuSet = "thread_siblings_list",
    }
}

readings! {
    /// How fast a CPU runs, in `cpuN/cpufreq` (Documentation/admin-guide/pm/cpufreq.rst). Frequencies in kHz.
    pub struct Cpufreq {
        /// The driver.
        pub driver: String = "scaling_driver",
        /// The governor that chooses the frequency.
        pub governor: String = "scaling_governor",
        /// The least the governor may choose.
        pub scaling_min_khz: u64 = "scaling_min_freq",
        /// The most the governor may choose.
        pub scaling_max_khz: u64 = "scaling_max_freq",
        /// The least the hardware does.
        pub hardware_min_khz: u64 = "cpuinfo_min_freq",
        /// The most the hardware does.
        pub hardware_max_khz: u64 = "cpuinfo_max_freq",
        /// What the hardware is told to prefer.
        pub energy_preference: String = "energy_performance_preference",
        /// Nanoseconds a change of frequency takes.
        pub transition_latency_ns: u64 = "cpuinfo_transition_latency",
    }
}

readings! {
    /// An idle state, in `cpuN/cpuidle/stateN` (Documentation/admin-guide/pm/cpuidle.rst).
    pub struct IdleState {
        /// Its name: `POLL`, `C1`, `C6`.
        pub name: String = "name",
        /// Microseconds to leave it.
        pub exit_latency_us: u64 = "latency",
        /// Whether it is switched off.
        pub disabled: bool = "disable",
    }
}

readings! {
    /// A cache, in `cpuN/cache/indexN`.
    pub struct Cache {
        /// 1 to 4.
        pub level: u64 = "level",
        /// `Data`, `Instruction`, `Unified`.
        pub kind: String = "type",
        /// Such as `32K`.
        pub size: String = "size",
        /// The CPUs that share it.
        pub shared: CpuSet = "shared_cpu_list",
    }
}

readings! {
    /// A NUMA node, in `/sys/devices/system/node/nodeN`.
    pub struct Node {
        /// Its CPUs; none for memory alone.
        pub cpus: CpuSet = "cpulist",
        /// How far it is to each node; 10 to itself.
        pub distances: Words = "distance",
    }
}

impl Cpus {
    pub(crate) fn read(tree: &Tree) -> Cpus {
        let at = |file: &str| format!("{DIR}/{file}");
        let present = tree.value::<CpuSet>(&at("present"));
        let each = present.and_then(|cpus| Ok(cpus.iter().map(|cpu| CpuState::read(tree, cpu)).collect()));
        Cpus {
            online: tree.value(&at("online")),
            possible: tree.value(&at("possible")),
            isolated: tree.value(&at("isolated")),
            nohz_full: tree.value(&at("nohz_full")),
            smt_control: tree.value(&at("smt/control")),
            smt_active: tree.value(&at("smt/active")),
            idle_driver: tree.value(&at("cpuidle/current_driver")),
            idle_governor: tree.value(&at("cpuidle/current_governor")),
            boost: tree.value(&at("cpufreq/boost")),
            no_turbo: tree.value(&at("intel_pstate/no_turbo")),
            pstate_status: tree.value(&at("intel_pstate/status")),
            dma_latency_us: dma_latency(tree),
            vulnerabilities: vulnerabilities(tree),
            check_interval: tree.value("/sys/devices/system/machinecheck/machinecheck0/check_interval"),
            nodes: numbered(tree, "/sys/devices/system/node", "node", Node::read),
            each,
            // More than the first CPU would interrupt every other one, before 5.18.
            info: tree.beginning("/proc/cpuinfo", 4096),
            present,
        }
    }

    /// One CPU's state, if it is present and was read.
    pub fn get(&self, cpu: Cpu) -> Option<&CpuState> {
        self.each.known()?.iter().find(|state| state.cpu == cpu)
    }
}

impl CpuState {
    fn read(tree: &Tree, cpu: Cpu) -> CpuState {
        let dir = format!("{DIR}/cpu{cpu}");
        CpuState {
            cpu,
            topology: Topology::read(tree, &format!("{dir}/topology")),
            cpufreq: Cpufreq::read(tree, &format!("{dir}/cpufreq")),
            idle_states: numbered(tree, &format!("{dir}/cpuidle"), "state", IdleState::read),
            caches: numbered(tree, &format!("{dir}/cache"), "index", Cache::read),
            resume_latency_us: tree.value(&format!("{dir}/power/pm_qos_resume_latency_us")),
        }
    }
}

/// What is in each `PREFIXn` below a directory, by number.
fn numbered<T>(tree: &Tree, dir: &str, prefix: &str, read: fn(&Tree, &str) -> T) -> Reading<Vec<T>> {
    tree.list(dir).and_then(|names| {
        let mut numbers: Vec<u32> =
            names.iter().filter_map(|name| name.strip_prefix(prefix)?.parse().ok()).collect();
        numbers.sort_unstable();
        Ok(numbers.into_iter().map(|number| read(tree, &format!("{dir}/{prefix}{number}"))).collect())
    })
}

/// The file holds a binary number, in the machine's byte order.
fn dma_latency(tree: &Tree) -> Reading<u64> {
    tree.bytes("/dev/cpu_dma_latency").and_then(|bytes| match bytes.as_slice().try_into() {
        Ok(bytes) => Ok(u64::from(u32::from_ne_bytes(bytes))),
        Err(_) => Err(crate::Why::Malformed { expected: "four bytes".to_owned() }),
    })
}

fn vulnerabilities(tree: &Tree) -> Reading<Vec<(String, Reading<String>)>> {
    let dir = format!("{DIR}/vulnerabilities");
    tree.list(&dir).and_then(|names| {
        Ok(names.iter().map(|name| (name.clone(), tree.value(&format!("{dir}/{name}")))).collect())
    })
}
