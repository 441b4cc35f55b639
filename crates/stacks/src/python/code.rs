//! Code objects in the memory of a running program.

use super::interpreter::CodeLayout;
use super::line_table;
use std::collections::HashMap;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use whylate_base::{Ns, Tid};

/// An instruction of a Python function, by what it is for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Instruction {
    /// The qualified name, such as `Loop.step`.
    pub(super) function: Arc<str>,
    pub(super) file: Arc<str>,
    pub(super) line: Option<u32>,
}

/// Reads one program's memory.
pub(super) struct CodeReader {
    memory: File,
    /// The code objects that words may be in, or that there is none. Memory is used for something else later, also for another
    /// code object: a program imports its modules one after the other.
    objects: HashMap<u64, Option<u64>>,
    objects_until: Ns,
    codes: HashMap<u64, Code>,
}

/// The members of a code object that tell it from another at the same place.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Head {
    units: u64,
    first_line: u32,
    file: u64,
    function: u64,
    lines: u64,
}

/// A code object.
struct Code {
    head: Head,
    /// Bytes of its instructions.
    size: u64,
    function: Arc<str>,
    file: Arc<str>,
    lines: Vec<u8>,
}

/// How far before an instruction its code object begins at most: longer functions have no lines behind that.
const FARTHEST: usize = 16 << 10;
/// For how long it is not looked again: to look takes some microseconds for each word of a frame.
const REMEMBERED: Ns = Ns::from_ms(50);
/// Names and tables are shorter.
const MOST_BYTES: u64 = 1 << 20;
const PAGE: u64 = 4096;

impl CodeReader {
    /// `None` where the program has ended, or its memory is not ours to read (PTRACE_MODE_ATTACH, `ptrace(2)`).
    pub(super) fn open(pid: Tid) -> Option<CodeReader> {
        let memory = File::open(format!("/proc/{pid}/mem")).ok()?;
        Some(CodeReader { memory, objects: HashMap::new(), objects_until: Ns::ZERO, codes: HashMap::new() })
    }

    /// The instruction before the one that a word is the address of, at an instant; `None` where it is no such address. `code_type`
    /// is that of `PyCode_Type`, which each code object has.
    pub(super) fn instruction(
        &mut self,
        word: u64,
        time: Ns,
        code_type: u64,
        layout: CodeLayout,
    ) -> Option<Instruction> {
        // Instructions have two bytes; user space ends with 47 bits.
        if word & 1 != 0 || !(PAGE..1 << 47).contains(&word) {
            return None;
        }
        if time >= self.objects_until {
            self.objects.clear();
            self.objects_until = time + REMEMBERED;
        }
        let object = match self.objects.get(&word) {
            Some(known) => *known,
            None => {
                let found = self.object_before(word, code_type, layout);
                self.objects.insert(word, found);
                found
            }
        }?;
        let head = Head::read(&self.memory, object, layout)?;
        if self.codes.get(&object).is_none_or(|code| code.head != head) {
            let code = Code::read(&self.memory, object, head, layout)?;
            self.codes.insert(object, code);
        }
        let code = self.codes.get(&object)?;
        // At the first instruction nothing was called yet.
        let behind = word.checked_sub(object + layout.instructions);
        let behind = behind.filter(|behind| (2..code.size).contains(behind))?;
        let line = line_table::line(&code.lines, code.head.first_line, behind - 2);
        Some(Instruction { function: code.function.clone(), file: code.file.clone(), line })
    }

    /// The code object whose instructions a word may be in: the nearest one that begins before it.
    fn object_before(&self, word: u64, code_type: u64, layout: CodeLayout) -> Option<u64> {
        let last = (word & !7).checked_sub(layout.instructions)?;
        let mut bytes = [0; PAGE as usize];
        let mut end = last + 16;
        let mut left = FARTHEST;
        while left > 0 {
            // From page to page, because the one before may not be mapped.
            let start = (end - 1) & !(PAGE - 1);
            let page = bytes.get_mut(..(end - start) as usize)?;
            self.memory.read_exact_at(page, start).ok()?;
            let is_type = |word: &[u8]| word == code_type.to_le_bytes();
            if let Some(at) = page.chunks_exact(8).rposition(is_type) {
                // The type is the second word of an object.
                return (start + 8 * at as u64).checked_sub(8);
            }
            left = left.saturating_sub(page.len());
            end = start;
        }
        None
    }
}

impl Head {
    fn read(memory: &File, object: u64, layout: CodeLayout) -> Option<Head> {
        let mut bytes = [0; 256];
        memory.read_exact_at(&mut bytes, object).ok()?;
        let word = |member: u64| {
            let member = usize::try_from(member).ok()?;
            Some(u64::from_le_bytes(bytes.get(member..member + 8)?.try_into().ok()?))
        };
        // `PyObject_VAR_HEAD`: a count of references, the type, and a size in units of code.
        Some(Head {
            units: word(16)?,
            first_line: word(layout.first_line)? as u32,
            file: word(layout.file_name)?,
            function: word(layout.qualified_name)?,
            lines: word(layout.line_table)?,
        })
    }
}

impl Code {
    fn read(memory: &File, object: u64, head: Head, layout: CodeLayout) -> Option<Code> {
        let size = head.units.checked_mul(2).filter(|size| *size < MOST_BYTES)?;
        // `PyBytesObject`: a head as that of a code object, a hash, and the bytes.
        let length = word(memory, head.lines.checked_add(16)?)?;
        let lines = bytes(memory, head.lines.checked_add(32)?, length)?;
        let (function, file) = (text(memory, head.function, layout)?, text(memory, head.file, layout)?);
        // It is the same object still.
        (Head::read(memory, object, layout)? == head).then_some(Code { head, size, function, file, lines })
    }
}

/// A `str` of ASCII characters; others are stored in other ways, and have no name here.
fn text(memory: &File, object: u64, layout: CodeLayout) -> Option<Arc<str>> {
    let length = word(memory, object.checked_add(16)?)?;
    let bytes = bytes(memory, object.checked_add(layout.text)?, length)?;
    let is_text = !bytes.is_empty() && bytes.iter().all(|byte| (b' '..=b'~').contains(byte));
    is_text.then(|| String::from_utf8(bytes).ok()).flatten().map(Arc::from)
}

fn word(memory: &File, address: u64) -> Option<u64> {
    let mut bytes = [0; 8];
    memory.read_exact_at(&mut bytes, address).ok()?;
    Some(u64::from_le_bytes(bytes))
}

fn bytes(memory: &File, address: u64, length: u64) -> Option<Vec<u8>> {
    let mut bytes = vec![0; usize::try_from(length).ok().filter(|_| length < MOST_BYTES)?];
    memory.read_exact_at(&mut bytes, address).ok()?;
    Some(bytes)
}
