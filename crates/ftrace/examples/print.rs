//! Prints a trace.dat as `trace-cmd report` does: `cargo run --example print -- trace.dat`;
//! with `--kernel` as the kernel's own `trace` file does.

use std::io::{self, BufWriter, Write};
use whylate_ftrace::dat::TraceFile;
use whylate_ftrace::print::{Lines, Mode};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (mode, path) = match &arguments[..] {
        [path] => (Mode::TraceCmd, path),
        [option, path] if option == "--kernel" => (Mode::Kernel, path),
        _ => return Err("usage: print [--kernel] TRACE.DAT".into()),
    };
    let file = TraceFile::open(path)?;
    let mut lines = Lines::new(&file, mode);
    let (mut out, mut line) = (BufWriter::new(io::stdout().lock()), Vec::new());
    while lines.next_line(&mut line) {
        out.write_all(&line)?;
        line.clear();
    }
    out.flush()?;
    for (format, why) in lines.printer().not_understood() {
        eprintln!("print fmt of {}:{} is not understood: {why}", format.system, format.name);
    }
    Ok(())
}
