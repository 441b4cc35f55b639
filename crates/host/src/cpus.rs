//! The CPUs: which there are, how they are wired, how they idle and how fast they run.

use crate::table::readings;
use crate::{FromText, FsRoot, Reading, Words};
use std::fmt;
use whylate_base::{Cpu, CpuSet};

/// The value without any request, in microseconds (`PM_QOS_CPU_LATENCY_DEFAULT_VALUE`, include/linux/pm_qos.h).
pub const NO_LATENCY_REQUEST: u64 = 2_000_000_000;

const DMA_LATENCY: &str = "/dev/cpu_dma_latency";

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
    /// intel_pstate: 1 if turbo frequencies are off.
    pub no_turbo: Reading<bool>,
    /// intel_pstate: `active`, `passive`, `off`.
    pub pstate_status: Reading<String>,
    /// The requested latency limit of all CPUs in microseconds (`/dev/cpu_dma_latency`); 2000000000: no request.
    pub dma_latency_us: Reading<u64>,
    /// The ids of the processes that have that file open; `None` without a request.
    pub dma_latency_holders: Option<Reading<Vec<i32>>>,
    /// Each hardware vulnerability and its mitigation.
    pub vulnerabilities: Reading<Vec<(String, Reading<String>)>>,
    /// The seconds between polls for machine checks (`machinecheck0/check_interval`, hexadecimal); 0: none.
    pub check_interval: Reading<String>,
    /// Whether corrected machine checks are neither polled for nor reported (`machinecheck0/ignore_ce`).
    pub ignore_ce: Reading<bool>,
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
    /// How much it can do beside the largest of the machine, which has 1024 (drivers/base/arch_topology.c); `Missing` where
    /// neither the device tree nor the firmware shows it.
    pub capacity: Reading<u64>,
    /// Its caches.
    pub caches: Reading<Vec<Cache>>,
    /// Microseconds until it must be out of an idle state: `n/a`, or 0 for no constraint.
    pub resume_latency_us: Reading<String>,
    /// How often the firmware throttled it; `Missing` if the hardware does not count.
    pub throttling: Throttling,
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
        /// What the hardware is configured to prefer.
        pub energy_preference: String = "energy_performance_preference",
        /// Nanoseconds a change of frequency takes.
        pub transition_latency_ns: u64 = "cpuinfo_transition_latency",
        /// The CPUs whose frequency is one, itself among them, as numbers; also those that are offline.
        pub related_cpus: Words = "related_cpus",
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
    /// How often a CPU was slowed down because it was hot, since boot, in `cpuN/thermal_throttle`
    /// (arch/x86: drivers/thermal/intel/therm_throt.c).
    pub struct Throttling {
        /// On account of its core.
        pub core: u64 = "core_throttle_count",
        /// On account of its socket.
        pub package: u64 = "package_throttle_count",
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
        /// Its CPUs; none for a node with memory only.
        pub cpus: CpuSet = "cpulist",
        /// How far it is to each node; 10 to itself.
        pub distances: Words = "distance",
        /// Its memory, KiB.
        pub memory: NodeMemory = "meminfo",
    }
}

/// The memory of a node, KiB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodeMemory(pub u64);

impl FromText for NodeMemory {
    const EXPECTED: &'static str = "a line such as `Node 0 MemTotal: 65536 kB`";

    fn from_text(text: &str) -> Option<Self> {
        let total = text.lines().find_map(|line| line.split_once("MemTotal:"))?.1;
        Some(NodeMemory(total.split_ascii_whitespace().next()?.parse().ok()?))
    }
}

impl fmt::Display for NodeMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} KiB", self.0)
    }
}

impl Node {
    /// Those of a machine, by number.
    pub fn all(tree: &FsRoot) -> Reading<Vec<Node>> {
        numbered(tree, "/sys/devices/system/node", "node", Node::read)
    }

    /// Its number, as its directory has it.
    pub fn number(&self) -> Option<u32> {
        let dir = self.cpus.path.strip_suffix("/cpulist")?;
        dir.rsplit("/node").next()?.parse().ok()
    }
}

impl Cpus {
    pub(crate) fn read(tree: &FsRoot) -> Cpus {
        let at = |file: &str| format!("{DIR}/{file}");
        let present = tree.value::<CpuSet>(&at("present"));
        let dma_latency_us = dma_latency(tree);
        // The search reads every process, so it only runs if there is a request.
        let is_asked = dma_latency_us.known().is_some_and(|&us| us < NO_LATENCY_REQUEST);
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
            dma_latency_holders: is_asked.then(|| tree.holders(DMA_LATENCY)),
            dma_latency_us,
            vulnerabilities: vulnerabilities(tree),
            check_interval: tree.value("/sys/devices/system/machinecheck/machinecheck0/check_interval"),
            ignore_ce: tree.value("/sys/devices/system/machinecheck/machinecheck0/ignore_ce"),
            nodes: Node::all(tree),
            each,
            // More than the first CPU would interrupt every other one, before 5.18.
            info: tree.beginning("/proc/cpuinfo", 4096),
            present,
        }
    }

    /// What the first CPU can do: the flags of /proc/cpuinfo, which only x86 has.
    pub fn flags(&self) -> Reading<Words> {
        self.info.and_then(|info| {
            let flags = info.lines().find_map(|line| line.strip_prefix("flags")?.split_once(':'));
            let words = flags.map(|(_, flags)| flags.split_ascii_whitespace().map(str::to_owned).collect());
            words
                .map(Words)
                .ok_or_else(|| crate::Why::Malformed { expected: "flags, which only x86 has".to_owned() })
        })
    }

    /// One CPU's state, if it is present and was read.
    pub fn get(&self, cpu: Cpu) -> Option<&CpuState> {
        self.each.known()?.iter().find(|state| state.cpu == cpu)
    }
}

impl CpuState {
    fn read(tree: &FsRoot, cpu: Cpu) -> CpuState {
        let dir = format!("{DIR}/cpu{cpu}");
        CpuState {
            cpu,
            topology: Topology::read(tree, &format!("{dir}/topology")),
            cpufreq: Cpufreq::read(tree, &format!("{dir}/cpufreq")),
            idle_states: numbered(tree, &format!("{dir}/cpuidle"), "state", IdleState::read),
            capacity: tree.value(&format!("{dir}/cpu_capacity")),
            caches: numbered(tree, &format!("{dir}/cache"), "index", Cache::read),
            resume_latency_us: tree.value(&format!("{dir}/power/pm_qos_resume_latency_us")),
            throttling: Throttling::read(tree, &format!("{dir}/thermal_throttle")),
        }
    }
}

/// What is in each `PREFIXn` below a directory, by number.
fn numbered<T>(tree: &FsRoot, dir: &str, prefix: &str, read: fn(&FsRoot, &str) -> T) -> Reading<Vec<T>> {
    tree.list(dir).and_then(|names| {
        let mut numbers: Vec<u32> =
            names.iter().filter_map(|name| name.strip_prefix(prefix)?.parse().ok()).collect();
        numbers.sort_unstable();
        Ok(numbers.into_iter().map(|number| read(tree, &format!("{dir}/{prefix}{number}"))).collect())
    })
}

/// The file holds a binary number, in the machine's byte order.
fn dma_latency(tree: &FsRoot) -> Reading<u64> {
    tree.bytes(DMA_LATENCY).and_then(|bytes| match bytes.as_slice().try_into() {
        Ok(bytes) => Ok(u64::from(u32::from_ne_bytes(bytes))),
        Err(_) => Err(crate::Why::Malformed { expected: "four bytes".to_owned() }),
    })
}

fn vulnerabilities(tree: &FsRoot) -> Reading<Vec<(String, Reading<String>)>> {
    let dir = format!("{DIR}/vulnerabilities");
    tree.list(&dir).and_then(|names| {
        Ok(names.iter().map(|name| (name.clone(), tree.value(&format!("{dir}/{name}")))).collect())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_have_numbers_and_memory() {
        let tree = FsRoot::memory(&[
            ("/sys/devices/system/node/node10/cpulist", "4-7\n"),
            (
                "/sys/devices/system/node/node10/meminfo",
                "Node 10 MemTotal:       65536 kB\nNode 10 MemFree: 1 kB\n",
            ),
            ("/sys/devices/system/node/node2/cpulist", "0-3\n"),
            ("/sys/devices/system/node/online", "2,10\n"),
        ]);
        let cpus = Cpus::read(&tree);
        let nodes = cpus.nodes.need().expect("nodes");
        assert_eq!(nodes.iter().map(Node::number).collect::<Vec<_>>(), [Some(2), Some(10)]);
        assert_eq!(nodes[1].memory.value, Ok(NodeMemory(65536)));
        assert!(nodes[0].memory.value.is_err());
        assert_eq!(NodeMemory::from_text("Node 0 MemFree: 5 kB"), None);
    }

    #[test]
    fn flags_are_of_x86() {
        let of = |text: &str| Cpus::read(&FsRoot::memory(&[("/proc/cpuinfo", text)])).flags();
        assert!(of("processor : 0\nflags\t\t: fpu tsc\nbugs : x\n").need().expect("flags").has("tsc"));
        assert!(of("processor : 0\nFeatures : fp asimd\n").need().is_err());
    }
}
