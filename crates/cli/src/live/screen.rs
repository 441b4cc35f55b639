//! The terminal's other screen (xterm's 1049, which every terminal of today has): what was on the first is there again
//! afterwards, however the run ends.

use std::io::{self, Write};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

const ENTER: &str = "\x1b[?1049h\x1b[?25l\x1b[2J";
const LEAVE: &str = "\x1b[?25h\x1b[?1049l";

/// Whether the terminal shows it.
static SHOWN: AtomicBool = AtomicBool::new(false);

/// The other screen, until it is dropped.
pub(super) struct Screen;

impl Screen {
    pub(super) fn enter() -> Screen {
        static HOOK: Once = Once::new();
        // A panic's message would go away with the screen.
        HOOK.call_once(|| {
            let usual = std::panic::take_hook();
            std::panic::set_hook(Box::new(move |panic| {
                restore();
                usual(panic);
            }));
        });
        SHOWN.store(true, SeqCst);
        write(ENTER);
        Screen
    }

    /// Shows these lines, each no wider than the terminal.
    pub(super) fn draw(&self, lines: &[String]) {
        // A panic elsewhere may have left it.
        if SHOWN.load(SeqCst) {
            // At once, so that nothing is seen in between; the last line has no end, or all would move up.
            write(&format!("\x1b[H{}\x1b[K\x1b[J", lines.join("\x1b[K\r\n")));
        }
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        restore();
    }
}

/// Shows the first screen again, if it is not shown. For code that ends the process without unwinding.
pub(crate) fn restore() {
    if SHOWN.swap(false, SeqCst) {
        write(LEAVE);
    }
}

/// A terminal that went away is no reason to stop measuring.
fn write(text: &str) {
    let mut err = io::stderr();
    let _ = err.write_all(text.as_bytes()).and_then(|()| err.flush());
}

/// Columns and rows.
pub(super) fn size() -> (usize, usize) {
    match rustix::termios::tcgetwinsize(io::stderr()) {
        Ok(size) if size.ws_col > 0 && size.ws_row > 0 => (size.ws_col.into(), size.ws_row.into()),
        _ => (80, 24),
    }
}
