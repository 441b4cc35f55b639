//! The plugin bootloader: parameters for the kernel's next start.

use super::super::error::TunedError;
use super::super::merge::{Item, Unit};
use super::super::output::{Must, Output};
use super::super::python::is_space;
use super::options::{truth, unknown, unquoted};
use crate::Selector;

pub(super) fn carry_over(unit: &Unit, out: &mut Output<'_, '_>) -> Result<(), TunedError> {
    let mut words: Vec<(String, &Item)> = Vec::new();
    let mut skipped = None;
    for item in &unit.options {
        match item.name.as_str() {
            name if name.starts_with("cmdline") => cmdline(item, &mut words),
            "initrd_add_dir" | "initrd_add_img" | "initrd_dst_img" | "initrd_remove_dir" => {
                out.leave(item, "images in the initial RAM disk are not supported");
            }
            "grub2_cfg_file" => out.leave(item, "GRUB's own program writes its file"),
            "skip_grub_config" => {
                if let Some(value) = out.value(item)? {
                    skipped = (truth(&value) == "1").then_some(item);
                }
            }
            _ => unknown(item, unit, out),
        }
    }
    // A word may stand for several, or be a part of one.
    let mut parameters: Vec<(String, &Item)> = Vec::new();
    for (text, item) in words {
        let Some(value) = out.text(unquoted(&text), item)? else { continue };
        parameters.extend(split(&value).into_iter().map(|word| (word, item)));
    }
    if skipped.is_some() {
        for (word, item) in parameters {
            out.leave_at(&item.location, &word, "skip_grub_config: TuneD leaves the boot loader unchanged");
        }
        return Ok(());
    }
    let name = |word: &str| word.split_once('=').map_or(word, |(name, _)| name).to_owned();
    for (word, item) in &parameters {
        let own = name(word);
        // The same word once more changes nothing.
        let others = parameters.iter().filter(|(other, _)| name(other) == own && other != word).count();
        if others > 0 {
            let why = format!("{own} is given more than once, and a setting here has one value");
            out.leave_at(&item.location, word, why);
            continue;
        }
        let value = word.split_once('=').map_or("", |(_, value)| value).to_owned();
        out.setting(Selector::Parameter { name: own }, value, item, Must::Exist);
    }
    Ok(())
}

/// An option adds its words; with `-` before, it takes them away where an earlier one has added them.
fn cmdline<'i>(item: &'i Item, words: &mut Vec<(String, &'i Item)>) {
    let value = &item.value;
    let rest = |from: usize| value.get(from..).unwrap_or_default().trim();
    let mut chars = value.chars();
    match (chars.next(), chars.next()) {
        (None, _) => {}
        (Some('+'), _) | (Some('\\'), Some('\\' | '+' | '-')) => words.push((rest(1).to_owned(), item)),
        (Some('-'), _) => {
            for gone in rest(1).split(is_space).filter(|word| !word.is_empty()) {
                for (text, _) in words.iter_mut() {
                    let kept: Vec<&str> = text.split(is_space).filter(|word| *word != gone).collect();
                    *text = kept.join(" ");
                }
            }
        }
        _ => words.push((value.clone(), item)),
    }
}

/// Words between blanks; in double quotes a blank is part of the word, as the kernel has it.
fn split(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quoted = false;
    for c in text.chars() {
        let last = words.len() - 1;
        match c {
            c if is_space(c) && !quoted => words.push(String::new()),
            c => {
                quoted ^= c == '"';
                words[last].push(c);
            }
        }
    }
    words.retain(|word| !word.is_empty());
    words
}
