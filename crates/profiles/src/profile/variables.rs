//! The variables of a profile: definitions, defaults and values.

use super::error::{Location, Mistake, ProfileError, there_are};
use super::facts::FACTS;
use super::grammar::{WORDS, is_of_name};
use super::keys::unknown;
use super::node::{Node, NodeKind};
use super::sets::{self, Names};
use super::text::{self, Scope};
use super::topology::Topology;
use super::value::VariableValue;
use crate::cpus::none_left;
use whylate_base::CpuSet;

/// A variable, as a profile has it.
#[derive(Clone, Debug)]
pub(super) struct Definition {
    pub(super) name: String,
    kind: VariableType,
    /// A plain value, which an extended profile may have declared as another kind: that counts.
    is_plain: bool,
    default: Option<String>,
    prompt: Option<String>,
    location: Location,
}

/// What a variable holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum VariableType {
    Cpus,
    Text,
    Number,
    YesNo,
}

const TYPES: &[(&str, VariableType)] = &[
    ("cpus", VariableType::Cpus),
    ("text", VariableType::Text),
    ("number", VariableType::Number),
    ("yes-no", VariableType::YesNo),
];

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
        return Err(node.wrong(format!("`{name}` is not a name for a variable"), possible));
    }
    let mut definition = Definition {
        name: name.to_owned(),
        kind: kind_of(node),
        is_plain: false,
        default: None,
        prompt: None,
        location: node.location.clone(),
    };
    let NodeKind::Table(table) = &node.kind else {
        return Ok(Definition { default: Some(plain(node)?), is_plain: true, ..definition });
    };
    // Without a type, what the default is like.
    definition.kind = node.get("default").map_or(VariableType::Text, kind_of);
    let mut required = false;
    for (key, node) in table {
        match key.as_str() {
            "type" => {
                let kind = node.text(key)?;
                let found = TYPES.iter().find(|(own, _)| *own == kind);
                let names = there_are(TYPES.iter().map(|(own, _)| *own));
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
                true => format!("`{name}` has a default and is required"),
                false => format!("`{name}` has no default and is not required"),
            },
            "a variable has either `default = ...` or `required = true`",
        ));
    }
    Ok(definition)
}

fn kind_of(node: &Node) -> VariableType {
    match node.kind {
        NodeKind::Number(_) => VariableType::Number,
        NodeKind::Flag(_) => VariableType::YesNo,
        _ => VariableType::Text,
    }
}

fn plain(node: &Node) -> Result<String, ProfileError> {
    match &node.kind {
        NodeKind::Text(text) => Ok(text.clone()),
        NodeKind::Number(number) => Ok(number.to_string()),
        NodeKind::Flag(yes) => Ok(if *yes { "yes" } else { "no" }.to_owned()),
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
    value: Option<VariableValue>,
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
                None => known.push(Variable { definition, given: None, value: None }),
            }
        }
        for (name, value) in given {
            let Some(own) = known.iter_mut().find(|own| own.definition.name == *name) else {
                let possible = there_are(known.iter().map(|own| own.definition.name.as_str()));
                let (name, value) = (name.clone(), value.clone());
                let what = format!("the profile {profile} does not have this variable");
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
            let (name, given, location) =
                (own.definition.name.clone(), own.given.clone(), own.definition.location.clone());
            let value = self.value(&name).map_err(|Mistake { what, possible }| match given {
                Some(value) => ProfileError::Given { name: name.clone(), value, what, possible },
                None => Mistake::new(what, possible).at(&location),
            })?;
            all.push((name, value.show()));
        }
        Ok(all)
    }

    fn worked_out(&mut self, kind: VariableType, value: &str) -> Result<VariableValue, Mistake> {
        if kind == VariableType::Cpus {
            return Ok(VariableValue::Cpus(self.cpus_of(value)?));
        }
        let text = text::filled(value, self)?;
        let plain = text.trim();
        Ok(match kind {
            VariableType::Number => {
                VariableValue::Number(plain.parse().map_err(|_| {
                    Mistake::new(format!("`{plain}` is not a whole number"), "write it like 10")
                })?)
            }
            VariableType::YesNo => VariableValue::YesNo(match plain {
                "yes" | "true" | "1" => true,
                "no" | "false" | "0" => false,
                _ => return Err(Mistake::new(format!("`{plain}` is neither yes nor no"), "write yes or no")),
            }),
            _ if text.contains(char::is_control) => {
                return Err(Mistake::new("the text is not one line", "write it on one line"));
            }
            _ => VariableValue::Text(text),
        })
    }
}

impl Scope for Variables<'_> {
    fn value(&mut self, name: &str) -> Result<VariableValue, Mistake> {
        let Some(at) = self.known.iter().position(|own| own.definition.name == name) else {
            let mut possible = there_are(self.known.iter().map(|own| own.definition.name.as_str()));
            if name.contains('-') {
                possible.push_str("; between two sets, write `-` with blanks around it");
            }
            return Err(Mistake::new(format!("there is no variable `{name}`"), possible));
        };
        if let Some(value) = &self.known[at].value {
            return Ok(value.clone());
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
        let value = self.worked_out(kind, &text);
        self.busy.pop();
        let value = value?;
        self.known[at].value = Some(value.clone());
        Ok(value)
    }

    fn cpus_of(&mut self, text: &str) -> Result<CpuSet, Mistake> {
        let machine = self.machine;
        sets::cpus(text, machine, self)
    }

    fn none_left(&mut self) -> Option<(String, &'static str)> {
        let Ok(VariableValue::Cpus(isolated)) = self.value("isolated") else { return None };
        none_left(&isolated, &self.machine.online().ok()?)
    }
}

impl Names for Variables<'_> {
    fn cpus(&mut self, name: &str) -> Result<CpuSet, Mistake> {
        match self.value(name)? {
            VariableValue::Cpus(cpus) => Ok(cpus),
            other => Err(Mistake::new(
                format!("`{name}` is not a set of CPUs but `{}`", other.show()),
                format!("define it so: {name} = {{ type = \"cpus\", default = \"...\" }}"),
            )),
        }
    }
}
