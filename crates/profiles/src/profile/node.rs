//! TOML with the line of everything, in the order of the file.

use super::error::{Location, Mistake, ProfileError};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A value, and where it is.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) location: Location,
    pub(super) kind: NodeKind,
}

#[derive(Clone, Debug)]
pub(super) enum NodeKind {
    Text(String),
    Number(i64),
    Flag(bool),
    List(Vec<Node>),
    Table(Vec<(String, Node)>),
    /// A date or a number with a fraction, which no setting has.
    Other(&'static str),
}

impl Node {
    /// The whole of a file.
    pub(super) fn parse(file: &str, text: &str) -> Result<Node, ProfileError> {
        let lines = Lines::of(file, text);
        let table = DeTable::parse(text).map_err(|error| {
            let location = lines.location(error.span().map_or(0, |span| span.start));
            let what = format!("this is not TOML: {}", error.message());
            Mistake::new(what, "see https://toml.io").at(&location)
        })?;
        Ok(Node { location: lines.location(0), kind: NodeKind::Table(lines.table(table.get_ref())?) })
    }

    pub(super) fn wrong(&self, what: impl Into<String>, possible: impl Into<String>) -> ProfileError {
        Mistake::new(what, possible).at(&self.location)
    }

    /// What it is, for errors.
    pub(super) fn described(&self) -> String {
        match &self.kind {
            NodeKind::Text(text) => format!("the text \"{text}\""),
            NodeKind::Number(number) => format!("the number {number}"),
            NodeKind::Flag(flag) => format!("`{flag}`"),
            NodeKind::List(_) => "a list".to_owned(),
            NodeKind::Table(_) => "a table".to_owned(),
            NodeKind::Other(other) => (*other).to_owned(),
        }
    }

    pub(super) fn text(&self, name: &str) -> Result<String, ProfileError> {
        match &self.kind {
            NodeKind::Text(text) => Ok(text.clone()),
            _ => Err(self.wrong(
                format!("`{name}` is {}", self.described()),
                format!("it takes text: {name} = \"...\""),
            )),
        }
    }

    pub(super) fn flag(&self, name: &str) -> Result<bool, ProfileError> {
        match self.kind {
            NodeKind::Flag(flag) => Ok(flag),
            _ => Err(self.wrong(format!("`{name}` is {}", self.described()), "it takes true or false")),
        }
    }

    pub(super) fn table(&self, name: &str) -> Result<&[(String, Node)], ProfileError> {
        match &self.kind {
            NodeKind::Table(table) => Ok(table),
            _ => Err(self.wrong(
                format!("`{name}` is {}", self.described()),
                format!("it is a section: [{name}], and its entries on lines of their own"),
            )),
        }
    }

    /// One text, or a list of texts.
    pub(super) fn texts(&self, name: &str) -> Result<Vec<(String, Location)>, ProfileError> {
        match &self.kind {
            NodeKind::List(list) => {
                list.iter().map(|node| Ok((node.text(name)?, node.location.clone()))).collect()
            }
            _ => Ok(vec![(self.text(name)?, self.location.clone())]),
        }
    }

    /// The value of a key of a table.
    pub(super) fn get(&self, key: &str) -> Option<&Node> {
        match &self.kind {
            NodeKind::Table(table) => table.iter().find(|(own, _)| own == key).map(|(_, node)| node),
            _ => None,
        }
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.get(key).is_some()
    }
}

/// Where the lines of a file begin.
struct Lines {
    file: String,
    begins: Vec<usize>,
}

impl Lines {
    fn of(file: &str, text: &str) -> Lines {
        let breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
        Lines { file: file.to_owned(), begins: breaks.collect() }
    }

    fn location(&self, at: usize) -> Location {
        Location { file: self.file.clone(), line: 1 + self.begins.partition_point(|&begin| begin <= at) }
    }

    fn table(&self, table: &DeTable<'_>) -> Result<Vec<(String, Node)>, ProfileError> {
        let mut keys: Vec<_> = table.iter().collect();
        keys.sort_by_key(|(key, _)| key.span().start);
        keys.into_iter()
            .map(|(key, value)| Ok((key.get_ref().to_string(), self.node(key.span().start, value)?)))
            .collect()
    }

    /// `at` is where its key is, or itself in a list.
    fn node(&self, at: usize, value: &Spanned<DeValue<'_>>) -> Result<Node, ProfileError> {
        let location = self.location(at);
        let kind = match value.get_ref() {
            DeValue::String(text) => NodeKind::Text(text.to_string()),
            DeValue::Integer(number) => match i64::from_str_radix(number.as_str(), number.radix()) {
                Ok(number) => NodeKind::Number(number),
                Err(_) => {
                    let wrong =
                        Mistake::new(format!("the number {number} is too large"), "write it in quotes");
                    return Err(wrong.at(&location));
                }
            },
            DeValue::Boolean(flag) => NodeKind::Flag(*flag),
            DeValue::Float(_) => NodeKind::Other("a number with a fraction"),
            DeValue::Datetime(_) => NodeKind::Other("a date"),
            DeValue::Array(list) => {
                let nodes = list.iter().map(|value| self.node(value.span().start, value));
                NodeKind::List(nodes.collect::<Result<_, _>>()?)
            }
            DeValue::Table(table) => NodeKind::Table(self.table(table)?),
        };
        Ok(Node { location, kind })
    }
}
