//! Loading a team: thousands of agent files, as public collections have them.

use crate::Plan;
use crate::measure::{Fault, Spread, interleaved, short};
use crate::table::Table;
use deputize_adapters::loader::{LoadRequest, Purpose, load};
use deputize_adapters::tool::BUILTIN;
use std::fs;
use std::time::Instant;

pub(crate) async fn run(plan: &Plan) -> Result<Vec<Table>, Fault> {
    let sizes = plan.size([250, 2_500], [5, 50]);
    let mut folders = Vec::new();
    for files in sizes {
        let dir = plan.folder()?;
        let agents = dir.path().join("agents");
        fs::create_dir_all(&agents)?;
        for i in 0..files {
            let text = format!(
                "---\nname: agent-{i}\ndescription: Looks after part {i} of the project and says what it found.\n\
                 tools: Read, Grep\nmodel: fast\n---\n{}",
                "You read what you are given and answer in short sentences.\n".repeat(20)
            );
            fs::write(agents.join(format!("agent-{i}.md")), text)?;
        }
        let tools = BUILTIN.iter().map(|t| t.spec()).collect();
        let cwd = fs::canonicalize(dir.path())?;
        folders.push((files, dir, LoadRequest { purpose: Purpose::Check, cwd, tools, ..LoadRequest::default() }));
    }
    let at: Vec<usize> = (0..folders.len()).collect();
    let timed = async |at: usize| {
        let (files, _, request) = folders.get(at).ok_or("no such size")?;
        let start = Instant::now();
        let loaded = load(request);
        let milliseconds = start.elapsed().as_secs_f64() * 1_000.0;
        if loaded.agents.len() != *files {
            return Err("not every file loaded".into());
        }
        Ok(milliseconds)
    };
    let times = interleaved(plan.rounds, &at, timed).await?;
    let mut table = Table::new("Loading and checking a folder of agent files, wall.", &["files", "ms", "us per file"]);
    for ((files, _, _), times) in folders.iter().zip(times) {
        let spread = Spread::of(times);
        let each = spread.median * 1_000.0 / f64::from(u32::try_from(*files)?);
        table.row([files.to_string(), spread.to_string(), short(each)]);
    }
    Ok(vec![table])
}
