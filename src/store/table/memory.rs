//! What a table that is read at random asks of the memory below it.

#![allow(unsafe_code)]

use core::mem::MaybeUninit;

/// Asks the system to back `memory`, which nobody has touched, by huge pages: in pages of 4 KiB, nearly every read of more than
/// a few megabytes misses the translation cache, too. A refusal changes nothing but the speed.
#[cfg(all(target_os = "linux", not(miri)))]
pub(super) fn ask_for_huge<T>(memory: &mut [MaybeUninit<T>]) {
    /// The system takes whole pages only.
    const PAGE: usize = 4 << 10;
    /// A huge page. Less than one is not worth a call.
    const HUGE: usize = 2 << 20;
    let range = memory.as_mut_ptr_range();
    let (start, end) = (range.start.cast::<u8>(), range.end.cast::<u8>());
    let skipped = start.align_offset(PAGE);
    let length = (end.addr() - start.addr()).saturating_sub(skipped);
    // SAFETY: `skipped` bytes are within `memory`, or the length is 0 and nothing is asked. This advice changes neither
    // contents nor access: not of our memory, nor of what lies behind it on the last page, which it reaches as well.
    unsafe {
        if length >= HUGE {
            libc::madvise(start.add(skipped).cast(), length, libc::MADV_HUGEPAGE);
        }
    }
}

/// Other systems choose by themselves.
#[cfg(not(all(target_os = "linux", not(miri))))]
pub(super) fn ask_for_huge<T>(_: &mut [MaybeUninit<T>]) {}

/// Asks the processor to fetch the cache line of `value`, and does not wait for it.
#[inline]
pub(super) fn prefetch<T>(value: &T) {
    let address = core::ptr::from_ref(value);
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: a prefetch reads nothing and faults at no address.
    unsafe {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(address.cast());
    }
    #[cfg(all(target_arch = "aarch64", not(miri)))]
    // SAFETY: as above; the registers and flags stay as they are.
    unsafe {
        core::arch::asm!("prfm pldl1keep, [{}]", in(reg) address, options(nostack, readonly, preserves_flags));
    }
    #[cfg(any(miri, not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
    let _ = address;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_of_any_size_stays_as_it_is() {
        for bytes in [0, 1, 4095, 4096, 4097, 12_288, 5 << 20] {
            let mut memory = Vec::with_capacity(bytes);
            ask_for_huge(memory.spare_capacity_mut());
            memory.resize(bytes, 7_u8);
            assert!(memory.iter().all(|&byte| byte == 7));
        }
    }
}
