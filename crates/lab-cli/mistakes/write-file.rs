// title = "each cycle appends a line to a file"
// code = "file-write"
// flags = ["-O", "-g"]
// verified = "strace -f: a write to the file by the control thread in each cycle; none in the clean twin"
use std::fs::File;
use std::io::Write;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

static FILE: OnceLock<File> = OnceLock::new();
static LINES: AtomicU64 = AtomicU64::new(0);
static LATEST: AtomicU64 = AtomicU64::new(0);

#[no_mangle]
pub extern "C" fn prepare() {
    let name = std::env::temp_dir().join(format!("mistake-rust-{}", std::process::id()));
    let file = File::create(&name).expect("a file in the temporary directory");
    std::fs::remove_file(&name).expect("the file is there");
    FILE.set(file).expect("set once");
}

#[no_mangle]
pub extern "C" fn control_cycle(cycle: u32) -> bool {
    if cfg!(clean) {
        LATEST.store(u64::from(cycle), Ordering::Release);
        return false;
    }
    if let Some(mut file) = FILE.get() {
        let line = *b"cycle\n";
        file.write_all(&line).expect("the disk has room"); // MISTAKE: file-write
        LINES.fetch_add(1, Ordering::Relaxed);
    }
    false
}

#[no_mangle]
pub extern "C" fn background_cycle(_cycle: u32) {}

#[no_mangle]
pub extern "C" fn mistakes() -> u64 {
    LINES.load(Ordering::Relaxed)
}
