//! What a host's kernel traces of its guests' CPUs (`kvm`): when each executes the guest's code, and why it stopped.

use std::borrow::Cow;

/// A guest's CPU begins or ceases to execute the guest's code. The event's thread is that CPU's thread on the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kvm {
    /// `kvm_entry`: from here on the CPU executes the guest's code.
    Entry {
        /// The guest's CPU; `None` where the kernel does not trace it (x86 before 5.10, arm64).
        vcpu: Option<u32>,
    },
    /// `kvm_exit`: the CPU has left the guest's code.
    Exit {
        /// As for entry.
        vcpu: Option<u32>,
        /// Why.
        reason: KvmExitReason,
    },
}

/// Why a CPU left its guest's code, by the numbers of the processor's architecture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct KvmExitReason {
    /// Whose numbers they are: [`KvmExitReason::VMX`], [`KvmExitReason::SVM`], [`KvmExitReason::ARM`].
    pub isa: u32,
    /// The number. Of arm64 a trap is [`KvmExitReason::ARM_TRAP`] and its exception class (`ESR_ELx.EC`).
    pub code: u32,
}

impl KvmExitReason {
    /// Intel's numbers (`KVM_ISA_VMX`, `arch/x86/kvm/trace.h`).
    pub const VMX: u32 = 1;
    /// AMD's numbers (`KVM_ISA_SVM`).
    pub const SVM: u32 = 2;
    /// Those of arm64: the kernel traces no number for them, and this one is our own.
    pub const ARM: u32 = 3;
    /// A trap of arm64, plus its exception class.
    pub const ARM_TRAP: u32 = 0x100;

    /// The kernel's name, such as `EPT_VIOLATION`, `npf` or `WFx`; a number where it has none here.
    pub fn name(self) -> Cow<'static, str> {
        let KvmExitReason { isa, code } = self;
        // The upper half of Intel's has flags (`VMX_EXIT_REASONS_FAILED_VMENTRY`).
        let code = if isa == KvmExitReason::VMX { code & 0xffff } else { code };
        match table(isa).iter().find(|(number, _)| *number == code) {
            Some((_, name)) => Cow::Borrowed(name),
            None => Cow::Owned(format!("{code:#x}")),
        }
    }

    /// The reason of a [`name`](Self::name), in the text of x86.
    pub fn of_x86_name(name: &str) -> Option<KvmExitReason> {
        [KvmExitReason::VMX, KvmExitReason::SVM].into_iter().find_map(|isa| {
            let &(code, _) = table(isa).iter().find(|(_, known)| *known == name)?;
            Some(KvmExitReason { isa, code })
        })
    }

    /// The reason of arm64 by the two fields of its event (`arch/arm64/kvm/trace_arm.h`).
    pub fn of_arm(ret: u32, class: u32) -> KvmExitReason {
        let code = if ret == ARM_EXCEPTION_TRAP { KvmExitReason::ARM_TRAP + (class & 0x3f) } else { ret };
        KvmExitReason { isa: KvmExitReason::ARM, code }
    }
}

/// `ARM_EXCEPTION_TRAP` (`arch/arm64/include/asm/kvm_asm.h`).
const ARM_EXCEPTION_TRAP: u32 = 2;

fn table(isa: u32) -> &'static [(u32, &'static str)] {
    match isa {
        KvmExitReason::VMX => VMX_REASONS,
        KvmExitReason::SVM => SVM_REASONS,
        KvmExitReason::ARM => ARM_REASONS,
        _ => &[],
    }
}

/// `VMX_EXIT_REASONS` (`arch/x86/include/uapi/asm/vmx.h`).
const VMX_REASONS: &[(u32, &str)] = &[
    (0, "EXCEPTION_NMI"),
    (1, "EXTERNAL_INTERRUPT"),
    (2, "TRIPLE_FAULT"),
    (3, "INIT_SIGNAL"),
    (4, "SIPI_SIGNAL"),
    (6, "OTHER_SMI"),
    (7, "INTERRUPT_WINDOW"),
    (8, "NMI_WINDOW"),
    (9, "TASK_SWITCH"),
    (10, "CPUID"),
    (12, "HLT"),
    (13, "INVD"),
    (14, "INVLPG"),
    (15, "RDPMC"),
    (16, "RDTSC"),
    (18, "VMCALL"),
    (28, "CR_ACCESS"),
    (29, "DR_ACCESS"),
    (30, "IO_INSTRUCTION"),
    (31, "MSR_READ"),
    (32, "MSR_WRITE"),
    (33, "INVALID_STATE"),
    (36, "MWAIT_INSTRUCTION"),
    (37, "MONITOR_TRAP_FLAG"),
    (39, "MONITOR_INSTRUCTION"),
    (40, "PAUSE_INSTRUCTION"),
    (43, "TPR_BELOW_THRESHOLD"),
    (44, "APIC_ACCESS"),
    (45, "EOI_INDUCED"),
    (46, "GDTR_IDTR"),
    (47, "LDTR_TR"),
    (48, "EPT_VIOLATION"),
    (49, "EPT_MISCONFIG"),
    (51, "RDTSCP"),
    (52, "PREEMPTION_TIMER"),
    (54, "WBINVD"),
    (55, "XSETBV"),
    (56, "APIC_WRITE"),
    (58, "INVPCID"),
    (62, "PML_FULL"),
    (74, "BUS_LOCK"),
    (75, "NOTIFY"),
];

/// `SVM_EXIT_REASONS` (`arch/x86/include/uapi/asm/svm.h`).
const SVM_REASONS: &[(u32, &str)] = &[
    (0x060, "interrupt"),
    (0x061, "nmi"),
    (0x062, "smi"),
    (0x063, "init"),
    (0x064, "vintr"),
    (0x072, "cpuid"),
    (0x077, "pause"),
    (0x078, "hlt"),
    (0x079, "invlpg"),
    (0x07b, "io"),
    (0x07c, "msr"),
    (0x07f, "shutdown"),
    (0x081, "hypercall"),
    (0x087, "rdtscp"),
    (0x089, "wbinvd"),
    (0x08a, "monitor"),
    (0x08b, "mwait"),
    (0x08d, "xsetbv"),
    (0x0a5, "bus_lock"),
    (0x400, "npf"),
    (0x401, "avic_incomplete_ipi"),
    (0x402, "avic_unaccelerated_access"),
    (0x403, "vmgexit"),
];

/// `kvm_arm_exception_type` and `kvm_arm_exception_class` (`arch/arm64/kvm/trace_arm.h`).
const ARM_REASONS: &[(u32, &str)] = &[
    (0, "IRQ"),
    (1, "SERROR"),
    (KvmExitReason::ARM_TRAP + 0x01, "WFx"),
    (KvmExitReason::ARM_TRAP + 0x07, "FP_ASIMD"),
    (KvmExitReason::ARM_TRAP + 0x12, "HVC32"),
    (KvmExitReason::ARM_TRAP + 0x16, "HVC64"),
    (KvmExitReason::ARM_TRAP + 0x17, "SMC64"),
    (KvmExitReason::ARM_TRAP + 0x18, "SYS64"),
    (KvmExitReason::ARM_TRAP + 0x20, "IABT_LOW"),
    (KvmExitReason::ARM_TRAP + 0x24, "DABT_LOW"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_have_the_kernels_names() {
        let name = |isa, code| KvmExitReason { isa, code }.name().into_owned();
        assert_eq!(name(KvmExitReason::VMX, 48), "EPT_VIOLATION");
        assert_eq!(name(KvmExitReason::VMX, 0x8000_0000 | 33), "INVALID_STATE");
        assert_eq!(name(KvmExitReason::SVM, 0x78), "hlt");
        assert_eq!(name(KvmExitReason::SVM, 0x999), "0x999");
        assert_eq!(name(9, 48), "0x30");
        assert_eq!(KvmExitReason::of_arm(2, 1).name(), "WFx");
        assert_eq!(KvmExitReason::of_arm(0, 1).name(), "IRQ");
        for isa in [KvmExitReason::VMX, KvmExitReason::SVM] {
            for &(code, name) in table(isa) {
                assert_eq!(KvmExitReason::of_x86_name(name), Some(KvmExitReason { isa, code }), "{name}");
            }
        }
        assert_eq!(KvmExitReason::of_x86_name("no such"), None);
    }
}
