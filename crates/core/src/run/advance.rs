//! What follows from the log alone. Any prefix of the answer may be appended; asking again gives the rest.

use super::account;
use super::state::RunState;
use crate::answer::Answer;
use crate::code::{self, Code};
use crate::definition::Team;
use crate::event::Event;
use crate::govern;
use crate::id::Label;
use crate::pattern::find;
use crate::program::{End, Move, View};
use crate::summary::Terminal;

/// What is to be done now.
#[derive(Debug, Default)]
pub struct Next {
    /// Append these.
    pub events: Vec<Event>,
    /// Open steps that nobody waits for any more: the driver stops them.
    pub stop: Vec<Label>,
}

impl RunState {
    /// What follows from the log alone: events to append, steps to stop.
    pub fn advance(&self, team: &Team) -> Next {
        let Some(started) = self.started.as_ref().filter(|_| self.summary.is_none()) else { return Next::default() };
        if let (Some(by), Some(limit)) = (&self.cancelled, &self.overtaken) {
            let why = format!("the time of {by} is over");
            return self.cut_short(Terminal::of_cap(limit), limit.clone(), why, limit.limit());
        }
        if let Some(by) = &self.cancelled {
            let why = format!("cancelled by {by}");
            return self.cut_short(Terminal::Cancelled, code::RUN_CANCELLED, why, None);
        }
        if self.out_of_time() {
            let why = format!("its {} s are over", started.brief.budget.value.time / 1000);
            return self.cut_short(Terminal::Deadline, code::BUDGET_TIME, why, Some("time"));
        }
        let Some(agent) = team.agents.get(&started.agent) else {
            return self.fail(code::PROGRAM_UNKNOWN, format!("the team has no agent {}", started.agent));
        };
        let Some(program) = find(&agent.pattern) else {
            return self.fail(code::PROGRAM_UNKNOWN, format!("there is no pattern {}", agent.pattern));
        };
        let view = View::root(self, team, agent, &started.brief);
        match program.next(&view).and_then(|answer| self.judged(&view, answer)) {
            Ok(answer) => self.succeed(answer),
            Err(Move::End(end)) => self.end(*end),
            Err(Move::Want(wants)) => {
                let events = govern::admit(self, team, wants);
                if events.is_empty() && self.open.is_empty() && self.waiting.is_empty() {
                    let why = "the program wants nothing, and nothing is under way: a fault of the program";
                    return self.fail(code::RUN_STALLED, why.into());
                }
                Next { events, stop: Vec::new() }
            }
        }
    }

    /// Judges the success condition; conditions on files are looked at by probe steps first.
    fn judged(&self, view: &View<'_>, answer: Answer) -> Result<(Answer, Vec<crate::summary::Judged>), Move> {
        let probes = view.files_exist(&view.brief().success.value)?;
        let judged = govern::judge(&view.brief().success.value, &answer, self.evidence().len(), &probes);
        Ok((answer, judged))
    }

    fn succeed(&self, (answer, judged): (Answer, Vec<crate::summary::Judged>)) -> Next {
        let unmet = judged.iter().find(|j| j.verdict != crate::summary::Verdict::Met);
        let mut end = match unmet {
            None => account::Ending::new(Terminal::Succeeded, answer.payload),
            Some(j) => account::Ending::new(Terminal::Unmet, answer.payload)
                .because(code::SUCCESS_UNMET, format!("not shown to be met: {}", j.condition)),
        };
        end.success = judged;
        self.finish(end)
    }

    fn end(&self, end: End) -> Next {
        let said = !end.payload.is_null();
        let payload = if said { end.payload } else { self.what_exists() };
        let partial = end.partial || !(said || payload.is_null());
        let mut ending = account::Ending::new(end.terminal, payload).because(end.code, end.why);
        ending.partial = partial;
        ending.limit = end.limit;
        self.finish(ending)
    }

    fn fail(&self, code: Code, why: String) -> Next {
        let payload = self.what_exists();
        let partial = !payload.is_null();
        let mut ending = account::Ending::new(Terminal::Failed, payload).because(code, why);
        ending.partial = partial;
        self.finish(ending)
    }

    /// The driver found that the run cannot go on: its program broke down, or a request came out with other bytes.
    pub fn abandon(&self, code: Code, why: String) -> Next {
        if self.summary.is_some() { Next::default() } else { self.fail(code, why) }
    }

    fn cut_short(&self, terminal: Terminal, code: Code, why: String, limit: Option<&str>) -> Next {
        let mut ending = account::Ending::new(terminal, self.what_exists()).because(code, why);
        ending.partial = true;
        ending.limit = limit.map(str::to_string);
        self.finish(ending)
    }

    /// A run ends only when no step is open: what was paid for is recorded.
    fn finish(&self, ending: account::Ending) -> Next {
        if !self.open.is_empty() {
            return Next { events: Vec::new(), stop: self.open.iter().cloned().collect() };
        }
        match self.account(ending) {
            Some(summary) => Next { events: vec![Event::RunFinished { summary }], stop: Vec::new() },
            None => Next::default(),
        }
    }
}
