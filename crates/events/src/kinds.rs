//! Kinds of events, and sets of them: what an analysis asks for and a recording has.

use std::fmt;

/// A kind of event: the unit in which an analysis declares what it needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
#[allow(missing_docs, reason = "each is the EventKind of the same name")]
pub enum Kind {
    Switch,
    Waking,
    Wakeup,
    Migrate,
    Fork,
    Exec,
    Exit,
    PiSetprio,
    BlockedReason,
    Irq,
    Vector,
    Softirq,
    HrtimerStart,
    HrtimerExpire,
    TimerExpire,
    Syscall,
    PageFault,
    Contention,
    CpuIdle,
    Nmi,
    Signal,
    Marker,
    Function,
    FunctionGraph,
    Stack,
    Timerlat,
    Osnoise,
    Hwlat,
    Preemptirq,
    NapiPoll,
    Packet,
    Work,
    CpuCall,
    CpuFrequency,
    Kvm,
    Lost,
    Other,
}

impl Kind {
    /// Every kind, in declaration order.
    pub const ALL: [Kind; 37] = [
        Kind::Switch,
        Kind::Waking,
        Kind::Wakeup,
        Kind::Migrate,
        Kind::Fork,
        Kind::Exec,
        Kind::Exit,
        Kind::PiSetprio,
        Kind::BlockedReason,
        Kind::Irq,
        Kind::Vector,
        Kind::Softirq,
        Kind::HrtimerStart,
        Kind::HrtimerExpire,
        Kind::TimerExpire,
        Kind::Syscall,
        Kind::PageFault,
        Kind::Contention,
        Kind::CpuIdle,
        Kind::Nmi,
        Kind::Signal,
        Kind::Marker,
        Kind::Function,
        Kind::FunctionGraph,
        Kind::Stack,
        Kind::Timerlat,
        Kind::Osnoise,
        Kind::Hwlat,
        Kind::Preemptirq,
        Kind::NapiPoll,
        Kind::Packet,
        Kind::Work,
        Kind::CpuCall,
        Kind::CpuFrequency,
        Kind::Kvm,
        Kind::Lost,
        Kind::Other,
    ];

    /// The tracepoints behind it as `group:event`, what one would record to have it.
    pub fn tracepoints(self) -> &'static [&'static str] {
        match self {
            Kind::Switch => &["sched:sched_switch"],
            Kind::Waking => &["sched:sched_waking"],
            Kind::Wakeup => &["sched:sched_wakeup", "sched:sched_wakeup_new"],
            Kind::Migrate => &["sched:sched_migrate_task"],
            Kind::Fork => &["sched:sched_process_fork"],
            Kind::Exec => &["sched:sched_process_exec"],
            Kind::Exit => &["sched:sched_process_exit"],
            Kind::PiSetprio => &["sched:sched_pi_setprio"],
            Kind::BlockedReason => &["sched:sched_blocked_reason"],
            Kind::Irq => &["irq:irq_handler_entry", "irq:irq_handler_exit"],
            Kind::Vector => &["irq_vectors"],
            Kind::Softirq => &["irq:softirq_raise", "irq:softirq_entry", "irq:softirq_exit"],
            Kind::HrtimerStart => &["timer:hrtimer_start", "timer:hrtimer_cancel"],
            Kind::HrtimerExpire => &["timer:hrtimer_expire_entry", "timer:hrtimer_expire_exit"],
            Kind::TimerExpire => &["timer:timer_expire_entry", "timer:timer_expire_exit"],
            Kind::Syscall => &["raw_syscalls:sys_enter", "raw_syscalls:sys_exit"],
            Kind::PageFault => &["exceptions:page_fault_user", "exceptions:page_fault_kernel"],
            Kind::Contention => &["lock:contention_begin", "lock:contention_end"],
            Kind::CpuIdle => &["power:cpu_idle"],
            Kind::Nmi => &["nmi:nmi_handler"],
            Kind::Signal => &["signal:signal_generate"],
            Kind::Marker => &["ftrace:print"],
            Kind::Function => &["ftrace:function"],
            Kind::FunctionGraph => &["ftrace:funcgraph_entry", "ftrace:funcgraph_exit"],
            Kind::Stack => &["ftrace:kernel_stack"],
            Kind::Timerlat => &["ftrace:timerlat"],
            Kind::Osnoise => &["osnoise", "ftrace:osnoise"],
            Kind::Hwlat => &["ftrace:hwlat"],
            Kind::Preemptirq => &["preemptirq"],
            Kind::NapiPoll => &["napi:napi_poll"],
            Kind::Packet => &[
                "net:net_dev_queue",
                "net:net_dev_xmit",
                "net:netif_rx",
                "net:netif_receive_skb",
                "skb:skb_copy_datagram_iovec",
            ],
            Kind::Work => &[
                "workqueue:workqueue_queue_work",
                "workqueue:workqueue_activate_work",
                "workqueue:workqueue_execute_start",
                "workqueue:workqueue_execute_end",
            ],
            Kind::CpuCall => &["ipi:ipi_send_cpu"],
            Kind::CpuFrequency => &["power:cpu_frequency"],
            Kind::Kvm => &["kvm:kvm_entry", "kvm:kvm_exit"],
            Kind::Lost | Kind::Other => &[],
        }
    }
}

/// A set of [`Kind`]s.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct KindSet(u64);

impl KindSet {
    /// No kind.
    pub const NONE: KindSet = KindSet(0);
    /// Every kind.
    pub const ALL: KindSet = KindSet((1 << Kind::ALL.len()) - 1);

    /// A set of the given kinds.
    pub const fn of(kinds: &[Kind]) -> KindSet {
        let mut bits = 0;
        let mut i = 0;
        while i < kinds.len() {
            bits |= 1 << kinds[i] as u64;
            i += 1;
        }
        KindSet(bits)
    }

    /// True when `kind` is in the set.
    pub const fn contains(self, kind: Kind) -> bool {
        self.0 & (1 << kind as u64) != 0
    }

    /// Adds `kind`.
    pub fn insert(&mut self, kind: Kind) {
        self.0 |= 1 << kind as u64;
    }

    /// What is in `self` and not in `other`.
    pub const fn minus(self, other: KindSet) -> KindSet {
        KindSet(self.0 & !other.0)
    }

    /// What is in either.
    pub const fn union(self, other: KindSet) -> KindSet {
        KindSet(self.0 | other.0)
    }

    /// True when nothing is in the set.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The members, in declaration order.
    pub fn iter(self) -> impl Iterator<Item = Kind> {
        Kind::ALL.into_iter().filter(move |&kind| self.contains(kind))
    }
}

impl FromIterator<Kind> for KindSet {
    fn from_iter<I: IntoIterator<Item = Kind>>(kinds: I) -> Self {
        let mut set = KindSet::NONE;
        kinds.into_iter().for_each(|kind| set.insert(kind));
        set
    }
}

impl fmt::Debug for KindSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_lists_every_kind_once_in_order() {
        for (index, kind) in Kind::ALL.into_iter().enumerate() {
            assert_eq!(kind as usize, index);
        }
        assert_eq!(Kind::Other as usize + 1, Kind::ALL.len());
    }

    #[test]
    fn sets_behave_as_sets() {
        let set = KindSet::of(&[Kind::Switch, Kind::Lost]);
        assert!(set.contains(Kind::Lost) && !set.contains(Kind::Irq));
        assert_eq!(KindSet::ALL.minus(set).union(set), KindSet::ALL);
        assert_eq!(set.iter().collect::<KindSet>(), set);
    }
}
