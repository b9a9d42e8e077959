//! Families of adapters do not know one another: what two of them need stands in a module that is no family.

use super::super::finding::Finding;
use super::super::mentions;
use super::super::names::Names;
use super::super::source::Source;

const RULE: &str = "adapter-siblings";
const ADAPTERS: &str = "deputize_adapters";
/// The top modules of the adapters that implement a port or read files.
const FAMILIES: &[&str] = &["provider", "tool", "store", "loader"];

/// Looks at what each family mentions.
pub(crate) fn check(source: &Source, names: &Names) -> Vec<Finding> {
    let own = source.place.module.first().map(String::as_str);
    let Some(own) = own.filter(|own| FAMILIES.contains(own)) else {
        return Vec::new();
    };
    if !source.place.is_code_of(ADAPTERS) {
        return Vec::new();
    }
    mentions::all(source)
        .into_iter()
        .filter_map(|mention| {
            let path = names.resolve(ADAPTERS, &mention);
            let other = match path.as_slice() {
                [krate, family, ..] if krate == ADAPTERS => family,
                _ => return None,
            };
            if other == own || !FAMILIES.contains(&other.as_str()) {
                return None;
            }
            let text = format!("`{own}` mentions `{}`: families do not import one another", path.join("::"));
            Some(source.finding(RULE, mention.line, path.join("::"), text))
        })
        .collect()
}

#[cfg(test)]
mod tests;
