//! This machine: the state folder, the store, and programs beside ours.

use crate::ambient::Ambient;
use crate::out::quoted;
use crate::past;
use crate::wire;
use deputize_api::doctor::{CheckedDoc, Health};
use deputize_api::text;
use std::fs::{OpenOptions, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

/// Less than this is too little for a run of some size.
const LITTLE: u64 = 100 << 20;

/// The rows. `store`: where the team keeps its runs, if it says so.
pub(super) async fn rows(ambient: &Ambient, store: Option<&Path>) -> Vec<CheckedDoc> {
    let path = store.map_or_else(|| past::store_path(ambient), Path::to_path_buf);
    vec![
        state(&ambient.state),
        kept(&path).await,
        git(),
        CheckedDoc::new("sandbox", Health::Off, "not in this build: no tool runs commands"),
        CheckedDoc::new("browser", Health::Off, "not in this build: no tool opens pages"),
    ]
}

/// The state folder: there, ours alone, and writable. One that others can look into is closed.
fn state(folder: &Path) -> CheckedDoc {
    let row = |status, text: String| CheckedDoc::new("state", status, text).fact("path", folder.display().to_string());
    let shown = folder.display();
    let found = match folder.metadata() {
        Ok(found) => found,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return absent(folder),
        Err(e) => return row(Health::Failed, format!("{shown} cannot be looked at: {e}")).fix(elsewhere()),
    };
    if !found.is_dir() {
        return row(Health::Failed, format!("{shown} is no folder")).fix(elsewhere());
    }
    if !is_writable(folder) {
        return row(Health::Failed, format!("{shown} cannot be written to")).fix(elsewhere());
    }
    let mode = found.permissions().mode() & 0o777;
    if mode & 0o077 == 0 {
        return row(Health::Ok, format!("{shown} is writable, and closed to others"))
            .fact("mode", format!("{mode:04o}"));
    }
    match std::fs::set_permissions(folder, Permissions::from_mode(0o700)) {
        Ok(()) => row(Health::Ok, format!("{shown} was open to others (mode {mode:04o}) and is closed now (0700)"))
            .fact("mode", "0700"),
        Err(_) => row(Health::Warning, format!("{shown} is open to others (mode {mode:04o})"))
            .fix(format!("its owner can close it: chmod 700 {}", quoted(folder)))
            .fact("mode", format!("{mode:04o}")),
    }
}

/// One that is not there yet is made by the first run, if something above it is writable.
fn absent(folder: &Path) -> CheckedDoc {
    let row = |status, text: String| CheckedDoc::new("state", status, text).fact("path", folder.display().to_string());
    let above = folder.ancestors().skip(1).find(|above| above.exists());
    match above.filter(|above| above.is_dir() && is_writable(above)) {
        Some(_) => row(Health::Ok, format!("{} is made by the first run", folder.display())),
        None => row(Health::Failed, format!("{} cannot be made", folder.display())).fix(elsewhere()),
    }
}

fn elsewhere() -> String {
    "name another folder with --home DIR or DEPUTIZE_HOME".to_string()
}

/// Asked by doing it: a read-only file system says yes to everything else.
fn is_writable(folder: &Path) -> bool {
    let probe = folder.join(format!(".deputize-doctor-{}", std::process::id()));
    let made = OpenOptions::new().write(true).create_new(true).open(&probe).is_ok();
    made && std::fs::remove_file(&probe).is_ok()
}

/// The store: what is in it, and how much more fits.
async fn kept(path: &Path) -> CheckedDoc {
    let free = path.ancestors().find(|above| above.is_dir()).and_then(wire::free_space);
    let row = |status, text: String| {
        let row = CheckedDoc::new("store", status, text).fact("path", path.display().to_string());
        row.fact("free_bytes", free)
    };
    let left = free.map(|free| format!("; {} are free on its disk", bytes(free))).unwrap_or_default();
    let shown = path.display();
    let little = free.is_some_and(|free| free < LITTLE);
    let status = if little { Health::Warning } else { Health::Ok };
    let row = if path.exists() {
        match wire::stats(path).await {
            Ok(stats) => row(
                status,
                format!(
                    "{shown} (schema {}) holds {} runs of {} trees in {}{left}",
                    stats.schema,
                    text::count(stats.runs),
                    text::count(stats.trees),
                    bytes(stats.bytes)
                ),
            )
            .fact("schema", stats.schema)
            .fact("bytes", stats.bytes)
            .fact("runs", stats.runs)
            .fact("trees", stats.trees),
            Err(e) => {
                return row(Health::Failed, e.to_string())
                    .fix("move the file away, or name another one with `store: {path: FILE}` or --home DIR");
            }
        }
    } else {
        row(status, format!("{shown} is made by the first run{left}"))
    };
    if little { row.fix("make room: deputize runs lists what is kept") } else { row }
}

fn bytes(count: u64) -> String {
    const UNITS: [(&str, u64); 3] = [("GB", 1 << 30), ("MB", 1 << 20), ("kB", 1 << 10)];
    let unit = UNITS.iter().find(|(_, size)| count >= *size);
    unit.map_or_else(|| format!("{count} bytes"), |(name, size)| format!("{} {name}", count / size))
}

fn git() -> CheckedDoc {
    let asked = Command::new("git").arg("--version").stdin(Stdio::null()).output();
    match asked.ok().filter(|output| output.status.success()) {
        Some(output) => CheckedDoc::new("git", Health::Ok, String::from_utf8_lossy(&output.stdout).trim().to_string()),
        None => CheckedDoc::new("git", Health::Off, "not found; nothing in this build needs it"),
    }
}
