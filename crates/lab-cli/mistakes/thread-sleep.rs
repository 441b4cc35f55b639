// title = "the loop sleeps with std::thread::sleep"
// code = "relative-sleep"
// flags = ["-O", "-g"]
// verified = "strace -f: clock_nanosleep with flags 0 and 5 ms by the control thread in each cycle, TIMER_ABSTIME in the clean twin"
use std::sync::atomic::{AtomicU64, Ordering};

static SLEEPS: AtomicU64 = AtomicU64::new(0);

#[no_mangle]
pub extern "C" fn prepare() {}

#[no_mangle]
pub extern "C" fn control_cycle(_cycle: u32) -> bool {
    if cfg!(clean) {
        return false;
    }
    SLEEPS.fetch_add(1, Ordering::Relaxed);
    std::thread::sleep(std::time::Duration::from_millis(5)); // MISTAKE: relative-sleep
    true
}

#[no_mangle]
pub extern "C" fn background_cycle(_cycle: u32) {}

#[no_mangle]
pub extern "C" fn mistakes() -> u64 {
    SLEEPS.load(Ordering::Relaxed)
}
