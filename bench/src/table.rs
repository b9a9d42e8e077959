//! A Markdown table: the form in which every benchmark reports. Owns how it is printed, not what stands in it.

use std::fmt;

/// A table with a sentence above it.
pub(crate) struct Table {
    about: String,
    head: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Table {
    pub(crate) fn new(about: impl Into<String>, head: &[&str]) -> Table {
        Table { about: about.into(), head: head.iter().map(|cell| (*cell).to_string()).collect(), rows: Vec::new() }
    }
    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}\n", self.about)?;
        writeln!(f, "| {} |", self.head.join(" | "))?;
        writeln!(f, "|{}", "---|".repeat(self.head.len()))?;
        for row in &self.rows {
            writeln!(f, "| {} |", row.join(" | "))?;
        }
        Ok(())
    }
}
