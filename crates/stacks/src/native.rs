//! framehop for the architecture that this program is built for.

use crate::files::{Code, ModuleFiles};
use crate::frame::UnwoundFrame;
use crate::sample::{UserRegisters, UserStack};
use crate::space::Space;
use framehop::{FrameAddress, MayAllocateDuringUnwind, Module, Unwinder as _};
use std::sync::Arc;

#[cfg(target_arch = "x86_64")]
type NativeRegisters = framehop::x86_64::UnwindRegsX86_64;
#[cfg(target_arch = "aarch64")]
type NativeRegisters = framehop::aarch64::UnwindRegsAarch64;

/// Rules of addresses that were unwound before; for all processes.
#[derive(Default)]
pub(crate) struct Cache(framehop::CacheNative<MayAllocateDuringUnwind>);

/// The call frame information of all that one process has mapped.
#[derive(Clone)]
pub(crate) struct FrameTables(framehop::UnwinderNative<Arc<[u8]>, MayAllocateDuringUnwind>);

impl FrameTables {
    pub(crate) fn new(space: &Space, files: &ModuleFiles) -> FrameTables {
        let mut all = framehop::UnwinderNative::new();
        for region in space.regions() {
            let Some(frames) = files.get(region.file).and_then(|file| file.frames()) else { continue };
            let base = region.bias.wrapping_add(frames.base_svma);
            all.add_module(Module::new(String::new(), region.start..region.end, base, frames.clone()));
        }
        FrameTables(all)
    }
}

/// Appends the frame of each caller, at the return address less one, until the stack ends or there are `most`.
///
/// A caller is code that the process has mapped, and its frame is above the one that it called.
pub(crate) fn unwind(
    space: &Space,
    files: &ModuleFiles,
    frames: &FrameTables,
    Cache(cache): &mut Cache,
    (registers, stack): (&UserRegisters, &UserStack<'_>),
    (unwound, most): (&mut Vec<UnwoundFrame>, usize),
) {
    let mut read = |address: u64| stack.word(address).ok_or(());
    let is_generated = |address| {
        let file = space.find(address).and_then(|region| files.get(region.file));
        file.is_some_and(|file| matches!(file.code, Code::Generated(..)))
    };
    let mut native = native(registers);
    let mut address = FrameAddress::from_instruction_pointer(registers.ip);
    while unwound.len() < most {
        let goes_on = |caller: u64, above: &NativeRegisters| {
            let caller = FrameAddress::from_return_address(caller)?;
            let is_code = space.find(caller.address_for_lookup()).is_some();
            // Only at the innermost end may a frame take no stack.
            let is_above = above.sp() > native.sp() || (above.sp() == native.sp() && caller != address);
            (is_code && is_above).then_some((caller, *above))
        };
        let mut above = native;
        let by_rule = frames.0.unwind_frame(address, &mut above, cache, &mut read).ok().flatten();
        let found = by_rule.and_then(|caller| goes_on(caller, &above)).or_else(|| {
            let is_call = address.is_return_address() && is_generated(address.address_for_lookup());
            let (caller, above) = is_call.then(|| trampoline(&native, &mut read))??;
            goes_on(caller, &above)
        });
        let Some((caller, above)) = found else { return };
        unwound.push(UnwoundFrame { address: caller.address_for_lookup(), stack_pointer: above.sp() });
        (address, native) = (caller, above);
    }
}

/// The caller of generated code that has neither a frame pointer nor call frame information, as the trampolines of
/// Python 3.12: they call with eight bytes of the stack between the call and their own return address
/// (`Python/asm_trampoline.S`). The trampolines of arm64, and those of later versions, have frame pointers.
#[cfg(target_arch = "x86_64")]
fn trampoline(
    inner: &NativeRegisters,
    read: &mut impl FnMut(u64) -> Result<u64, ()>,
) -> Option<(u64, NativeRegisters)> {
    let place = inner.sp().checked_add(8)?;
    let caller = read(place).ok()?;
    Some((caller, NativeRegisters::new(caller, place.checked_add(8)?, inner.bp())))
}

#[cfg(target_arch = "aarch64")]
fn trampoline(
    _: &NativeRegisters,
    _: &mut impl FnMut(u64) -> Result<u64, ()>,
) -> Option<(u64, NativeRegisters)> {
    None
}

#[cfg(target_arch = "x86_64")]
fn native(registers: &UserRegisters) -> NativeRegisters {
    NativeRegisters::new(registers.ip, registers.sp, registers.fp)
}

#[cfg(target_arch = "aarch64")]
fn native(registers: &UserRegisters) -> NativeRegisters {
    // User addresses have 48 bits at most unless a program asks for 52; pointer authentication uses the bits above
    // (`Documentation/arch/arm64/pointer-authentication.rst`).
    let mask = framehop::aarch64::PtrAuthMask(u64::MAX >> 16);
    NativeRegisters::new_with_ptr_auth_mask(mask, registers.lr, registers.sp, registers.fp)
}
