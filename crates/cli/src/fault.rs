//! What keeps a command from doing its work: a stable code, one sentence, what to do, perhaps a place in a file. Owns how
//! errors are shown, as text on standard error and with `--json` as a document on standard output.

use crate::exit::Exit;
use crate::out::Out;
use deputize_api::{ErrorBody, ErrorDoc, SCHEMA};
use deputize_core::definition::message::Message;
use deputize_runtime::port::{StoreError, store_code};
use deputize_runtime::{DriveError, StartError};

/// Why a command ends without a result.
#[derive(Debug)]
pub(crate) struct Fault {
    body: Box<ErrorBody>,
    exit: Exit,
    /// What a person sees instead of code, message and hint.
    shown: Option<String>,
    /// The literal command to type next, if another one than the code's own.
    next: Option<String>,
}

/// The command to type next after an error, by the beginning of its code: the first that fits. The last fits all.
const NEXT: &[(&str, &str)] = &[
    ("usage.", "deputize --help"),
    ("run.", "deputize runs"),
    ("cancel.", "deputize runs"),
    ("driver.", "deputize runs"),
    ("internal.", "deputize runs"),
    ("provider.", "deputize doctor"),
    ("model.", "deputize doctor"),
    ("store.", "deputize doctor"),
    ("workspace.", "deputize doctor"),
    ("system.", "deputize doctor"),
    ("detach.", "deputize doctor"),
    ("demo.", "deputize doctor"),
    ("mock.", "deputize doctor"),
    ("output.log_file", "deputize --help"),
    ("output.", "deputize show last"),
    ("flag.", "deputize run --help"),
    ("brief.", "deputize run --help"),
    ("objective.", "deputize run --help"),
    ("init.", "deputize init --help"),
    ("", "deputize check"),
];

impl Fault {
    /// Nothing was started.
    pub(crate) fn new(code: &str, message: impl Into<String>) -> Fault {
        let body = ErrorBody { code: code.to_string(), message: message.into(), ..ErrorBody::default() };
        Fault { body: Box::new(body), exit: Exit::Refused, shown: None, next: None }
    }
    /// The command line was not understood.
    pub(crate) fn usage(message: impl Into<String>, shown: String) -> Fault {
        let fault = Fault::new("usage.invalid", message);
        Fault { exit: Exit::Usage, shown: Some(shown), ..fault }
    }
    /// The sentence, and what to do.
    pub(crate) fn parts(&self) -> (&str, Option<&str>) {
        (&self.body.message, self.body.hint.as_deref())
    }
    /// With what to do instead.
    #[must_use]
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Fault {
        self.body.hint = Some(hint.into());
        self
    }
    /// There are more such errors than this one.
    #[must_use]
    pub(crate) fn more(mut self, count: usize) -> Fault {
        let more = format!("{count} more: deputize check lists them all");
        let hint = self.body.hint.take();
        self.body.hint = Some(hint.map_or_else(|| more.clone(), |hint| format!("{hint}; {more}")));
        self
    }
    /// With the literal command to type next.
    #[must_use]
    pub(crate) fn next(self, command: impl Into<String>) -> Fault {
        Fault { next: Some(command.into()), ..self }
    }
    /// With its own text for people.
    #[must_use]
    pub(crate) fn shown(mut self, text: String) -> Fault {
        self.shown = Some(text);
        self
    }
    /// Shows it, and says how to end. Every error ends with the command to type next.
    pub(crate) fn show(mut self, out: &Out) -> Exit {
        self.show_beside(out);
        let code = &self.body.code;
        let own = NEXT.iter().find(|(area, _)| code.starts_with(area)).map(|(_, command)| (*command).to_string());
        if let Some(command) = self.next.take().or(own) {
            let command = out.command(&command);
            out.say(&format!("next: {command}"));
            self.body.hint.get_or_insert_with(|| format!("run `{command}`"));
        }
        if out.json() {
            out.document(&ErrorDoc { schema: SCHEMA, error: *self.body });
        }
        self.exit
    }
    /// Shows it to the person alone: the command goes on.
    pub(crate) fn show_beside(&self, out: &Out) {
        out.say(&self.shown.clone().unwrap_or_else(|| {
            let hint = self.body.hint.as_ref().map(|h| format!("\n  = {}", h.replace('\n', "\n    ")));
            format!("error[{}]: {}{}", self.body.code, self.body.message, hint.unwrap_or_default())
        }));
    }
}

impl From<&Message> for Fault {
    fn from(message: &Message) -> Fault {
        let body = ErrorBody {
            code: message.code.clone(),
            message: message.text.clone(),
            hint: message.hint.clone(),
            file: message.file.clone(),
            line: message.line,
            column: message.column,
        };
        Fault { body: Box::new(body), exit: Exit::Refused, shown: None, next: None }
    }
}

impl From<StoreError> for Fault {
    fn from(error: StoreError) -> Fault {
        let fault = Fault::new(store_code(&error).as_str(), error.to_string());
        match error {
            StoreError::Conflict { .. } | StoreError::Fenced { .. } => {
                fault.hint("another process has taken the run over; everything that was finished before is recorded")
            }
            StoreError::Damaged { .. } => fault.hint("the other runs of the store can still be read"),
            StoreError::Newer { .. } | StoreError::Failed(_) => fault,
        }
    }
}

impl From<DriveError> for Fault {
    fn from(error: DriveError) -> Fault {
        match error {
            DriveError::Store(error) => Fault::from(error),
            DriveError::NoRun(run) => Fault::new("run.unknown", format!("there is no run {run}")),
            DriveError::NoStart(_) => Fault::new("store.damaged", error.to_string()),
            DriveError::Changed { .. } => Fault::new("run.changed", error.to_string()),
            DriveError::Gone { .. } => Fault::new("run.changed", error.to_string())
                .hint("put its file back; without --adopt the run goes on with what it has"),
            DriveError::Broken(_) => {
                Fault::new("driver.broken", error.to_string()).hint("deputize resume goes on from the log")
            }
        }
    }
}

impl From<StartError> for Fault {
    fn from(error: StartError) -> Fault {
        match error {
            StartError::Brief(incomplete) => Fault::new(incomplete.code.as_str(), incomplete.why),
            StartError::Model { .. } => Fault::new("model.unknown", error.to_string())
                .hint("set it under `roles` or `aliases` in deputize.yaml, or give --model PROVIDER:MODEL"),
            StartError::Store(error) => Fault::from(error),
            StartError::Drive(error) => Fault::from(error),
        }
    }
}
