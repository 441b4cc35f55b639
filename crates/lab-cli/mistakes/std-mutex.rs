// title = "threads of priority 60 and 20 share a std::sync::Mutex, which has no priority inheritance"
// code = "mutex-without-inheritance"
// flags = ["-O", "-g"]
// also = ["priority-inversion", "priority-inverted-by-role"]
// verified = "strace -f: futex(FUTEX_WAIT_BITSET_PRIVATE) by the control thread, none in the clean twin; waits counted by try_lock"
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

static STATE: Mutex<u64> = Mutex::new(0);
static SHARED: AtomicU64 = AtomicU64::new(0);
static WAITS: AtomicU64 = AtomicU64::new(0);

fn compute(time: Duration) {
    let start = Instant::now();
    while start.elapsed() < time {}
}

#[no_mangle]
pub extern "C" fn prepare() {}

#[no_mangle]
pub extern "C" fn control_cycle(cycle: u32) -> bool {
    if cfg!(clean) {
        SHARED.store(u64::from(cycle), Ordering::Release);
        return false;
    }
    if STATE.try_lock().is_err() {
        WAITS.fetch_add(1, Ordering::Relaxed);
    }
    let mut state = STATE.lock().unwrap(); // MISTAKE: mutex-without-inheritance
    *state += 1;
    false
}

#[no_mangle]
pub extern "C" fn background_cycle(cycle: u32) {
    if cfg!(clean) {
        compute(Duration::from_millis(3));
        SHARED.store(u64::from(cycle), Ordering::Release);
        return;
    }
    let mut state = STATE.lock().unwrap(); // MISTAKE: mutex-without-inheritance
    compute(Duration::from_millis(3));
    *state += 1;
}

#[no_mangle]
pub extern "C" fn mistakes() -> u64 {
    WAITS.load(Ordering::Relaxed)
}
