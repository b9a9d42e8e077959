//! Starting and resuming trees. Owns the handle that an operator holds; the driver behind it owns the tree.

use crate::driver::{Control, DriveError, Driver, Halt, PROGRAM_REV, World};
use crate::live::{BUFFER, Live};
use crate::port::StoreError;
use deputize_core::brief::{Brief, Incomplete};
use deputize_core::definition::{Chosen, Definition, Team};
use deputize_core::event::{Choice, Started};
use deputize_core::govern;
use deputize_core::id::{AgentPath, Digest, RunId};
use std::sync::Arc;
use tokio::sync::{broadcast, mpsc};
use tokio::task::JoinHandle;

/// What a new tree starts from.
pub struct Launch {
    /// The team; pinned for the whole run.
    pub team: Arc<Team>,
    /// What a resume in another process needs to rebuild team and world; kept as a blob. Holds no secrets.
    pub setup: Vec<u8>,
    /// The objective of the root.
    pub objective: String,
    /// Choices made for the user.
    pub choices: Vec<Choice>,
}

/// Why a tree cannot start or be taken up.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The objective is blank, or the team has no usable root.
    #[error("{0}")]
    Brief(#[from] Incomplete),
    /// Nothing stands behind the root's model.
    #[error("agent {agent} names the model or role {name}, which is not known")]
    Model {
        /// The root agent.
        agent: String,
        /// What it names.
        name: String,
    },
    /// The store.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The logs.
    #[error(transparent)]
    Drive(#[from] DriveError),
}

/// A tree that is being driven. Dropping the handle does not stop it.
pub struct Handle {
    root: RunId,
    control: mpsc::UnboundedSender<Control>,
    live: broadcast::Sender<Live>,
    driver: JoinHandle<Result<Halt, DriveError>>,
}

/// A tree that is ready to be driven: observers can subscribe before the first event.
pub struct Ready {
    root: RunId,
    control: mpsc::UnboundedSender<Control>,
    live: broadcast::Sender<Live>,
    driver: Driver,
}

impl Ready {
    /// The root run.
    pub fn root(&self) -> &RunId {
        &self.root
    }
    /// Everything that happens from now on.
    pub fn watch(&self) -> broadcast::Receiver<Live> {
        self.live.subscribe()
    }
    /// Cancels a run of the tree before anything new starts.
    #[must_use]
    pub fn cancel(mut self, run: &RunId, by: &str) -> Ready {
        self.driver.cancel(run, by);
        self
    }
    /// Starts nothing: what was asked for is done, the rest of the tree stays as it is until somebody takes it up.
    #[must_use]
    pub fn still(mut self) -> Ready {
        self.driver.hold_still();
        self
    }
    /// Lets it run.
    pub fn go(self) -> Handle {
        let Ready { root, control, live, driver } = self;
        Handle { root, control, live, driver: tokio::spawn(driver.drive()) }
    }
    /// Lets it run and ends with it.
    ///
    /// # Errors
    /// As [`Handle::wait`].
    pub async fn run(self) -> Result<Halt, DriveError> {
        self.go().wait().await
    }
}

impl Handle {
    /// The root run.
    pub fn root(&self) -> &RunId {
        &self.root
    }
    /// Everything that happens from now on.
    pub fn watch(&self) -> broadcast::Receiver<Live> {
        self.live.subscribe()
    }
    /// Asks something of the driver; without effect when it has ended.
    pub fn control(&self, control: Control) {
        drop(self.control.send(control));
    }
    /// Says something to the model of a run; see [`Control::Say`].
    pub fn say(&self, run: &RunId, text: &str, by: &str) {
        let (run, text, by) = (run.clone(), text.to_string(), by.to_string());
        self.control(Control::Say { run, text, by });
    }
    /// A door to the driver that outlives borrows of this handle.
    pub fn controller(&self) -> mpsc::UnboundedSender<Control> {
        self.control.clone()
    }
    /// Waits until the tree is over or interrupted.
    ///
    /// # Errors
    /// The store failed, or a newer driver has taken the tree over.
    pub async fn wait(self) -> Result<Halt, DriveError> {
        match self.driver.await {
            Ok(result) => result,
            Err(e) => Err(DriveError::Broken(e.to_string())),
        }
    }
    /// Ends the driver at once, as a crash would; for tests and for a second interrupt.
    pub fn kill(self) {
        self.driver.abort();
    }
}

/// A new tree.
///
/// # Errors
/// The brief of the root is not complete, its model is not known, or the store failed.
pub async fn start(world: World, launch: Launch) -> Result<Ready, StartError> {
    let Launch { team, setup, objective, choices } = launch;
    let brief = govern::root_brief(&team, &objective)?;
    let agent = team.agents.get(&team.root).ok_or_else(|| StartError::Drive(DriveError::NoRun(RunId::new(""))))?;
    let chosen = choose(&team, agent)?;
    let blob = world.store.put(setup).await?;
    let root = world.ids.run();
    let epoch = world.store.lease(&root).await?;
    let started = started(&root, &team, agent, brief, chosen, blob.clone(), choices);
    let mut ready = ready(world, team, blob, root, epoch);
    ready.driver.plant(started);
    Ok(ready)
}

/// An existing tree, taken up under a new lease: what its last driver had under way is in doubt. A tree that is over is
/// taken up too and ends at once with its recorded result.
///
/// # Errors
/// There is no such run, its log cannot be read, it was started with another team, or the store failed.
pub async fn resume(world: World, root: &RunId, team: Arc<Team>, setup: Digest) -> Result<Ready, StartError> {
    let epoch = world.store.lease(root).await?;
    let mut ready = ready(world, team, setup, root.clone(), epoch);
    ready.driver.recover(None).await?;
    Ok(ready)
}

/// As [`resume`], with the agents of another team: every run of the tree that is not over goes on with them, from its next
/// step on, and its log says so. `setup` is kept as a blob, as in a [`Launch`]; `by` is who asks. Briefs, models and budgets
/// that were given stay.
///
/// # Errors
/// As [`resume`]; or an agent that the tree still needs is not in the team.
pub async fn adopt(world: World, root: &RunId, team: Arc<Team>, setup: Vec<u8>, by: &str) -> Result<Ready, StartError> {
    let blob = world.store.put(setup).await?;
    let epoch = world.store.lease(root).await?;
    let mut ready = ready(world, team, blob, root.clone(), epoch);
    ready.driver.recover(Some(by)).await?;
    Ok(ready)
}

fn ready(world: World, team: Arc<Team>, blob: Digest, root: RunId, epoch: u64) -> Ready {
    let (control, controls) = mpsc::unbounded_channel();
    let (live, _) = broadcast::channel(BUFFER);
    let driver = Driver::new(world, team, blob, root.clone(), epoch, controls, live.clone());
    Ready { root, control, live, driver }
}

fn choose(team: &Team, agent: &Definition) -> Result<Chosen, StartError> {
    let unknown = |name: String| StartError::Model { agent: agent.name.to_string(), name };
    for other in team.agents.values() {
        for model in other.named_models() {
            let bad = |name| StartError::Model { agent: other.name.to_string(), name };
            team.models.resolve(&model, None).map_err(bad)?;
        }
    }
    team.models.resolve(&agent.model, None).map_err(unknown)
}

fn started(
    root: &RunId,
    team: &Team,
    agent: &Definition,
    brief: Brief,
    chosen: Chosen,
    blob: Digest,
    choices: Vec<Choice>,
) -> Started {
    Started {
        run: root.clone(),
        parent: None,
        agent: agent.name.clone(),
        path: AgentPath::root(&agent.name),
        depth: 0,
        brief,
        model: chosen.model,
        role: chosen.role,
        definition: agent.digest(),
        team: blob,
        team_name: team.name.clone(),
        program_rev: PROGRAM_REV,
        choices,
    }
}
