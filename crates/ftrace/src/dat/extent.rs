//! Where the data of the CPUs lies in the file, compared with what the file has.

use super::container::Container;
use whylate_events::Damage;

/// Bytes that two CPUs claim are the first one's: no valid file has such, and reading them
/// again and again could take for ever.
fn drop_shared(container: &mut Container) {
    let mut claims: Vec<(u64, u64, usize, usize)> = Vec::new();
    for (buffer, of) in container.buffers.iter().enumerate() {
        let sized = of.cpus.iter().enumerate().filter(|(_, data)| data.size > 0);
        claims.extend(sized.map(|(index, data)| (data.offset, data.size, buffer, index)));
    }
    claims.sort_unstable();
    let mut end = 0;
    for (offset, size, buffer, index) in claims {
        if offset >= end {
            end = offset.saturating_add(size);
            continue;
        }
        let data = &mut container.buffers[buffer].cpus[index];
        let what = format!("CPU {}: its data overlaps another CPU's: skipped", data.cpu);
        data.size = 0;
        container.note(Damage::at(offset, what).unread(size));
    }
}

pub(super) struct Clipped {
    /// True when data was promised and none of it is there.
    pub(super) gone: bool,
}

/// Notes which CPUs' data reaches past the end of the file. Of compressed data the
/// chunks themselves show.
pub(super) fn clip(container: &mut Container, file_size: u64) -> Clipped {
    drop_shared(container);
    let (mut promised, mut there) = (false, false);
    for (name, cpu) in
        container.buffers.iter().flat_map(|buffer| buffer.cpus.iter().map(|cpu| (&buffer.name, cpu)))
    {
        let end = cpu.offset.saturating_add(cpu.size);
        promised |= cpu.size > 0;
        there |= cpu.size > 0 && cpu.offset < file_size;
        if end > file_size && cpu.size > 0 {
            let missing = end - file_size.max(cpu.offset);
            container.damage.push(Damage::at(
                file_size,
                match name.as_str() {
                    "" => {
                        format!("CPU {}: the file ends {missing} bytes before this CPU's data does", cpu.cpu)
                    }
                    name => format!(
                        "CPU {} of buffer {name}: the file ends {missing} bytes before this CPU's data does",
                        cpu.cpu
                    ),
                },
            ).unread(missing));
        }
    }
    Clipped { gone: promised && !there }
}
