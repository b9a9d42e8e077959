//! The review team as part of the program, so that the demo works wherever it is started. Owns the list of its files and
//! where they are unpacked.

use crate::ambient::Ambient;
use crate::fault::Fault;
use crate::wire;
use std::path::{Path, PathBuf};

macro_rules! bundle {
    ($($file:literal),* $(,)?) => {
        /// Every file of `teams/review`, by its path there.
        const FILES: &[(&str, &str)] =
            &[$(($file, include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../teams/review/", $file)))),*];
    };
}

bundle! {
    "deputize.yaml",
    "demo.script.yaml",
    "agents/lead.md",
    "agents/correctness.md",
    "agents/security.md",
    "agents/clarity.md",
    "agents/evidence.md",
    "schemas/findings.json",
    "sample/design.md",
    "sample/expire.py",
    "sample/expire.toml",
}

/// The configuration of the team.
pub(super) const CONFIG: &str = "deputize.yaml";

/// A new folder under the system's temporary one, with the team in it.
pub(super) struct Place {
    /// The folder.
    pub(super) folder: PathBuf,
    /// The team in it.
    pub(super) team: PathBuf,
    /// The state folder.
    pub(super) home: PathBuf,
}

impl Place {
    /// Makes the folder and unpacks the team. `home`: the state folder, if it is to be another than one in there.
    pub(super) fn make(ambient: &Ambient, home: Option<&Path>) -> Result<Place, Fault> {
        let temporary = ambient.cwd.join(ambient.var("TMPDIR").unwrap_or("/tmp"));
        // The last of a version 7 UUID's groups is random: nobody can have put something there before.
        let name = uuid::Uuid::now_v7().simple().to_string();
        let folder = temporary.join(format!("deputize-demo-{}", name.get(16..).unwrap_or(&name)));
        let team = folder.join("review");
        wire::private_folder(&team).map_err(|e| unwritable(&team, &e))?;
        unpack(&team)?;
        let home = home.map_or_else(|| folder.join("home"), Path::to_path_buf);
        Ok(Place { folder, team, home })
    }
    /// What the team reviews.
    pub(super) fn sample(&self) -> PathBuf {
        self.team.join("sample")
    }
    /// The script.
    pub(super) fn script(&self) -> PathBuf {
        self.team.join("demo.script.yaml")
    }
    /// Adds to the team's configuration.
    pub(super) fn configure(&self, more: &str) -> Result<(), Fault> {
        let file = self.team.join(CONFIG);
        let own = FILES.iter().find(|(name, _)| *name == CONFIG).map(|(_, text)| *text).unwrap_or_default();
        std::fs::write(&file, format!("{own}\n{more}")).map_err(|e| unwritable(&file, &e))
    }
}

fn unpack(team: &Path) -> Result<(), Fault> {
    for (name, text) in FILES {
        let file = team.join(name);
        let parent = file.parent().unwrap_or(team);
        let written = std::fs::create_dir_all(parent).and_then(|()| std::fs::write(&file, text));
        written.map_err(|e| unwritable(&file, &e))?;
    }
    Ok(())
}

fn unwritable(path: &Path, error: &std::io::Error) -> Fault {
    Fault::new("demo.folder", format!("the demo cannot write {}: {error}", path.display()))
        .hint("set TMPDIR to a folder that can be written")
}

#[cfg(test)]
mod tests;
