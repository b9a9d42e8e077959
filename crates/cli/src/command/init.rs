//! `init`: the files of a team to start from, written where none of them is. Replaces nothing.

use crate::ambient::Ambient;
use crate::args::InitArgs;
use crate::exit::Exit;
use crate::fault::Fault;
use crate::out::{Out, quoted};
use crate::template::{self, TeamFile};
use deputize_api::{InitDoc, SCHEMA};
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::Path;

/// Writes the files of a template.
pub(crate) fn execute(args: &InitArgs, ambient: &Ambient, out: &Out) -> Result<Exit, Fault> {
    let template = template::named(&args.template)
        .ok_or_else(|| Fault::new("init.unknown", format!("there is no template `{}`", args.template)))?;
    let here = args.dir == Path::new(".");
    let folder = if here { ambient.cwd.clone() } else { ambient.cwd.join(&args.dir) };
    let files: Vec<&TeamFile> = template.files.iter().filter(|file| !file.demo).collect();
    let there: Vec<&str> = files.iter().map(|file| file.path).filter(|path| exists(&folder.join(path))).collect();
    if !there.is_empty() {
        let text = format!("{} has {} already; nothing was written", folder.display(), there.join(", "));
        let free = format!("deputize init {} --dir {}", template.name, quoted(&args.dir.join(template.name)));
        return Err(Fault::new("init.exists", text).hint("name another folder with --dir DIR").next(free));
    }
    for file in &files {
        write(&folder, file)?;
    }
    let team = if here { String::new() } else { format!("{} ", quoted(&args.dir)) };
    let next = format!("deputize run {team}\"{}\"", template.objective);
    let check = format!("deputize check {team}").trim_end().to_string();
    let files: Vec<String> = files.iter().map(|file| file.path.to_string()).collect();
    let doc = InitDoc { schema: SCHEMA, template: template.name.to_string(), folder: folder.clone(), files, next };
    out.either(&doc, || {
        let files: String = doc.files.iter().map(|file| format!("  {file}\n")).collect();
        format!("team {} in {}\n{files}look at it: {check}\nnext: {}", doc.template, folder.display(), doc.next)
    });
    Ok(Exit::Good)
}

/// Whether anything is there, a broken link included.
fn exists(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

fn write(folder: &Path, file: &TeamFile) -> Result<(), Fault> {
    let path = folder.join(file.path);
    let parent = path.parent().unwrap_or(folder);
    let written = std::fs::create_dir_all(parent)
        .and_then(|()| OpenOptions::new().write(true).create_new(true).open(&path))
        .and_then(|mut open| open.write_all(file.text.as_bytes()));
    written.map_err(|e| {
        Fault::new("init.failed", format!("{} cannot be written: {e}", path.display()))
            .hint("name a folder of yours with --dir DIR")
    })
}
