//! The review team, unpacked where the demo works on it, so that the demo runs wherever it is started.

use crate::ambient::Ambient;
use crate::fault::Fault;
use crate::template::REVIEW;
use crate::wire;
use std::path::{Path, PathBuf};

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
        let own = REVIEW.files.iter().find(|file| file.path == CONFIG).map(|file| file.text).unwrap_or_default();
        std::fs::write(&file, format!("{own}\n{more}")).map_err(|e| unwritable(&file, &e))
    }
}

fn unpack(team: &Path) -> Result<(), Fault> {
    for own in REVIEW.files {
        let file = team.join(own.path);
        let parent = file.parent().unwrap_or(team);
        let written = std::fs::create_dir_all(parent).and_then(|()| std::fs::write(&file, own.text));
        written.map_err(|e| unwritable(&file, &e))?;
    }
    Ok(())
}

fn unwritable(path: &Path, error: &std::io::Error) -> Fault {
    Fault::new("demo.folder", format!("the demo cannot write {}: {error}", path.display()))
        .hint("set TMPDIR to a folder that can be written")
}
