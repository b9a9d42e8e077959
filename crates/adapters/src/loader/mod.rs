//! The loader: a folder of agent files, perhaps with a `deputize.yaml`, into a [`Setup`] that can be run, or into every
//! complaint about it at once. Owns the search for files, the choice of the root, the mapping of foreign tool names and
//! the ceiling of foreign folders. Runs nothing, and reads neither environment nor current folder: see [`LoadRequest`].

mod agents;
mod assemble;
mod check;
mod choices;
mod config;
mod dialect;
mod explain;
mod files;
mod find;
mod findings;
mod front;
mod kinds;
mod mcp;
mod models;
mod paths;
mod permissions;
mod project;
mod providers;
mod report;
mod request;
mod root;
mod setup;
mod show;
mod skills;
mod tool_names;
mod tools;
mod world;

pub use config::FLAG_KEYS;
pub use explain::Setting;
pub use kinds::{Facts, KINDS};
pub use request::{LoadRequest, Overrides, Purpose};
pub use setup::{Limits, Listing, Loaded, Origin, Provider, ProviderKind, Setup, StoreChoice, Sync, Timeouts};
pub use show::render;

use agents::Agents;
use config::Config;
use deputize_core::definition::decode::Whose;
use deputize_core::definition::message::{Level, Message};
use deputize_core::definition::spec::At;
use deputize_core::definition::{Profile, Team};
use findings::Findings;
use project::Project;
use root::Wishes;
use tools::Catalog;

/// Drops what would be concluded from files that could not be read in full: it would speak of what they may well hold.
fn only_what_is_sure(config: &Config, user: &Config, agents: &Agents, findings: &mut Findings) {
    let mut unsure: Vec<&str> = Vec::new();
    if !agents.complete() {
        unsure.extend(["agent.unreachable", "agent.too_deep"]);
    }
    if config.bad || user.bad {
        unsure.extend(["agent.unreachable", "agent.too_deep", "model.unknown", "tool.ceiling"]);
    }
    if config.holes || user.holes {
        unsure.extend(["provider.unknown", "load.missing", "load.fallback"]);
    }
    // An error of the configuration's own text is no conclusion.
    let sure = |m: &Message| m.code == "model.unknown" && m.level == Level::Error;
    findings.messages.retain(|m| !unsure.contains(&m.code.as_str()) || sure(m));
}

/// Loads a team. Never fails as a whole: what is wrong is in the messages.
pub fn load(request: &LoadRequest) -> Loaded {
    let mut findings = Findings::new(&request.cwd);
    let project = match project::locate(request) {
        Ok(project) => project,
        Err(message) => {
            findings.push(message);
            return Loaded { messages: findings.messages, ..Loaded::default() };
        }
    };
    let config = match &project.config {
        Some(path) => config::read(path, Whose::Project, &mut findings),
        None => Config { folder: project.folder.clone(), ..Config::default() },
    };
    let user = config::user(request, &mut findings);
    let found = search(request, &project, &config, &mut findings);
    let mut agents = agents::read(&found, &mut findings);
    let (setup, listings) = assemble(request, &project, (&config, &user), &mut agents, &mut findings);
    if request.purpose == Purpose::Check && project.file.is_none() {
        skills::check(&project.folder, &mut findings);
        mcp::check(&project.folder, &request.env, &mut findings);
    }
    only_what_is_sure(&config, &user, &agents, &mut findings);
    let file = project.config.as_ref().map(|_| config.file.as_str());
    findings.settle(&config.spec.check, file);
    let mut places = user.located();
    places.extend(config.located());
    let Findings { messages, sources, .. } = findings;
    let given = explain::Sources { request, project: &config, user: &user };
    let settings = setup.iter().flat_map(|setup| explain::settings(setup, &given)).collect();
    let mut loaded = Loaded { setup: None, messages, agents: listings, sources, places, settings };
    if request.purpose == Purpose::Check {
        only_named(&mut loaded, &project, &config, &request.cwd);
    }
    let bad = loaded.messages.iter().any(|m| m.level == Level::Error);
    loaded.setup = setup.filter(|_| !bad);
    let pointed = |file: &String| loaded.messages.iter().any(|m| m.line.is_some() && m.file.as_ref() == Some(file));
    loaded.sources.retain(|file, _| pointed(file));
    loaded
}

/// Collects the files that may be agents, in order of precedence.
fn search(request: &LoadRequest, project: &Project, config: &Config, findings: &mut Findings) -> Vec<find::Found> {
    let mut search = find::Search::new();
    let base = if project.config.is_some() { &config.folder } else { &project.folder };
    let entries: Vec<At<String>> = match &config.spec.load {
        Some(entries) => entries.clone(),
        None => find::usual(base, findings),
    };
    for entry in &entries {
        search.entry(base, entry, &config.file, findings);
    }
    if project.bare {
        search.folder(&project.folder, ".", findings);
    }
    if let Some(file) = &project.file {
        search.file(file, ".");
    }
    if config.spec.user_agents {
        for folder in request.user_agents.iter().filter(|f| f.is_dir()) {
            search.folder(folder, "user", findings);
        }
    }
    search.finish(findings)
}

/// Puts the parts together. The setup is right only when no finding is an error.
fn assemble(
    request: &LoadRequest,
    project: &Project,
    (config, user): (&Config, &Config),
    agents: &mut Agents,
    findings: &mut Findings,
) -> (Option<Setup>, Vec<Listing>) {
    let foreign = project.config.is_none();
    let catalog = Catalog::new(&request.tools);
    let ceiling = assemble::ceiling(&catalog, config.spec.tools.as_deref(), &config.file, findings);
    assemble::definitions(agents, &request.tools, &ceiling, findings);
    assemble::link(agents, findings);
    let wishes = Wishes {
        flag: request.agent.as_deref(),
        project,
        config: config.spec.root.as_ref(),
        config_file: &config.file,
        purpose: request.purpose,
    };
    let root = root::choose(&wishes, agents, findings);
    tools::timed(&catalog, config, findings);
    let providers = providers::merge(request, config, user, findings);
    let models = models::merge(request, config, user, &providers, findings);
    models::check(agents, &models, &providers, findings);
    let (budget, flags) = config::budgets(request, &user.spec.budget, &config.spec.budget, foreign, findings);
    let default = if foreign { Profile::Assisted } else { Profile::Strict };
    let profile = config.spec.profile.unwrap_or(default);
    let (operations, layer) = report::permissions(request, foreign, findings);
    let workspace = world::workspace(request, config, findings);
    let folder = project.folder.file_name().map(|n| n.to_string_lossy().into_owned());
    let mut team = Team {
        name: config.spec.name.clone().or(folder).unwrap_or_else(|| "team".into()),
        root: root.clone().unwrap_or_default(),
        profile,
        agents: agents.loaded.iter().map(|a| (a.spec.definition.name.clone(), a.spec.definition.clone())).collect(),
        tools: request.tools.iter().map(|t| (t.name.clone(), t.clone())).collect(),
        ceiling,
        permissions: operations,
        layers: permissions::layers(layer, config),
        workspace: workspace.clone().into_iter().collect(),
        budget,
        models,
        retry: providers.retry,
        output_limits: config.spec.output_limits.unwrap_or_default(),
        tool_timeout: config.spec.tool_timeout.clone().unwrap_or_default(),
        in_doubt: config.spec.in_doubt.unwrap_or_default(),
        project_context: world::context(project, config, findings),
    };
    if let Some(root) = team.agents.get_mut(&team.root) {
        root.budget = flags.run.or(root.budget);
    }
    let listings = look(&team, agents, config, workspace.as_deref(), findings);
    report::profile(profile, foreign, findings);
    if foreign {
        report::foreign(agents, &catalog, &team.layers, &team.budget, findings);
    }
    let shown = findings.shown(&project.folder);
    let store = world::store(config, user, findings);
    let setup = workspace.zip(root).map(|(workspace, _)| Setup {
        team,
        providers: providers.all,
        workspace,
        store,
        foreign,
        project: shown,
    });
    (setup, listings)
}

/// Says what is worth saying about the team as a whole, and lists its agents.
fn look(
    team: &Team,
    agents: &Agents,
    config: &Config,
    workspace: Option<&std::path::Path>,
    findings: &mut Findings,
) -> Vec<Listing> {
    let stands = check::stands(team);
    check::lint(team, agents, &stands, findings);
    choices::lint(team, agents, findings);
    choices::deep(team, config, findings);
    let rules = permissions::lint(team, agents, config, workspace, findings);
    check::listings(team, agents, &stands, &rules)
}

/// When one agent file was named for a check, only what is about it is shown.
fn only_named(loaded: &mut Loaded, project: &Project, config: &Config, cwd: &std::path::Path) {
    let Some(path) = &project.file else { return };
    let file = Some(paths::shown(cwd, path));
    loaded.agents.retain(|a| a.file == file);
    loaded.messages.retain(|m| m.file.is_none() || m.file == file || m.file.as_ref() == Some(&config.file));
}
