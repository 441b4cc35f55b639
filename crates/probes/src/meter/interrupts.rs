//! How many interrupts of all sorts a CPU has had: its column of `/proc/interrupts`, read without memory of its own
//! making.

use std::fs::File;
use std::os::unix::fs::FileExt;
use whylate_base::Cpu;

const PATH: &str = "/proc/interrupts";
/// Read at a time. On a machine with many CPUs the whole is megabytes.
const CHUNK: usize = 16 << 10;

pub(crate) struct Interrupts {
    file: File,
    buffer: Box<[u8]>,
}

impl Interrupts {
    /// # Errors
    /// Why it cannot be read.
    pub(crate) fn open() -> Result<Interrupts, String> {
        let file = File::open(PATH).map_err(|error| format!("{PATH}: {error}"))?;
        let mut interrupts = Interrupts { file, buffer: vec![0; CHUNK].into() };
        let cpu = whylate_sys::current_cpu();
        match interrupts.count(cpu) {
            Some(_) => Ok(interrupts),
            None => Err(format!("{PATH} has no column of CPU {cpu}")),
        }
    }

    /// The sum of a CPU's column; `None` when it cannot be read, or is not there.
    pub(super) fn count(&mut self, cpu: Cpu) -> Option<u64> {
        let mut column = Column::new(cpu);
        let mut at = 0;
        loop {
            match self.file.read_at(&mut self.buffer, at) {
                Ok(0) => return column.sum(),
                Ok(got) => {
                    column.take(self.buffer.get(..got)?);
                    at += got as u64;
                }
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(_) => return None,
            }
        }
    }
}

/// Sums up a column, byte by byte. The first line names the CPUs; each further one has a name with a colon, a count
/// for each CPU, and words (`show_interrupts`, kernel/irq/proc.c).
struct Column {
    cpu: u32,
    /// Which column it is; known after the first line.
    column: Option<usize>,
    in_header: bool,
    /// Of the word in progress: which one it is in its line, and its number as far as it is one.
    word: usize,
    number: Option<u64>,
    in_word: bool,
    sum: u64,
}

impl Column {
    fn new(cpu: Cpu) -> Column {
        Column { cpu: cpu.0, column: None, in_header: true, word: 0, number: Some(0), in_word: false, sum: 0 }
    }

    fn take(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            match byte {
                b' ' | b'\t' | b'\n' => {
                    if self.in_word {
                        self.end_word();
                    }
                    if byte == b'\n' {
                        self.in_header = false;
                        self.word = 0;
                    }
                }
                _ => self.letter(byte),
            }
        }
    }

    fn letter(&mut self, byte: u8) {
        if !self.in_word {
            (self.in_word, self.number) = (true, Some(0));
        }
        let digit = byte.is_ascii_digit().then(|| u64::from(byte - b'0'));
        // In the header the numbers follow the letters `CPU`.
        self.number = match (self.in_header && b"CPU".contains(&byte), digit) {
            (true, _) => self.number,
            (false, Some(digit)) => self.number.map(|number| number.wrapping_mul(10).wrapping_add(digit)),
            (false, None) => None,
        };
    }

    fn end_word(&mut self) {
        self.in_word = false;
        if self.in_header {
            if self.number == Some(u64::from(self.cpu)) {
                self.column = Some(self.word);
            }
        } else if self.column.is_some_and(|column| self.word == column + 1) {
            self.sum = self.sum.wrapping_add(self.number.unwrap_or(0));
        }
        self.word += 1;
    }

    fn sum(&self) -> Option<u64> {
        self.column.map(|_| self.sum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TABLE: &str = "\
           CPU0       CPU2       CPU10\n\
  0:         11          5          7   IO-APIC    2-edge      timer 900\n\
NMI:          1          2          3   Non-maskable interrupts\n\
LOC:     100000      20000      30000   Local timer interrupts\n\
ERR:          4\n";

    fn sum(text: &str, cpu: u32, chunk: usize) -> Option<u64> {
        let mut column = Column::new(Cpu(cpu));
        text.as_bytes().chunks(chunk).for_each(|bytes| column.take(bytes));
        column.sum()
    }

    #[test]
    fn a_column_is_summed_up_however_it_is_cut() {
        for chunk in [1, 7, 4096] {
            assert_eq!(sum(TABLE, 2, chunk), Some(20_007));
            assert_eq!(sum(TABLE, 10, chunk), Some(30_010));
            assert_eq!(sum(TABLE, 0, chunk), Some(100_016), "with the errors, which are counted once");
            assert_eq!(sum(TABLE, 1, chunk), None, "offline");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_survived(text in "[CPU0-9 :\\n\\ta-z]{0,200}", cpu in 0u32..4) {
            sum(&text, cpu, 3);
        }
    }

    #[test]
    fn this_machines_are_counted() {
        match Interrupts::open() {
            Ok(mut interrupts) => {
                let cpu = whylate_sys::current_cpu();
                let before = interrupts.count(cpu).expect("a column");
                assert!(interrupts.count(cpu).expect("a column") >= before);
            }
            Err(why) => whylate_testing::skip(whylate_testing::Need::Machine, why),
        }
    }
}
