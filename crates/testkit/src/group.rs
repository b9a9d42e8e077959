//! Toys whose `hang` is a real process with a child of its own, to show that what is stopped is gone with its whole group.

use crate::toys::Toys;
use deputize_core::code;
use deputize_core::definition::ToolSpec;
use deputize_core::id::ToolName;
use deputize_core::step::{Failure, Note};
use deputize_runtime::port::{Pending, Tools, Who};
use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::Value;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};
use std::sync::{Arc, Mutex, PoisonError};

/// The toys, with processes.
#[derive(Clone, Debug, Default)]
pub struct Groups {
    /// All but `hang`.
    pub toys: Toys,
    started: Arc<Mutex<Vec<u32>>>,
}

/// A process and what it started. Dropping it kills the whole group, as the port asks of every tool that starts processes.
struct Group(Child);

impl Drop for Group {
    fn drop(&mut self) {
        // Fails only when the group is gone already.
        let _gone = kill_process_group(Pid::from_child(&self.0), Signal::KILL);
        drop(self.0.wait());
    }
}

impl Groups {
    /// The groups that were started, by number.
    pub fn started(&self) -> Vec<u32> {
        self.started.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
    /// How many processes of these groups are alive (Linux; zero elsewhere).
    pub fn alive(&self) -> usize {
        let groups = self.started();
        let Ok(processes) = std::fs::read_dir("/proc") else { return 0 };
        let stats = processes.flatten().filter_map(|p| std::fs::read_to_string(p.path().join("stat")).ok());
        stats.filter(|stat| living_in(stat).is_some_and(|group| groups.contains(&group))).count()
    }

    async fn hang(&self) -> Result<String, Failure> {
        let started = Command::new("sh").args(["-c", "sleep 1000 & wait"]).process_group(0).spawn();
        let group = Group(started.map_err(|e| Failure::fixed(code::TOOL_FAILED, e.to_string()))?);
        self.started.lock().unwrap_or_else(PoisonError::into_inner).push(group.0.id());
        std::future::pending::<()>().await;
        drop(group);
        Ok(String::new())
    }
}

/// The group of a process by its `stat` line, if it is alive.
fn living_in(stat: &str) -> Option<u32> {
    let (_, rest) = stat.rsplit_once(") ")?;
    let mut fields = rest.split(' ');
    let state = fields.next()?;
    let group = fields.nth(1)?.parse().ok()?;
    (!matches!(state, "Z" | "X")).then_some(group)
}

impl Tools for Groups {
    fn specs(&self) -> Vec<ToolSpec> {
        self.toys.specs()
    }
    fn prepare<'a>(
        &'a self,
        who: &'a Who,
        tool: &'a ToolName,
        arguments: &'a Value,
    ) -> Pending<'a, Result<Option<Note>, Failure>> {
        self.toys.prepare(who, tool, arguments)
    }
    fn perform<'a>(
        &'a self,
        who: &'a Who,
        tool: &'a ToolName,
        arguments: &'a Value,
        note: Option<&'a Note>,
    ) -> Pending<'a, Result<String, Failure>> {
        if tool.as_str() == "hang" { Box::pin(self.hang()) } else { self.toys.perform(who, tool, arguments, note) }
    }
    fn exists<'a>(&'a self, path: &'a str) -> Pending<'a, bool> {
        self.toys.exists(path)
    }
}
