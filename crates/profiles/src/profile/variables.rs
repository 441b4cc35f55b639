//! The variables of a profile: what they are for, what they are worth where nobody says, and what they are worth.

use super::error::{Mistake, Place, ProfileError, there_are};
use super::facts::FACTS;
use super::grammar::{WORDS, is_of_name};
use super::keys::unknown;
use super::node::{Kind as Written, Node};
use super::sets::{self, Names};
use super::text::{self, Scope};
use super::topology::Topology;
use super::value::Worth;
use crate::cpus::none_left;
use whylate_base::CpuSet;

/// A variable, as a profile has it.
#[derive(Clone, Debug)]
pub(super) struct Definition {
    pub(super) name: String,
    kind: Kind,
    /// A plain value, of which an extended profile may have said another kind: that counts.
    is_plain: bool,
    default: Option<String>,
    prompt: Option<String>,
    place: Place,
}

/// What a variable holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Cpus,
    Text,
    Number,
    YesNo,
}

const KINDS: &[(&str, Kind)] =
    &[("cpus", Kind::Cpus), ("text", Kind::Text), ("number", Kind::Number), ("yes-no", Kind::YesNo)];

/// `[variables]`.
pub(super) fn definitions(node: &Node) -> Result<Vec<Definition>, ProfileError> {
    node.table("variables")?.iter().map(|(name, node)| definition(name, node)).collect()
}

fn definition(name: &str, node: &Node) -> Result<Definition, ProfileError> {
    let facts = FACTS.iter().map(|(fact, _)| *fact);
    if WORDS.iter().copied().chain(facts).any(|word| word == name) {
        return Err(
            node.wrong(format!("`{name}` has a meaning of its own"), "give the variable another name")
        );
    }
    if !name.starts_with(|c: char| c.is_ascii_alphabetic()) || !name.chars().all(is_of_name) {
        let possible = "a name begins with a letter, then letters, digits, `-` and `_`";
        return Err(node.wrong(format!("`{name}` is no name for a variable"), possible));
    }
    let mut definition = Definition {
        name: name.to_owned(),
        kind: kind_of(node),
        is_plain: false,
        default: None,
        prompt: None,
        place: node.place.clone(),
    };
    let Written::Table(table) = &node.kind else {
        return Ok(Definition { default: Some(plain(node)?), is_plain: true, ..definition });
    };
    // Without a type, what the default is like.
    definition.kind = node.get("default").map_or(Kind::Text, kind_of);
    let mut required = false;
    for (key, node) in table {
        match key.as_str() {
            "type" => {
                let kind = node.text(key)?;
                let found = KINDS.iter().find(|(own, _)| *own == kind);
                let names = there_are(KINDS.iter().map(|(own, _)| *own));
                let none = || node.wrong(format!("there is no type `{kind}` of variable"), names.clone());
                definition.kind = found.ok_or_else(none)?.1;
            }
            "default" => definition.default = Some(plain(node)?),
            "prompt" => definition.prompt = Some(node.text(key)?),
            "required" => required = node.flag(key)?,
            _ => return Err(unknown(node, key, "a variable", &["type", "default", "prompt", "required"])),
        }
    }
    if required == definition.default.is_some() {
        return Err(node.wrong(
            match required {
                true => format!("`{name}` has a default, and is required"),
                false => format!("`{name}` has no value where nobody gives one"),
            },
            "a variable has either `default = ...` or `required = true`",
        ));
    }
    Ok(definition)
}

fn kind_of(node: &Node) -> Kind {
    match node.kind {
        Written::Number(_) => Kind::Number,
        Written::Flag(_) => Kind::YesNo,
        _ => Kind::Text,
    }
}

fn plain(node: &Node) -> Result<String, ProfileError> {
    match &node.kind {
        Written::Text(text) => Ok(text.clone()),
        Written::Number(number) => Ok(number.to_string()),
        Written::Flag(yes) => Ok(if *yes { "yes" } else { "no" }.to_owned()),
        _ => {
            let possible = "it takes text, a whole number, true or false";
            Err(node.wrong(format!("the variable's value is {}", node.described()), possible))
        }
    }
}

/// All variables of a profile and of those that it extends, worked out when they are asked for.
pub(super) struct Variables<'a> {
    machine: Topology<'a>,
    known: Vec<Variable>,
    /// Those that are being worked out, to see circles.
    busy: Vec<String>,
}

struct Variable {
    definition: Definition,
    given: Option<String>,
    worth: Option<Worth>,
}

/// Variables that build on others, which build on others ...
const DEEPEST: usize = 32;

impl<'a> Variables<'a> {
    /// `definitions` in the order in which profiles are extended: a later one stands for an earlier one.
    pub(super) fn new(
        definitions: Vec<Definition>,
        given: &[(String, String)],
        profile: &str,
        machine: Topology<'a>,
    ) -> Result<Variables<'a>, ProfileError> {
        let mut known: Vec<Variable> = Vec::new();
        for definition in definitions {
            match known.iter_mut().find(|own| own.definition.name == definition.name) {
                Some(own) => {
                    let kind = if definition.is_plain { own.definition.kind } else { definition.kind };
                    let prompt = definition.prompt.clone().or(own.definition.prompt.take());
                    own.definition = Definition { kind, prompt, ..definition };
                }
                None => known.push(Variable { definition, given: None, worth: None }),
            }
        }
        for (name, value) in given {
            let Some(own) = known.iter_mut().find(|own| own.definition.name == *name) else {
                let possible = there_are(known.iter().map(|own| own.definition.name.as_str()));
                let (name, value) = (name.clone(), value.clone());
                let what = format!("the profile {profile} has no such variable");
                return Err(ProfileError::Given { name, value, what, possible });
            };
            own.given = Some(value.clone());
        }
        let missing: Vec<_> =
            known.iter().filter(|own| own.given.is_none() && own.definition.default.is_none()).collect();
        if !missing.is_empty() {
            let missing = missing
                .iter()
                .map(|own| (own.definition.name.clone(), own.definition.prompt.clone().unwrap_or_default()));
            return Err(ProfileError::Needs { profile: profile.to_owned(), missing: missing.collect() });
        }
        Ok(Variables { machine, known, busy: Vec::new() })
    }

    /// Works all of them out: a mistake in one that nothing uses is a mistake all the same.
    pub(super) fn all(&mut self) -> Result<Vec<(String, String)>, ProfileError> {
        let mut all = Vec::new();
        for at in 0..self.known.len() {
            let own = &self.known[at];
            let (name, given, place) =
                (own.definition.name.clone(), own.given.clone(), own.definition.place.clone());
            let worth = self.worth(&name).map_err(|Mistake { what, possible }| match given {
                Some(value) => ProfileError::Given { name: name.clone(), value, what, possible },
                None => Mistake::new(what, possible).at(&place),
            })?;
            all.push((name, worth.show()));
        }
        Ok(all)
    }

    fn worked_out(&mut self, kind: Kind, value: &str) -> Result<Worth, Mistake> {
        if kind == Kind::Cpus {
            return Ok(Worth::Cpus(self.cpus_of(value)?));
        }
        let text = text::filled(value, self)?;
        let plain = text.trim();
        Ok(match kind {
            Kind::Number => {
                Worth::Number(plain.parse().map_err(|_| {
                    Mistake::new(format!("`{plain}` is not a whole number"), "write it like 10")
                })?)
            }
            Kind::YesNo => Worth::YesNo(match plain {
                "yes" | "true" | "1" => true,
                "no" | "false" | "0" => false,
                _ => return Err(Mistake::new(format!("`{plain}` is neither yes nor no"), "write yes or no")),
            }),
            _ if text.contains(char::is_control) => {
                return Err(Mistake::new("the text is not one line", "write it on one line"));
            }
            _ => Worth::Text(text),
        })
    }
}

impl Scope for Variables<'_> {
    fn worth(&mut self, name: &str) -> Result<Worth, Mistake> {
        let Some(at) = self.known.iter().position(|own| own.definition.name == name) else {
            let mut possible = there_are(self.known.iter().map(|own| own.definition.name.as_str()));
            if name.contains('-') {
                possible.push_str("; between two sets `-` has blanks around it");
            }
            return Err(Mistake::new(format!("there is no variable `{name}`"), possible));
        };
        if let Some(worth) = &self.known[at].worth {
            return Ok(worth.clone());
        }
        if self.busy.iter().any(|busy| busy == name) {
            let chain = [self.busy.join(" -> ").as_str(), name].join(" -> ");
            return Err(Mistake::new(
                format!("variables depend on each other in a circle: {chain}"),
                "give one of them a value",
            ));
        }
        if self.busy.len() >= DEEPEST {
            return Err(Mistake::new(
                "too many variables build on each other",
                format!("at most {DEEPEST} may"),
            ));
        }
        self.busy.push(name.to_owned());
        let own = &self.known[at];
        let kind = own.definition.kind;
        let text = own.given.clone().or(own.definition.default.clone()).unwrap_or_default();
        let worth = self.worked_out(kind, &text);
        self.busy.pop();
        let worth = worth?;
        self.known[at].worth = Some(worth.clone());
        Ok(worth)
    }

    fn cpus_of(&mut self, text: &str) -> Result<CpuSet, Mistake> {
        let machine = self.machine;
        sets::cpus(text, machine, self)
    }

    fn none_left(&mut self) -> Option<(String, &'static str)> {
        let Ok(Worth::Cpus(isolated)) = self.worth("isolated") else { return None };
        none_left(&isolated, &self.machine.online().ok()?)
    }
}

impl Names for Variables<'_> {
    fn cpus(&mut self, name: &str) -> Result<CpuSet, Mistake> {
        match self.worth(name)? {
            Worth::Cpus(cpus) => Ok(cpus),
            other => Err(Mistake::new(
                format!("`{name}` is no set of CPUs but `{}`", other.show()),
                format!("define it so: {name} = {{ type = \"cpus\", default = \"...\" }}"),
            )),
        }
    }
}
