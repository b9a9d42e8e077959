//! Models: roles, aliases and limits merged; every name that an agent, a role or a flag uses is looked up.

use super::agents::{Agent, Agents};
use super::config::Config;
use super::findings::Findings;
use super::providers::{Providers, SCRIPTED};
use super::request::LoadRequest;
use deputize_core::definition::message::{Level, Message};
use deputize_core::definition::nearest::nearest;
use deputize_core::definition::spec::At;
use deputize_core::definition::{ModelChoice, Models, ROLES};
use deputize_core::id::ModelName;

/// Aliases of every team, as foreign files use them.
const ALIASES: [(&str, &str); 3] = [("haiku", "fast"), ("sonnet", "default"), ("opus", "think")];

/// Merges the models of person, project and flags.
pub(super) fn merge(
    request: &LoadRequest,
    project: &Config,
    user: &Config,
    providers: &Providers,
    findings: &mut Findings,
) -> Models {
    let aliases = ALIASES.map(|(alias, role)| (alias.to_string(), role.to_string())).into();
    let mut models = Models { forced: forced(request, providers, findings), aliases, ..Models::default() };
    for config in [user, project] {
        for (role, model) in &config.spec.roles {
            let name = ModelName::new(&model.value);
            // With a model for all, a role that nothing stands behind does no harm.
            if let Some(why) = lacking(name.provider(), providers).filter(|_| models.forced.is_none()) {
                let text = format!("`roles.{role}: {}`: {why}", model.value);
                findings.push(Message::new(Level::Error, "provider.unknown", text).file(&config.file).at(model.at));
            }
            models.roles.insert(role.clone(), name);
        }
        let aliases = config.spec.aliases.iter().map(|(alias, target)| (alias.clone(), target.value.clone()));
        models.aliases.extend(aliases);
        models.limits.extend(config.spec.models.iter().map(|(m, limits)| (ModelName::new(m), limits.value)));
    }
    for (role, model) in &request.overrides.roles {
        let name = ModelName::new(model);
        let flag = format!("--role {role}={model}");
        if !ROLES.contains(&role.as_str()) {
            let message = Message::new(Level::Error, "role.unknown", format!("`{flag}`: there is no role `{role}`"));
            findings.push(message.hint(format!("the roles are {}", ROLES.join(", "))));
        } else if let Some(why) = lacking(name.provider(), providers) {
            findings.error("model.unknown", format!("`{flag}`: {why}"));
        } else {
            models.roles.insert(role.clone(), name);
        }
    }
    models
}

/// The model that replaces all: of `--model`, else the script of `--script`.
fn forced(request: &LoadRequest, providers: &Providers, findings: &mut Findings) -> Option<ModelName> {
    let overrides = &request.overrides;
    let Some(written) = &overrides.model else {
        overrides.script.as_ref()?;
        findings.info("model.script", "every model is the script of `--script`");
        return Some(ModelName::new(format!("{SCRIPTED}:script")));
    };
    let name = ModelName::new(written);
    match lacking(name.provider(), providers) {
        None if !name.model().is_empty() => Some(name),
        why => {
            let why = why.unwrap_or_else(|| "the name of the model is missing".into());
            let message = Message::new(Level::Error, "model.unknown", format!("`--model {written}`: {why}"));
            findings.push(message.hint("a model is named `provider:model`, such as `openai:NAME`"));
            None
        }
    }
}

/// Why a provider cannot be used; none when it can.
fn lacking(provider: &str, providers: &Providers) -> Option<String> {
    if providers.named.contains(provider) {
        return None;
    }
    Some(match provider {
        "" => "this is no `provider:model`".to_string(),
        other => {
            let near = nearest(other, providers.all.keys().map(String::as_str));
            let guess = near.map(|n| format!("; the nearest is `{n}`")).unwrap_or_default();
            format!("there is no provider `{other}`{guess}")
        }
    })
}

/// Looks up the model of every agent and its fallbacks. An unknown one is a warning here; before a run it is an error
/// unless a flag replaces it.
pub(super) fn check(agents: &Agents, models: &Models, providers: &Providers, findings: &mut Findings) {
    for agent in &agents.loaded {
        let named = matches!(agent.spec.definition.model, ModelChoice::Named(_));
        for written in agent.spec.model.iter().filter(|_| named) {
            unknown(agent, written, models, providers, findings);
        }
        for written in &agent.spec.fallback {
            let is_agent = agents.loaded.iter().any(|a| a.name() == written.value);
            if is_agent && !models.aliases.contains_key(&written.value) && !ROLES.contains(&written.value.as_str()) {
                let text =
                    format!("`fallback: {}` names an agent: this build falls back to models only", written.value);
                let message = Message::new(Level::Error, "key.unsupported", text).file(&agent.file).at(written.at);
                findings.push(message.hint("`fallback: [provider:model, fast]`: models, roles or aliases, in order"));
            } else {
                unknown(agent, written, models, providers, findings);
            }
        }
    }
}

/// Says so when nothing stands behind the name of a model.
fn unknown(agent: &Agent, written: &At<String>, models: &Models, providers: &Providers, findings: &mut Findings) {
    let name = &written.value;
    let target = models.aliases.get(name).map_or(name.as_str(), String::as_str);
    let why = if ROLES.contains(&target) {
        return;
    } else if let Some((provider, _)) = target.split_once(':') {
        match lacking(provider, providers) {
            Some(why) => why,
            None => return,
        }
    } else {
        "it is no role, no alias and no `provider:model`".to_string()
    };
    let instead = match &models.forced {
        Some(model) => format!("; `{model}` is used instead"),
        None => String::new(),
    };
    let text = format!("`{}` needs the model `{name}`, which is not known: {why}{instead}", agent.name());
    let message = Message::new(Level::Warning, "model.unknown", text).file(&agent.file).at(written.at);
    findings
        .push(message.hint(format!("`aliases: {{{name}: default}}` in `deputize.yaml`, or `--model provider:model`")));
}
