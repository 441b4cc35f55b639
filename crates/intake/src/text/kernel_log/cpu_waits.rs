//! For what a CPU waits that does not sleep: another CPU's answer, or a lock.

/// Functions that wait until other CPUs have answered a call or joined, by how their names begin (`kernel/smp.c`, `kernel/stop_machine.c`,
/// `arch/x86/mm/tlb.c`, `arch/sparc/kernel/smp_64.c`). That which such a call runs on the CPU itself would be the innermost one.
const FOR_ANSWERS: [&str; 18] = [
    "smp_call_function_single",
    "smp_call_function_many",
    "smp_call_function_any",
    "smp_call_on_cpu",
    "on_each_cpu_",
    "csd_lock_wait",
    "__csd_lock_wait",
    "csd_lock_record",
    "multi_cpu_stop",
    "stop_machine_",
    "kick_all_cpus_sync",
    "flush_tlb_",
    "native_flush_tlb_others",
    "native_flush_tlb_multi",
    "smp_flush_tlb_",
    "smp_cross_call",
    "hypervisor_xcall_deliver",
    "cheetah_xcall_deliver",
];
/// The same names of what a CPU does itself.
const OWN: [&str; 5] = [
    "flush_tlb_func",
    "flush_tlb_one",
    "flush_tlb_local",
    "flush_tlb_page_local",
    "smp_call_function_single_interrupt",
];
/// Functions that spin for a lock, by how their names begin (`kernel/locking`).
const FOR_LOCKS: [&str; 12] = [
    "queued_spin_lock_slowpath",
    "native_queued_spin_lock_slowpath",
    "__pv_queued_spin_lock_slowpath",
    "queued_read_lock_slowpath",
    "queued_write_lock_slowpath",
    "_raw_spin_lock",
    "__raw_spin_lock",
    "_raw_read_lock",
    "_raw_write_lock",
    "do_raw_spin_lock",
    "do_raw_read_lock",
    "do_raw_write_lock",
];
/// A function of a lock is one of the innermost ones: below it is how it waits (`native_safe_halt` from `kvm_wait`).
const INNERMOST: usize = 3;

/// True where the innermost function waits for other CPUs.
pub(super) fn is_for_answer(functions: &[&str]) -> bool {
    let begins = |name: &str, list: &[&str]| list.iter().any(|begin| name.starts_with(begin));
    functions.first().is_some_and(|name| begins(name, &FOR_ANSWERS) && !begins(name, &OWN))
}

/// True where one of the innermost functions spins for a lock.
pub(super) fn is_for_lock(functions: &[&str]) -> bool {
    let innermost = functions.iter().take(INNERMOST);
    innermost.into_iter().any(|name| FOR_LOCKS.iter().any(|begin| name.starts_with(begin)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_innermost_function_waits_for_an_answer() {
        for (functions, is_one) in [
            (&["smp_call_function_many_cond", "flush_tlb_mm_range"][..], true),
            (&["csd_lock_wait", "smp_call_function_single"], true),
            (&["multi_cpu_stop", "cpu_stopper_thread"], true),
            (&["flush_tlb_mm_range", "unmap_region"], true),
            (&["flush_tlb_func", "smp_call_function_many_cond"], false),
            (&["spin", "smp_call_function_single"], false),
            (&["generic_smp_call_function_single_interrupt"], false),
            (&[], false),
        ] {
            assert_eq!(is_for_answer(functions), is_one, "{functions:?}");
        }
        assert!(is_for_lock(&["native_safe_halt", "kvm_wait", "__pv_queued_spin_lock_slowpath", "take"]));
        assert!(!is_for_lock(&["spin", "a", "b", "_raw_spin_lock"]));
    }
}
