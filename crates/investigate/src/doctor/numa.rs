//! On which NUMA nodes a process's memory is (proc_pid_numa_maps(5)), and which CPUs each node has.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use whylate_base::{CpuSet, Tid};
use whylate_host::{FsRoot, Node};

/// The CPUs of each NUMA node, by its number; empty where the machine has one node only, or does not show them.
pub(super) fn nodes(tree: &FsRoot) -> BTreeMap<u32, CpuSet> {
    let all = Node::all(tree);
    let each = all.known().into_iter().flatten();
    let nodes: BTreeMap<u32, CpuSet> =
        each.filter_map(|node| Some((node.number()?, node.cpus.known()?.clone()))).collect();
    if nodes.len() > 1 { nodes } else { BTreeMap::new() }
}

/// The bytes of a process's own memory on each node; `None` where the kernel does not show it. As for smaps, it walks the
/// page tables.
pub(super) fn memory(pid: Tid) -> Option<BTreeMap<u32, u64>> {
    let text = fs::read(Path::new("/proc").join(pid.to_string()).join("numa_maps")).ok()?;
    Some(parse(&String::from_utf8_lossy(&text)))
}

/// Lines of `ADDRESS POLICY [KEY=VALUE] [N0=PAGES] ... kernelpagesize_kB=4`; those without `anon=` have pages of files, which
/// other programs share.
fn parse(text: &str) -> BTreeMap<u32, u64> {
    let mut bytes = BTreeMap::new();
    for line in text.lines() {
        let pairs = || line.split_ascii_whitespace().filter_map(|word| word.split_once('='));
        let number = |key: &str| pairs().find(|(own, _)| *own == key)?.1.parse::<u64>().ok();
        let Some(page) = number("kernelpagesize_kB").filter(|_| number("anon").is_some()) else { continue };
        for (key, pages) in pairs() {
            let node = key.strip_prefix('N').and_then(|node| node.parse::<u32>().ok());
            if let (Some(node), Ok(pages)) = (node, pages.parse::<u64>()) {
                let sum: &mut u64 = bytes.entry(node).or_default();
                *sum = sum.saturating_add(pages.saturating_mul(page).saturating_mul(1024));
            }
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use whylate_base::Cpu;

    #[test]
    fn a_machine_with_one_node_has_no_nodes_to_tell_apart() {
        let of = |files: &[(&str, &str)]| nodes(&FsRoot::memory(files));
        let (first, second) = (
            ("/sys/devices/system/node/node0/cpulist", "0-3\n"),
            ("/sys/devices/system/node/node1/cpulist", "4-7\n"),
        );
        assert!(of(&[]).is_empty());
        assert!(of(&[first]).is_empty());
        let nodes = of(&[first, second]);
        assert_eq!(nodes.keys().copied().collect::<Vec<_>>(), [0, 1]);
        assert!(nodes[&1].contains(Cpu(5)));
    }

    /// Lines as `fs/proc/task_mmu.c`, `show_numa_map()`, writes them.
    #[test]
    fn pages_of_files_are_not_the_process_own() {
        let text = "\
55d0c0a00000 default file=/opt/control mapped=12 N0=12 kernelpagesize_kB=4
55d0c1b00000 default heap anon=300 dirty=300 N0=200 N1=100 kernelpagesize_kB=4
7f2a00000000 bind:1 anon=3 dirty=3 N1=3 kernelpagesize_kB=2048
7f2b00000000 default stack anon=x N1=7 kernelpagesize_kB=4
nonsense
";
        assert_eq!(parse(text), BTreeMap::from([(0, 200 << 12), (1, (100 << 12) + (3 << 21))]));
        assert_eq!(
            parse("1 default anon=1 N0=18446744073709551615 kernelpagesize_kB=4"),
            BTreeMap::from([(0, u64::MAX)])
        );
    }
}
