//! Whether the registers in a report are those of user code: a thread that was interrupted there was not in the kernel.
//!
//! ```text
//! RIP: 0033:0x7f34a1b0c2d5                                            x86: the code segment has the lowest privilege
//! pstate: 60001000 (nZCv daif -PAN -UAO)                              arm64: EL0t, or a 32-bit program
//! Flags: nZCv  IRQs on  FIQs on  Mode USER_32  ISA ARM                arm
//! status: 0000000200004020 badaddr: 0 cause: 8000000000000005         riscv: neither SPP nor MPP
//! MSR:  900000000280f033 <SF,EE,PR,FP,ME,IR,DR,RI,LE>                 powerpc: PR
//! User PSW : 0705000180000000 000003ff8a1b2c3d                        s390
//! Status: 0000a413        USER EXL IE                                 mips
//! PRMD: 00000007 (PPLV3 +PIE -PWE)                                    loongarch
//! TSTATE: 0000004411001202 TPC: 00000000f7d1c2c4                      sparc64: not privileged
//! ```

use super::sparc;

/// The mode in the `pstate` of arm64: 0 is `EL0t`, with bit 4 a 32-bit program (`arch/arm64/include/uapi/asm/ptrace.h`).
const ARM64_MODE: u64 = 0xf;
/// `SR_SPP` and `SR_MPP` (`arch/riscv/include/asm/csr.h`): the privilege before the trap; none of user code.
const RISCV_PRIVILEGE: u64 = 0x1900;

/// True of a line that shows the registers to be of user code.
pub(super) fn are_of_user(message: &str) -> bool {
    let has = |words: &str| message.contains(words);
    ["RIP: 0033:", "RIP: 0023:", "EIP: 0073:", "Mode USER_", "User PSW :"].into_iter().any(has)
        || (has("(PPLV3") && has("PRMD: "))
        || (has("Status: ") && has("\tUSER "))
        || hex_behind(message, "pstate: ").is_some_and(|pstate| pstate & ARM64_MODE == 0)
        || sparc::are_of_user(message)
        || (has(" badaddr: ")
            && hex_behind(message, "status: ").is_some_and(|status| status & RISCV_PRIVILEGE == 0))
        || (message.split_once("MSR: ").and_then(|(_, msr)| msr.split_once('<')))
            .and_then(|(_, flags)| flags.split_once('>'))
            .is_some_and(|(flags, _)| flags.split(',').any(|flag| flag == "PR"))
}

/// The hexadecimal number behind these words.
fn hex_behind(message: &str, words: &str) -> Option<u64> {
    let word = message.split_once(words)?.1.split_whitespace().next()?;
    u64::from_str_radix(word, 16).ok().filter(|_| word.len() >= 8)
}

#[cfg(test)]
mod tests {
    use super::are_of_user;

    #[test]
    fn user_code_has_registers_of_its_own() {
        for line in [
            "RIP: 0033:0x7f1200345678",
            "EIP: 0073:[<b7712345>] EFLAGS: 00000246 CPU: 0",
            "pstate: 80001000 (Nzcv daif -PAN -UAO)",
            "pstate: 60000010 (nZCv q A32 LE aif -DIT -SSBS)",
            "Flags: nzCv  IRQs on  FIQs on  Mode USER_32  ISA Thumb  Segment user",
            "status: 0000000200000020 badaddr: 0000000000000000 cause: 8000000000000005",
            "MSR:  800000000280f033 <SF,VEC,VSX,EE,PR,FP,ME,IR,DR,RI,LE>  CR: 44000248  XER: 00000000",
            "User PSW : 0705000180000000 000003ff8a1b2c3d",
            "Status: 1000a413\tUSER EXL IE",
            " PRMD: 00000007 (PPLV3 +PIE -PWE)",
        ] {
            assert!(are_of_user(line), "{line}");
        }
        for line in [
            "RIP: 0010:spin+0x1/0x2",
            "pstate: 60000085 (nZCv daIf -PAN -UAO)",
            "pstate: 60400009 (nZCv daif +PAN -UAO)",
            "Flags: nzCv  IRQs on  FIQs on  Mode SVC_32  ISA ARM  Segment none",
            "status: 0000000200000120 badaddr: 0000000000000000 cause: 8000000000000005",
            "status: 0000000a00001880 badaddr: 0000000000000000 cause: 8000000000000007",
            "status: 0 badaddr: 0",
            "the status: 00000002 of the device",
            "MSR:  8000000002803033 <SF,VEC,VSX,FP,ME,IR,DR,RI,LE>",
            "Krnl PSW : 0404c00180000000 0000000000c1f2d4",
            " PRMD: 00000004 (PPLV0 +PIE -PWE)",
        ] {
            assert!(!are_of_user(line), "{line}");
        }
    }
}
