//! The formats our own records are written by.
//!
//! Names, types and print formats are the kernel's (`include/trace/events/`, `kernel/trace/trace_entries.h`);
//! a field that typed events do not have is missing, and `<...>` or `?` stands for it in what is printed.

use std::fmt::Write;
use whylate_events::ContextFlags;

/// What a field is, and so how large and how aligned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// A signed integer of that many bytes.
    Signed(usize),
    /// An unsigned integer or pointer of that many bytes.
    Unsigned(usize),
    /// `char comm[16]`
    Comm,
    /// `__data_loc char[]`: the text stands behind all fields.
    DataLoc,
    /// Six longs.
    SixLongs,
    /// Text up to the record's end.
    Text,
    /// Longs up to the record's end.
    Longs,
}

impl Shape {
    /// Bytes it takes, 0 when it takes the rest of the record; and what its offset is a multiple of.
    pub(super) fn layout(self) -> (usize, usize) {
        match self {
            Shape::Signed(size) | Shape::Unsigned(size) => (size, size),
            Shape::Comm => (16, 1),
            Shape::DataLoc => (4, 4),
            Shape::SixLongs => (48, 8),
            Shape::Text => (0, 1),
            Shape::Longs => (0, 8),
        }
    }
}

/// One format.
#[derive(Debug)]
pub(super) struct Spec {
    /// The number in `common_type`.
    pub(super) id: u16,
    pub(super) group: &'static str,
    pub(super) name: &'static str,
    /// Declarations and shapes.
    pub(super) fields: &'static [(&'static str, Shape)],
    pub(super) print_fmt: &'static str,
}

/// Bytes of the fields that every event begins with.
pub(super) const COMMON: usize = 8;

/// What the common fields show of the interrupt state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Common {
    /// Nothing.
    Unknown,
    /// In the bits of kernels before 6.12: 0x02 is `IRQS_NOSUPPORT`.
    OldFlags,
    /// In those of later ones: it is `NEED_RESCHED_LAZY`.
    Flags,
}

impl Common {
    /// `common_flags`
    pub(super) fn flags(self, flags: ContextFlags) -> u8 {
        let bits = (flags.0 & 0xff) as u8;
        match self {
            // IRQS_NOSUPPORT, which other tools show as unknown.
            Common::Unknown => 0x02,
            Common::OldFlags if flags.contains(ContextFlags::IRQS_UNKNOWN) => bits | 0x02,
            Common::OldFlags => bits & !0x02,
            Common::Flags => bits,
        }
    }

    /// Where nothing is known, the flags have a second name for that: by the bits alone it cannot be determined,
    /// as their meaning changed.
    fn fields(self) -> String {
        let unknown = "\tfield:unsigned char common_irqs_unknown;\toffset:2;\tsize:1;\tsigned:0;\n";
        format!(
            "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\
             \tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n\
             \tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n\
             \tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n{}\n",
            if self == Common::Unknown { unknown } else { "" }
        )
    }
}

/// The text of a `format` file.
pub(super) fn text(common: Common, name: &str, id: u16, fields: &[(&str, Shape)], print_fmt: &str) -> String {
    let mut text = format!("name: {name}\nID: {id}\nformat:\n{}", common.fields());
    let mut at = COMMON;
    for (declaration, shape) in fields {
        let (size, align) = shape.layout();
        at = at.next_multiple_of(align);
        let signed = u8::from(matches!(shape, Shape::Signed(_)));
        // Writing to a string does not fail.
        let _ = writeln!(text, "\tfield:{declaration};\toffset:{at};\tsize:{size};\tsigned:{signed};");
        at += size;
    }
    let _ = write!(text, "\nprint fmt: {print_fmt}\n");
    text
}

macro_rules! specs {
    ($($constant:ident = $id:literal $group:literal $name:literal { $($declaration:literal $shape:expr),* } $print:literal;)*) => {
        $(pub(super) const $constant: Spec = {
            use Shape::*;
            Spec { id: $id, group: $group, name: $name, fields: &[$(($declaration, $shape)),*], print_fmt: $print }
        };)*

        /// All of them.
        pub(super) const ALL: &[&Spec] = &[$(&$constant),*];
    };
}

specs! {
    FUNCTION = 1 "ftrace" "function" { "unsigned long ip" Unsigned(8), "unsigned long parent_ip" Unsigned(8) }
        r#"" %ps <-- %ps", (void *)REC->ip, (void *)REC->parent_ip"#;
    STACK = 4 "ftrace" "kernel_stack" { "int size" Signed(4), "unsigned long caller[]" Longs }
        r#""\t=> %ps\n", (void *)REC->caller[0]"#;
    PRINT = 5 "ftrace" "print" { "unsigned long ip" Unsigned(8), "char buf[]" Text }
        r#""%ps: %s", (void *)REC->ip, REC->buf"#;
    GRAPH_EXIT = 10 "ftrace" "funcgraph_exit" {
        "unsigned long func" Unsigned(8), "unsigned long long calltime" Unsigned(8),
        "unsigned long long rettime" Unsigned(8), "int depth" Signed(4) }
        r#""<-- %ps (%d) (start: %llx  end: %llx)", (void *)REC->func, REC->depth, REC->calltime, REC->rettime"#;
    GRAPH_ENTRY = 11 "ftrace" "funcgraph_entry" { "unsigned long func" Unsigned(8), "int depth" Signed(4) }
        r#""--> %ps (%d)", (void *)REC->func, REC->depth"#;
    HWLAT = 15 "ftrace" "hwlat" { "u64 duration" Unsigned(8), "u64 outer_duration" Unsigned(8) }
        r#""inner:%llu\touter:%llu\n", REC->duration, REC->outer_duration"#;
    OSNOISE = 16 "ftrace" "osnoise" {
        "u64 noise" Unsigned(8), "u64 runtime" Unsigned(8), "u64 max_sample" Unsigned(8),
        "unsigned int hw_count" Unsigned(4), "unsigned int nmi_count" Unsigned(4),
        "unsigned int irq_count" Unsigned(4), "unsigned int softirq_count" Unsigned(4),
        "unsigned int thread_count" Unsigned(4) }
        r#""noise:%llu\tmax_sample:%llu\thw:%u\tnmi:%u\tirq:%u\tsoftirq:%u\tthread:%u\n", REC->noise, REC->max_sample, REC->hw_count, REC->nmi_count, REC->irq_count, REC->softirq_count, REC->thread_count"#;
    TIMERLAT = 17 "ftrace" "timerlat" {
        "unsigned int seqnum" Unsigned(4), "int context" Signed(4), "u64 timer_latency" Unsigned(8) }
        r#""seq:%u\tcontext:%d\ttimer_latency:%llu\n", REC->seqnum, REC->context, REC->timer_latency"#;

    SWITCH = 100 "sched" "sched_switch" {
        "char prev_comm[16]" Comm, "pid_t prev_pid" Signed(4), "int prev_prio" Signed(4), "long prev_state" Signed(8),
        "char next_comm[16]" Comm, "pid_t next_pid" Signed(4), "int next_prio" Signed(4) }
        r#""prev_comm=%s prev_pid=%d prev_prio=%d prev_state=%s%s ==> next_comm=%s next_pid=%d next_prio=%d", REC->prev_comm, REC->prev_pid, REC->prev_prio, (REC->prev_state & 0xff) ? __print_flags(REC->prev_state & 0xff, "|", { 0x1, "S" }, { 0x2, "D" }, { 0x4, "T" }, { 0x8, "t" }, { 0x10, "X" }, { 0x20, "Z" }, { 0x40, "P" }, { 0x80, "I" }) : "R", REC->prev_state & 0x100 ? "+" : "", REC->next_comm, REC->next_pid, REC->next_prio"#;
    WAKING = 101 "sched" "sched_waking" {
        "char comm[16]" Comm, "pid_t pid" Signed(4), "int prio" Signed(4), "int target_cpu" Signed(4) }
        r#""comm=%s pid=%d prio=%d target_cpu=%03d", REC->comm, REC->pid, REC->prio, REC->target_cpu"#;
    WAKEUP = 102 "sched" "sched_wakeup" {
        "char comm[16]" Comm, "pid_t pid" Signed(4), "int prio" Signed(4), "int target_cpu" Signed(4) }
        r#""comm=%s pid=%d prio=%d target_cpu=%03d", REC->comm, REC->pid, REC->prio, REC->target_cpu"#;
    WAKEUP_NEW = 103 "sched" "sched_wakeup_new" {
        "char comm[16]" Comm, "pid_t pid" Signed(4), "int prio" Signed(4), "int target_cpu" Signed(4) }
        r#""comm=%s pid=%d prio=%d target_cpu=%03d", REC->comm, REC->pid, REC->prio, REC->target_cpu"#;
    MIGRATE = 104 "sched" "sched_migrate_task" {
        "pid_t pid" Signed(4), "int orig_cpu" Signed(4), "int dest_cpu" Signed(4) }
        r#""comm=<...> pid=%d prio=? orig_cpu=%d dest_cpu=%d", REC->pid, REC->orig_cpu, REC->dest_cpu"#;
    FORK = 105 "sched" "sched_process_fork" {
        "pid_t parent_pid" Signed(4), "char child_comm[16]" Comm, "pid_t child_pid" Signed(4) }
        r#""comm=<...> pid=%d child_comm=%s child_pid=%d", REC->parent_pid, REC->child_comm, REC->child_pid"#;
    EXEC = 106 "sched" "sched_process_exec" { "pid_t pid" Signed(4), "pid_t old_pid" Signed(4) }
        r#""filename=<...> pid=%d old_pid=%d", REC->pid, REC->old_pid"#;
    EXIT = 107 "sched" "sched_process_exit" { "pid_t pid" Signed(4) } r#""comm=<...> pid=%d prio=?", REC->pid"#;
    PI_SETPRIO = 108 "sched" "sched_pi_setprio" {
        "pid_t pid" Signed(4), "int oldprio" Signed(4), "int newprio" Signed(4) }
        r#""comm=<...> pid=%d oldprio=%d newprio=%d", REC->pid, REC->oldprio, REC->newprio"#;

    BLOCKED_REASON = 109 "sched" "sched_blocked_reason" {
        "pid_t pid" Signed(4), "void * caller" Unsigned(8), "bool io_wait" Unsigned(1) }
        r#""pid=%d iowait=%d caller=%pS", REC->pid, REC->io_wait, REC->caller"#;

    IRQ_ENTRY = 110 "irq" "irq_handler_entry" { "int irq" Signed(4), "__data_loc char[] name" DataLoc }
        r#""irq=%d name=%s", REC->irq, __get_str(name)"#;
    IRQ_EXIT = 111 "irq" "irq_handler_exit" { "int irq" Signed(4) } r#""irq=%d", REC->irq"#;
    SOFTIRQ_RAISE = 112 "irq" "softirq_raise" { "unsigned int vec" Unsigned(4) }
        r#""vec=%u [action=%s]", REC->vec, __print_symbolic(REC->vec, { 0, "HI" }, { 1, "TIMER" }, { 2, "NET_TX" }, { 3, "NET_RX" }, { 4, "BLOCK" }, { 5, "IRQ_POLL" }, { 6, "TASKLET" }, { 7, "SCHED" }, { 8, "HRTIMER" }, { 9, "RCU" })"#;
    SOFTIRQ_ENTRY = 113 "irq" "softirq_entry" { "unsigned int vec" Unsigned(4) }
        r#""vec=%u [action=%s]", REC->vec, __print_symbolic(REC->vec, { 0, "HI" }, { 1, "TIMER" }, { 2, "NET_TX" }, { 3, "NET_RX" }, { 4, "BLOCK" }, { 5, "IRQ_POLL" }, { 6, "TASKLET" }, { 7, "SCHED" }, { 8, "HRTIMER" }, { 9, "RCU" })"#;
    SOFTIRQ_EXIT = 114 "irq" "softirq_exit" { "unsigned int vec" Unsigned(4) }
        r#""vec=%u [action=%s]", REC->vec, __print_symbolic(REC->vec, { 0, "HI" }, { 1, "TIMER" }, { 2, "NET_TX" }, { 3, "NET_RX" }, { 4, "BLOCK" }, { 5, "IRQ_POLL" }, { 6, "TASKLET" }, { 7, "SCHED" }, { 8, "HRTIMER" }, { 9, "RCU" })"#;

    HRTIMER_START = 120 "timer" "hrtimer_start" {
        "void * hrtimer" Unsigned(8), "void * function" Unsigned(8), "s64 expires" Signed(8),
        "s64 softexpires" Signed(8) }
        r#""hrtimer=%p function=%ps expires=%llu softexpires=%llu", REC->hrtimer, REC->function, (unsigned long long) REC->expires, (unsigned long long) REC->softexpires"#;
    HRTIMER_CANCEL = 121 "timer" "hrtimer_cancel" { "void * hrtimer" Unsigned(8) } r#""hrtimer=%p", REC->hrtimer"#;
    HRTIMER_EXPIRE = 122 "timer" "hrtimer_expire_entry" {
        "void * hrtimer" Unsigned(8), "s64 now" Signed(8), "void * function" Unsigned(8) }
        r#""hrtimer=%p function=%ps now=%llu", REC->hrtimer, REC->function, (unsigned long long) REC->now"#;
    HRTIMER_EXPIRE_EXIT = 123 "timer" "hrtimer_expire_exit" { "void * hrtimer" Unsigned(8) }
        r#""hrtimer=%p", REC->hrtimer"#;
    TIMER_EXPIRE = 124 "timer" "timer_expire_entry" { "void * timer" Unsigned(8), "void * function" Unsigned(8) }
        r#""timer=%p function=%ps", REC->timer, REC->function"#;
    TIMER_EXPIRE_EXIT = 125 "timer" "timer_expire_exit" { "void * timer" Unsigned(8) } r#""timer=%p", REC->timer"#;

    SYS_ENTER = 130 "raw_syscalls" "sys_enter" { "long id" Signed(8), "unsigned long args[6]" SixLongs }
        r#""NR %ld (%lx, %lx, %lx, %lx, %lx, %lx)", REC->id, REC->args[0], REC->args[1], REC->args[2], REC->args[3], REC->args[4], REC->args[5]"#;
    SYS_EXIT = 131 "raw_syscalls" "sys_exit" { "long id" Signed(8), "long ret" Signed(8) }
        r#""NR %ld = %ld", REC->id, REC->ret"#;
    PAGE_FAULT_USER = 132 "exceptions" "page_fault_user" {
        "unsigned long address" Unsigned(8), "unsigned long ip" Unsigned(8), "unsigned long error_code" Unsigned(8) }
        r#""address=0x%lx ip=0x%lx error_code=0x%lx", REC->address, REC->ip, REC->error_code"#;
    PAGE_FAULT_KERNEL = 133 "exceptions" "page_fault_kernel" {
        "unsigned long address" Unsigned(8), "unsigned long ip" Unsigned(8), "unsigned long error_code" Unsigned(8) }
        r#""address=0x%lx ip=0x%lx error_code=0x%lx", REC->address, REC->ip, REC->error_code"#;
    CONTENTION_BEGIN = 134 "lock" "contention_begin" { "void * lock_addr" Unsigned(8), "unsigned int flags" Unsigned(4) }
        r#""%p (flags=%s)", REC->lock_addr, __print_flags(REC->flags, "|", { 1, "SPIN" }, { 2, "READ" }, { 4, "WRITE" }, { 8, "RT" }, { 16, "PERCPU" }, { 32, "MUTEX" })"#;
    CONTENTION_END = 135 "lock" "contention_end" { "void * lock_addr" Unsigned(8), "int ret" Signed(4) }
        r#""%p (ret=%d)", REC->lock_addr, REC->ret"#;
    CPU_IDLE = 136 "power" "cpu_idle" { "u32 state" Unsigned(4), "u32 cpu_id" Unsigned(4) }
        r#""state=%lu cpu_id=%lu", (unsigned long)REC->state, (unsigned long)REC->cpu_id"#;
    KVM_ENTRY = 166 "kvm" "kvm_entry" { "unsigned int vcpu_id" Unsigned(4) } r#""vcpu_id=%u", REC->vcpu_id"#;
    KVM_EXIT = 167 "kvm" "kvm_exit" {
        "unsigned int exit_reason" Unsigned(4), "u32 isa" Unsigned(4), "unsigned int vcpu_id" Unsigned(4) }
        r#""exit_reason=%u isa=%u vcpu_id=%u", REC->exit_reason, REC->isa, REC->vcpu_id"#;
    NMI = 137 "nmi" "nmi_handler" { "s64 delta_ns" Signed(8) } r#""delta_ns: %lld", REC->delta_ns"#;
    SIGNAL = 138 "signal" "signal_generate" {
        "int sig" Signed(4), "int code" Signed(4), "char comm[16]" Comm, "pid_t pid" Signed(4) }
        r#""sig=%d code=%d comm=%s pid=%d", REC->sig, REC->code, REC->comm, REC->pid"#;

    NAPI_POLL = 150 "napi" "napi_poll" {
        "__data_loc char[] dev_name" DataLoc, "int work" Signed(4), "int budget" Signed(4) }
        r#""napi poll on napi struct <...> for device %s work %d budget %d", __get_str(dev_name), REC->work, REC->budget"#;
    NET_DEV_QUEUE = 151 "net" "net_dev_queue" {
        "void * skbaddr" Unsigned(8), "unsigned int len" Unsigned(4), "__data_loc char[] name" DataLoc }
        r#""dev=%s skbaddr=%p len=%u", __get_str(name), REC->skbaddr, REC->len"#;
    NET_DEV_START_XMIT = 152 "net" "net_dev_start_xmit" {
        "void * skbaddr" Unsigned(8), "unsigned int len" Unsigned(4), "__data_loc char[] name" DataLoc }
        r#""dev=%s skbaddr=%p len=%u", __get_str(name), REC->skbaddr, REC->len"#;
    NET_DEV_XMIT = 153 "net" "net_dev_xmit" {
        "void * skbaddr" Unsigned(8), "unsigned int len" Unsigned(4), "__data_loc char[] name" DataLoc }
        r#""dev=%s skbaddr=%p len=%u", __get_str(name), REC->skbaddr, REC->len"#;
    NETIF_RX = 154 "net" "netif_rx" {
        "void * skbaddr" Unsigned(8), "unsigned int len" Unsigned(4), "__data_loc char[] name" DataLoc }
        r#""dev=%s skbaddr=%p len=%u", __get_str(name), REC->skbaddr, REC->len"#;
    NETIF_RECEIVE_SKB = 155 "net" "netif_receive_skb" {
        "void * skbaddr" Unsigned(8), "unsigned int len" Unsigned(4), "__data_loc char[] name" DataLoc }
        r#""dev=%s skbaddr=%p len=%u", __get_str(name), REC->skbaddr, REC->len"#;
    SKB_COPY = 156 "skb" "skb_copy_datagram_iovec" { "void * skbaddr" Unsigned(8), "int len" Signed(4) }
        r#""skbaddr=%p len=%d", REC->skbaddr, REC->len"#;
    WORK_QUEUE = 157 "workqueue" "workqueue_queue_work" { "void * work" Unsigned(8), "void * function" Unsigned(8) }
        r#""work struct=%p function=%ps", REC->work, REC->function"#;
    WORK_ACTIVATE = 158 "workqueue" "workqueue_activate_work" {
        "void * work" Unsigned(8), "void * function" Unsigned(8) }
        r#""work struct %p function=%ps ", REC->work, REC->function"#;
    WORK_START = 159 "workqueue" "workqueue_execute_start" {
        "void * work" Unsigned(8), "void * function" Unsigned(8) }
        r#""work struct %p: function %ps", REC->work, REC->function"#;
    WORK_END = 160 "workqueue" "workqueue_execute_end" {
        "void * work" Unsigned(8), "void * function" Unsigned(8) }
        r#""work struct %p: function %ps", REC->work, REC->function"#;
    IPI_SEND = 161 "ipi" "ipi_send_cpu" { "unsigned int cpu" Unsigned(4), "void * callsite" Unsigned(8) }
        r#""cpu=%u callsite=%pS", REC->cpu, REC->callsite"#;
    CSD_QUEUE = 162 "csd" "csd_queue_cpu" { "unsigned int cpu" Unsigned(4), "void * func" Unsigned(8) }
        r#""cpu=%u func=%ps", REC->cpu, REC->func"#;
    CSD_START = 163 "csd" "csd_function_entry" { "void * func" Unsigned(8) } r#""func=%ps", REC->func"#;
    CSD_END = 164 "csd" "csd_function_exit" { "void * func" Unsigned(8) } r#""func=%ps", REC->func"#;
    CPU_FREQUENCY = 165 "power" "cpu_frequency" { "u32 state" Unsigned(4), "u32 cpu_id" Unsigned(4) }
        r#""state=%lu cpu_id=%lu", (unsigned long)REC->state, (unsigned long)REC->cpu_id"#;

    NMI_NOISE = 140 "osnoise" "nmi_noise" { "u64 start" Unsigned(8), "u64 duration" Unsigned(8) }
        r#""start %llu duration %llu ns", REC->start, REC->duration"#;
    IRQ_NOISE = 141 "osnoise" "irq_noise" {
        "u64 start" Unsigned(8), "u64 duration" Unsigned(8), "__data_loc char[] desc" DataLoc, "int vector" Signed(4) }
        r#""%s:%d start %llu duration %llu ns", __get_str(desc), REC->vector, REC->start, REC->duration"#;
    SOFTIRQ_NOISE = 142 "osnoise" "softirq_noise" {
        "u64 start" Unsigned(8), "u64 duration" Unsigned(8), "int vector" Signed(4) }
        r#""%d start %llu duration %llu ns", REC->vector, REC->start, REC->duration"#;
    THREAD_NOISE = 143 "osnoise" "thread_noise" {
        "char comm[16]" Comm, "u64 start" Unsigned(8), "u64 duration" Unsigned(8), "pid_t pid" Signed(4) }
        r#""%8s:%d start %llu duration %llu ns", REC->comm, REC->pid, REC->start, REC->duration"#;
    SAMPLE_THRESHOLD = 144 "osnoise" "sample_threshold" {
        "u64 start" Unsigned(8), "u64 duration" Unsigned(8), "u64 interference" Unsigned(8) }
        r#""start %llu duration %llu ns interference %llu", REC->start, REC->duration, REC->interference"#;

    OTHER = 199 "whylate" "other" { "unsigned char unknown" Unsigned(1) } r#""""#;
}

/// The first id of the architecture's vectors, whose formats are made as they come.
pub(super) const FIRST_VECTOR: u16 = 200;
