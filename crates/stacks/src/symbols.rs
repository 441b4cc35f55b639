//! Functions and lines for the addresses of a recording, and what is missing for those that have none.

use crate::debug_files::{self, Found, Search};
use crate::elf::ElfHeaders;
use crate::files::{Code, KERNEL, ModuleFile, ModuleFiles};
use crate::image::Image;
use crate::mini_debug_info;
use crate::missing::Missing;
use crate::names::{Names, of_generated};
use crate::plain_file;
use crate::ranges::NamedRanges;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{Read, Seek};
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use whylate_events::{CodeLocation, CodeModule, ModuleId, ModuleKind, Stacks};

/// Where names are searched beside the programs themselves.
#[derive(Clone, Debug, Default)]
pub struct SymbolOptions {
    /// Directories with separate debug files, or with programs that have their symbols.
    pub debug_dirs: Vec<PathBuf>,
    /// The text of `/proc/kallsyms` of the recorded machine since its boot; kernel addresses stay as they are without.
    pub kallsyms: Option<String>,
}

/// Fills in the locations of all addresses that have no line, and of generated code of those without a name, and notes what is missing. What is known stays: a recording
/// may be symbolised again where there are more debug files.
///
/// `files` are those of the recording itself; an empty one, of a recording that was made elsewhere. A file by its path
/// is then used only if its build id is the recorded one.
pub fn symbolize(stacks: &mut Stacks, files: &ModuleFiles, options: &SymbolOptions) {
    let mut open: BTreeMap<ModuleId, Vec<usize>> = BTreeMap::new();
    for (index, address) in stacks.addresses.iter().enumerate() {
        let is_named = |module: &ModuleId| {
            let kind = stacks.modules.get(module.0 as usize).map(|module| module.kind);
            has_line(&address.locations) || kind == Some(ModuleKind::Jit) && !address.locations.is_empty()
        };
        if let Some(module) = address.module.filter(|module| !is_named(module)) {
            open.entry(module).or_default().push(index);
        }
    }
    stacks.notes.retain(|note| !Missing::is_sentence(note));
    let mut missing = Missing::default();
    // The command's process runs this program until it executes its own.
    let own = std::env::current_exe().ok();
    let names = Names::new(&options.debug_dirs);
    for (id, indices) in open {
        let Some(module) = stacks.modules.get(id.0 as usize) else { continue };
        let addresses: Vec<u64> = indices.iter().map(|&index| stacks.addresses[index].offset).collect();
        let answer = Request { module, file: files.of(module), names: &names, options, addresses }.answer();
        for (&index, locations) in indices.iter().zip(answer.locations) {
            let known = &mut stacks.addresses[index].locations;
            if known.is_empty() || has_line(&locations) {
                *known = locations;
            }
        }
        if let Some(Tables { symbols, lines }) = answer.tables {
            let all_named = indices.iter().all(|&index| has_function(&stacks.addresses[index].locations));
            if own.as_deref() != Some(Path::new(&module.path)) {
                missing.add(module, symbols || all_named, lines);
            }
        }
        for note in answer.notes {
            if !stacks.notes.contains(&note) {
                stacks.notes.push(note);
            }
        }
    }
    stacks.notes.extend(missing.sentences());
}

/// The addresses of one module.
struct Request<'a> {
    module: &'a CodeModule,
    file: Option<&'a ModuleFile>,
    names: &'a Names,
    options: &'a SymbolOptions,
    addresses: Vec<u64>,
}

/// The locations of each address, in order, and sentences on what is missing.
#[derive(Default)]
struct Answer {
    locations: Vec<Vec<CodeLocation>>,
    notes: Vec<String>,
    /// Of an ELF file.
    tables: Option<Tables>,
}

/// What was found for a module, in its own file or elsewhere.
struct Tables {
    /// A symbol table beyond that of what is exported.
    symbols: bool,
    /// Debug information.
    lines: bool,
}

impl Request<'_> {
    fn answer(&self) -> Answer {
        match (self.module.kind, self.file.map(|file| &file.code)) {
            (ModuleKind::Kernel, _) => self.kernel(),
            (ModuleKind::Jit, Some(Code::Generated(pid, map))) => {
                self.generated(&pid.to_string(), map.as_ref())
            }
            // Its perf map is of a process that has ended, maybe on another machine.
            (ModuleKind::Jit, _) => Answer::default(),
            (_, Some(Code::Elf(image))) => match image.vdso_start() {
                Some(start) => Answer {
                    locations: self.names.of_vdso(start, &self.addresses).unwrap_or_default(),
                    ..Answer::default()
                },
                None if image.is_unchanged() => {
                    self.elf(Some((&path_of(image, &self.module.path), &image.headers)))
                }
                None => {
                    let note = format!(
                        "{} changed while it was recorded: its own symbols are not used",
                        self.module.path
                    );
                    Answer { notes: vec![note], ..self.elf(None) }
                }
            },
            (_, Some(Code::Unreadable(why))) => {
                let note =
                    format!("{} cannot be read: {why}; its functions are addresses only", self.module.path);
                Answer { notes: vec![note], ..Answer::default() }
            }
            _ => self.elsewhere(),
        }
    }

    fn kernel(&self) -> Answer {
        let Some(text) = &self.options.kallsyms else { return Answer::default() };
        let names = NamedRanges::of_kallsyms(text);
        let mut notes = Vec::new();
        if names.is_empty() && self.module.path == KERNEL {
            notes.push(
                "kernel functions are addresses only: /proc/kallsyms hides them; record as root, or set kernel.kptr_restrict to 0"
                    .to_owned(),
            );
        }
        let function =
            |name: &str| CodeLocation { function: Some(name.to_owned()), ..CodeLocation::default() };
        let of = |&address: &u64| names.name(address).map(function).into_iter().collect();
        Answer { locations: self.addresses.iter().map(of).collect(), notes, tables: None }
    }

    fn generated(&self, pid: &str, map: Option<&File>) -> Answer {
        let own = format!("/tmp/perf-{pid}.map");
        let text = match map {
            Some(map) => text(map),
            None => plain_file::open(Path::new(&own)).ok().and_then(|file| text(&file)),
        };
        let Some(text) = text else {
            let note = format!(
                "process {pid} runs generated code without a perf map ({own}), so its functions have no names: start \
                 Python with -X perf, node with --perf-basic-prof, Java with -XX:+DumpPerfMapAtExit"
            );
            return Answer { notes: vec![note], ..Answer::default() };
        };
        let names = NamedRanges::of_perf_map(&text);
        let of = |&address: &u64| names.name(address).map(of_generated).into_iter().collect();
        Answer { locations: self.addresses.iter().map(of).collect(), ..Answer::default() }
    }

    /// A module whose file was not opened: of a recording that was made elsewhere, or earlier.
    fn elsewhere(&self) -> Answer {
        let path = PathBuf::from(&self.module.path);
        let headers = debug_files::read(&path)
            .filter(|headers| headers.build_id.is_some() && headers.build_id == self.module.build_id);
        self.elf(headers.as_ref().map(|headers| (&path, headers)))
    }

    /// By the module's own file, where it is there, and by debug files.
    fn elf(&self, own: Option<(&PathBuf, &ElfHeaders)>) -> Answer {
        let headers = own.map(|(_, headers)| headers);
        let complete = headers.is_some_and(|headers| headers.debug_info);
        let directories = &self.options.debug_dirs;
        let found = match complete {
            true => Found::default(),
            false => Search { module: self.module, headers, directories }.run(),
        };
        let mut notes = Vec::new();
        for refused in &found.refused {
            notes.push(format!(
                "{} was not used: it is of another build than {}",
                refused.display(),
                self.module.path
            ));
        }
        let own_file = own.map(|(path, _)| path.as_path());
        // What has lines first; symbol tables for what has no line.
        let with_lines =
            found.debug_info.as_deref().or(own_file.filter(|_| complete)).map(|path| (path, true));
        let small =
            own.and_then(|(path, headers)| mini_debug_info::open(path, headers.mini_debug_info?).ok());
        let small_path = small.as_ref().map(path_of_open);
        let tables = [found.symbols.as_deref(), own_file, small_path.as_deref()];
        let tables = tables.into_iter().flatten().map(|path| (path, false));
        let mut locations = vec![Vec::new(); self.addresses.len()];
        for (path, debug_info) in with_lines.into_iter().chain(tables) {
            let missing: Vec<usize> =
                (0..locations.len()).filter(|&index| !has_function(&locations[index])).collect();
            let addresses: Vec<u64> = missing.iter().map(|&index| self.addresses[index]).collect();
            if addresses.is_empty() {
                break;
            }
            match self.names.of_file(path, debug_info, &addresses) {
                Ok(answers) => {
                    for (index, answer) in missing.into_iter().zip(answers) {
                        if !answer.is_empty() {
                            locations[index] = answer;
                        }
                    }
                }
                Err(why) => notes.push(format!("the symbols of {} cannot be read: {why}", path.display())),
            }
        }
        let symbols =
            headers.is_some_and(|headers| headers.symbols) || small.is_some() || found.symbols.is_some();
        let lines = with_lines.is_some();
        Answer { locations, notes, tables: Some(Tables { symbols: symbols || lines, lines }) }
    }
}

fn has_line(locations: &[CodeLocation]) -> bool {
    locations.iter().any(|location| location.line.is_some())
}

fn has_function(locations: &[CodeLocation]) -> bool {
    locations.iter().any(|location| location.function.is_some())
}

/// The path of an open file: its own where that still leads to it, since separate files are searched beside it.
fn path_of(image: &Image, path: &str) -> PathBuf {
    let Some(file) = image.file() else { return PathBuf::from(path) };
    let same =
        |(open, found): (fs::Metadata, fs::Metadata)| (open.dev(), open.ino()) == (found.dev(), found.ino());
    match file.metadata().ok().zip(fs::metadata(path).ok()).is_some_and(same) {
        true => PathBuf::from(path),
        false => path_of_open(file),
    }
}

/// A path that leads to an open file, whatever became of its name.
fn path_of_open(file: &File) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()))
}

/// All of a file that another program may still append to.
fn text(mut file: &File) -> Option<String> {
    const MOST: u64 = 1 << 28;
    let mut bytes = Vec::new();
    // From its beginning, wherever it was read before.
    file.rewind().ok()?;
    file.take(MOST).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}
