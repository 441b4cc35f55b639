//! The CPUs of a machine, as expressions ask for them.

use super::error::{Mistake, there_are};
use whylate_base::{Cpu, CpuSet};
use whylate_host::{Snapshot, Unread};

/// The machine an expression is about.
#[derive(Clone, Copy)]
pub(super) struct Topology<'a>(pub(super) &'a Snapshot);

impl Topology<'_> {
    /// Every CPU that is there, offline ones too.
    pub(super) fn all(self) -> Result<CpuSet, Mistake> {
        Ok(self.0.cpus.present.need().map_err(unread)?.clone())
    }

    pub(super) fn online(self) -> Result<CpuSet, Mistake> {
        Ok(self.0.cpus.online.need().map_err(unread)?.clone())
    }

    /// The first CPU that is online of each core.
    pub(super) fn cores(self) -> Result<CpuSet, Mistake> {
        let online = self.online()?;
        let mut first = CpuSet::new();
        for cpu in online.iter() {
            let siblings = self.siblings_of(cpu, &online)?;
            if siblings.iter().find(|&sibling| online.contains(sibling)) == Some(cpu) {
                first.insert(cpu);
            }
        }
        Ok(first)
    }

    /// Those that share a core with one of these, themselves among them.
    pub(super) fn siblings(self, cpus: &CpuSet) -> Result<CpuSet, Mistake> {
        let online = self.online()?;
        let mut all = CpuSet::new();
        for cpu in cpus.iter() {
            self.siblings_of(cpu, &online)?.iter().chain([cpu]).for_each(|cpu| all.insert(cpu));
        }
        Ok(all)
    }

    fn siblings_of(self, cpu: Cpu, online: &CpuSet) -> Result<CpuSet, Mistake> {
        let siblings = self.0.cpus.get(cpu).map(|state| &state.topology.siblings);
        match siblings {
            // The kernel forgets the siblings of a CPU that is offline.
            _ if !online.contains(cpu) => Ok(CpuSet::from_iter([cpu])),
            Some(siblings) => Ok(siblings.need().map_err(unread)?.clone()),
            None => Err(Mistake::new(
                format!("cannot tell which CPUs share a core with CPU {cpu}"),
                "write the CPUs themselves, such as 2-3",
            )),
        }
    }

    /// The CPUs of a NUMA node. A kernel without NUMA has one node, 0.
    pub(super) fn node(self, number: u32) -> Result<CpuSet, Mistake> {
        let Some(nodes) = self.0.cpus.nodes.if_present().map_err(unread)? else {
            return match number {
                0 => self.all(),
                _ => Err(Mistake::new(format!("there is no NUMA node {number}"), "there is 0")),
            };
        };
        match nodes.iter().find(|node| node.number() == Some(number)) {
            Some(node) => Ok(node.cpus.need().map_err(unread)?.clone()),
            None => {
                let numbers: Vec<String> =
                    nodes.iter().filter_map(|node| Some(node.number()?.to_string())).collect();
                let possible = there_are(numbers.iter().map(String::as_str));
                Err(Mistake::new(format!("there is no NUMA node {number}"), possible))
            }
        }
    }
}

fn unread(unread: Unread) -> Mistake {
    Mistake::new(
        format!("cannot read {}: {}", unread.path, unread.why),
        "write the CPUs themselves, such as 2-3",
    )
}
