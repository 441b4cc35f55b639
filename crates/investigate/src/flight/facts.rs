//! The facts of a recording as pages of marks, so that a saved window holds the same facts as a whole recording.

use std::io;
use whylate_base::Ns;
use whylate_events::Fact;
use whylate_ftrace::dat::write::Description;
use whylate_ftrace::encode::PageWriter;
use whylate_ftrace::format::EventFormat;

/// A mark for each fact, in the kernel's own format; nothing where the kernel describes none.
pub(super) fn pages(facts: &[Fact], description: &Description, at: Ns) -> io::Result<Vec<u8>> {
    let Some(mark) = Mark::of(description) else { return Ok(Vec::new()) };
    let mut writer = PageWriter::new(Vec::new(), description.page_size);
    for fact in facts {
        writer.push(at.0.max(0) as u64, &mark.record(&fact.to_string()))?;
    }
    Ok(writer.finish()?.0)
}

/// Where a mark (`TRACE_PRINT`, kernel/trace/trace_entries.h) has its text.
struct Mark {
    id: u16,
    text_at: usize,
}

impl Mark {
    fn of(description: &Description) -> Option<Mark> {
        description.ftrace_formats.iter().find_map(|text| {
            let format = EventFormat::parse("ftrace", text)?;
            let text = format.field("buf").filter(|_| format.name == "print")?;
            Some(Mark { id: format.id, text_at: text.offset })
        })
    }

    fn record(&self, text: &str) -> Vec<u8> {
        let mut record = self.id.to_ne_bytes().to_vec();
        record.resize(self.text_at, 0);
        record.extend(text.bytes());
        record.extend(b"\n\0");
        record
    }
}
