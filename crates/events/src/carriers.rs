//! What carries work from one thread or device to another: packets, work items, calls between CPUs.

use crate::names::{Name, Symbol};
use whylate_base::Cpu;

/// A packet passes a point of the network stack. It is the same packet as long as `skb` is the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// Address of its `sk_buff`.
    pub skb: u64,
    /// Its length in bytes.
    pub len: u32,
    /// The network device; empty of [`PacketStep::Copied`].
    pub dev: Name,
    /// The point.
    pub step: PacketStep,
}

/// A point that a packet passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PacketStep {
    /// `net_dev_queue`: it is to be sent.
    Queued,
    /// `net_dev_start_xmit`: the device's driver gets it.
    Started,
    /// `net_dev_xmit`: the driver took it, or refused it.
    Sent,
    /// `netif_rx`: a device of software, such as `lo` and veth, hands it to the receiving side of its CPU.
    Looped,
    /// `netif_receive_skb`: the receiving side takes it up.
    Received,
    /// `skb_copy_datagram_iovec`: a thread reads it.
    Copied,
}

impl PacketStep {
    /// Every step, in the order in which a packet passes them.
    pub const ALL: [PacketStep; 6] = [
        PacketStep::Queued,
        PacketStep::Started,
        PacketStep::Sent,
        PacketStep::Looped,
        PacketStep::Received,
        PacketStep::Copied,
    ];

    /// The group and the name of its tracepoint.
    pub fn tracepoint(self) -> (&'static str, &'static str) {
        match self {
            PacketStep::Queued => ("net", "net_dev_queue"),
            PacketStep::Started => ("net", "net_dev_start_xmit"),
            PacketStep::Sent => ("net", "net_dev_xmit"),
            PacketStep::Looped => ("net", "netif_rx"),
            PacketStep::Received => ("net", "netif_receive_skb"),
            PacketStep::Copied => ("skb", "skb_copy_datagram_iovec"),
        }
    }

    /// The step of a tracepoint, by its name.
    pub fn of(name: &str) -> Option<PacketStep> {
        PacketStep::ALL.into_iter().find(|step| step.tracepoint().1 == name)
    }
}

/// A work item of a workqueue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Work {
    /// Address of its `work_struct`.
    pub work: u64,
    /// Its function, where the source gives a name.
    pub function: Symbol,
    /// What happens to it.
    pub step: WorkStep,
}

/// What happens to a work item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WorkStep {
    /// `workqueue_queue_work`: it is queued.
    Queued,
    /// `workqueue_activate_work`: a worker may take it.
    Activated,
    /// `workqueue_execute_start`: the current thread begins it.
    Started,
    /// `workqueue_execute_end`: the current thread has done it.
    Ended,
}

impl WorkStep {
    /// Every step, in order.
    pub const ALL: [WorkStep; 4] =
        [WorkStep::Queued, WorkStep::Activated, WorkStep::Started, WorkStep::Ended];

    /// The name of its tracepoint.
    pub fn tracepoint(self) -> &'static str {
        match self {
            WorkStep::Queued => "workqueue_queue_work",
            WorkStep::Activated => "workqueue_activate_work",
            WorkStep::Started => "workqueue_execute_start",
            WorkStep::Ended => "workqueue_execute_end",
        }
    }

    /// The step of a tracepoint, by its name.
    pub fn of(name: &str) -> Option<WorkStep> {
        WorkStep::ALL.into_iter().find(|step| step.tracepoint() == name)
    }
}

/// A call from one CPU to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CpuCall {
    /// `ipi_send_cpu`: an interrupt is sent, from this place in the kernel (6.5).
    Sent {
        /// To this CPU.
        target: Cpu,
        /// From this function.
        from: Symbol,
    },
    /// `csd_queue_cpu`: a function is queued for another CPU (6.5).
    Queued {
        /// That CPU.
        target: Cpu,
        /// The function.
        function: Symbol,
    },
    /// `csd_function_entry`: it begins there.
    Started {
        /// The function.
        function: Symbol,
    },
    /// `csd_function_exit`: it is done.
    Ended {
        /// The function.
        function: Symbol,
    },
}
