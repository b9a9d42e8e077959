//! The model of a team that names none: a key or an address in the environment, then a server on this machine. Owns the
//! order in which places are tried and what is said about each; the first that is there is taken, and it is named.

use crate::ambient::Ambient;
use crate::fault::Fault;
use crate::out::one_line;
use crate::wire;
use deputize_adapters::loader::{Facts, KINDS, Limits, Origin, Provider, ProviderKind, Setup, Timeouts};
use deputize_core::code;
use deputize_core::definition::{Definition, Models};
use deputize_core::event::Choice;
use deputize_core::id::ModelName;
use deputize_core::step::Failure;
use std::collections::BTreeMap;

/// What a public address is asked for when nobody names a model, with the day that was last looked at. Chosen for price and
/// tool calls.
const MODELS: &[(ProviderKind, &str, &str)] = &[
    (ProviderKind::Anthropic, "claude-sonnet-5-5", "2026-12-01"),
    (ProviderKind::Anthropic, "claude-sonnet-5", "2026-12-01"),
    (ProviderKind::Openai, "gpt-5-mini", "2026-11-30"),
    (ProviderKind::Gemini, "gemini-3.8-flash", "2026-11-30"),
];
/// Ollama, llama.cpp, LM Studio, vLLM.
const PORTS: [u16; 4] = [11434, 8080, 1234, 8000];
/// Other ports than these, for tests: numbers with commas, or nothing.
const PORTS_VARIABLE: &str = "DEPUTIZE_LOOPBACK_PORTS";
/// The name of a provider that was found on this machine.
const LOCAL: &str = "local";
/// What to do when there is no model at all.
const HINT: &str = "\
export OPENAI_API_KEY=KEY                     or ANTHROPIC_API_KEY, GEMINI_API_KEY
export OPENAI_BASE_URL=http://HOST:PORT/v1    any server that speaks chat completions
ollama serve                                  or llama.cpp, LM Studio, vLLM on their usual ports
deputize run --script FILE \"OBJECTIVE\"       answers from a file
one of these is enough; `deputize demo` needs none of them";
/// Names of models that a message lists.
const LISTED: usize = 12;
/// Characters of a model's name in a message.
const NAME: usize = 80;

/// Gives the role `default` a model if a run needs one and has none. Returns what is to be said about it.
pub(crate) async fn default_model(setup: &mut Setup, ambient: &Ambient) -> Result<Vec<Choice>, Fault> {
    if !needs_default(setup) {
        return Ok(Vec::new());
    }
    let model = match configured(setup, ambient) {
        Some((facts, provider)) => in_environment(setup, facts, provider, ambient).await?,
        None => {
            let (provider, model) = on_loopback(ambient).await?.ok_or_else(|| nowhere(setup))?;
            setup.providers.insert(LOCAL.to_string(), provider);
            model
        }
    };
    let Found { name, why } = model;
    let said = Choice { code: "model.found".to_string(), text: format!("the model is {name}: {why}") };
    setup.team.models.roles.insert("default".to_string(), name);
    Ok(vec![said])
}

/// A model that was found, and how.
struct Found {
    name: ModelName,
    why: String,
}

/// Whether the root, or an agent that names a role, ends at the role `default` with nothing behind it.
fn needs_default(setup: &Setup) -> bool {
    let Models { roles, forced, .. } = &setup.team.models;
    if forced.is_some() || roles.contains_key("default") {
        return false;
    }
    let root = setup.team.agents.get(&setup.team.root).map(|agent| agent.model.clone());
    let named = setup.team.agents.values().flat_map(Definition::named_models);
    root.into_iter().chain(named).any(|model| setup.team.models.resolve(&model, None).is_err())
}

/// The first of the providers that are always there to which somebody gave an address or a key.
fn configured<'a>(setup: &'a Setup, ambient: &Ambient) -> Option<(&'static Facts, &'a Provider)> {
    KINDS.iter().find_map(|facts| {
        let provider = setup.providers.get(facts.name).filter(|p| p.kind == facts.kind)?;
        let given = provider.base_url_from != Origin::Default || key(provider, ambient).is_some();
        given.then_some((facts, provider))
    })
}

fn key<'a>(provider: &Provider, ambient: &'a Ambient) -> Option<&'a str> {
    provider.api_key_env.as_deref().and_then(|variable| ambient.var(variable))
}

async fn in_environment(setup: &Setup, facts: &Facts, provider: &Provider, ambient: &Ambient) -> Result<Found, Fault> {
    let (address, prefix) = (&provider.base_url, facts.name);
    let listed = wire::models_of(setup, facts.name, provider, ambient).await;
    let names = listed.map_err(|failure| unlisted(facts, address, &failure))?;
    let found = |model: &str, why: String| Found { name: ModelName::new(format!("{prefix}:{model}")), why };
    if let [only] = names.as_slice() {
        return Ok(found(only, format!("the only one at {address}")));
    }
    let default = MODELS.iter().find(|(kind, model, _)| *kind == facts.kind && names.iter().any(|name| name == model));
    if let Some((_, model, dated)) = default.filter(|_| provider.base_url_from == Origin::Default) {
        return Ok(found(model, format!("the default of this build for {address}, dated {dated}")));
    }
    Err(undecided(address, &names, &format!("--model {prefix}:NAME")))
}

/// All ports are asked at once, and the first in order that answers is taken.
async fn on_loopback(ambient: &Ambient) -> Result<Option<(Provider, Found)>, Fault> {
    let asked: Vec<_> = ports(ambient).into_iter().map(|port| tokio::spawn(at(port))).collect();
    for answer in asked {
        let Ok(Some(Server { facts, address, names })) = answer.await else { continue };
        let [only] = names.as_slice() else {
            let set = match facts.url_variable {
                Some(variable) => format!("{variable}={address} and "),
                None if address == facts.address => String::new(),
                None => format!("providers: {{{}: {{base_url: \"{address}\"}}}} in deputize.yaml and ", facts.name),
            };
            return Err(undecided(&address, &names, &format!("{set}--model {}:NAME", facts.name)));
        };
        let name = ModelName::new(format!("{LOCAL}:{only}"));
        let by = if facts.kind == ProviderKind::Openai { "the server" } else { facts.title };
        let why = format!("the only one of {by} at {address}");
        return Ok(Some((local(facts.kind, address), Found { name, why })));
    }
    Ok(None)
}

/// Every server on this machine and its models, in the order of the ports.
pub(crate) async fn servers(ambient: &Ambient) -> Vec<(String, Vec<String>)> {
    let asked: Vec<_> = ports(ambient).into_iter().map(|port| tokio::spawn(at(port))).collect();
    let mut found = Vec::new();
    for answer in asked {
        found.extend(answer.await.ok().flatten().map(|server| (server.address, server.names)));
    }
    found
}

/// A server on this machine.
struct Server {
    facts: &'static Facts,
    address: String,
    names: Vec<String>,
}

/// What is at a port. Ollama is spoken to by its own interface, though it has the common one too: only there the context
/// window can be set, and without that it cuts long prompts and does not say so.
async fn at(port: u16) -> Option<Server> {
    let root = format!("http://127.0.0.1:{port}");
    let common = format!("{root}/v1");
    let listed = wire::list_models(ProviderKind::Openai, &common, None);
    let (is_ollama, listed) = tokio::join!(wire::is_ollama(&root), listed);
    let (kind, address, listed) = match is_ollama {
        true => (ProviderKind::Ollama, root.clone(), wire::list_models(ProviderKind::Ollama, &root, None).await),
        false => (ProviderKind::Openai, common, listed),
    };
    Some(Server { facts: kind.facts()?, address, names: listed.ok()? })
}

/// The ports at which model servers are looked for.
pub(crate) fn ports(ambient: &Ambient) -> Vec<u16> {
    match ambient.env.get(PORTS_VARIABLE) {
        Some(ports) => ports.split(',').filter_map(|port| port.trim().parse().ok()).collect(),
        None => PORTS.to_vec(),
    }
}

fn local(kind: ProviderKind, base_url: String) -> Provider {
    Provider {
        kind,
        base_url,
        base_url_from: Origin::Env,
        api_key_env: None,
        headers: BTreeMap::new(),
        body: serde_json::Map::new(),
        script: None,
        ca_file: None,
        proxy: None,
        proxy_auth_env: None,
        timeout: Timeouts::default(),
        limits: Limits::default(),
    }
}

fn unlisted(facts: &Facts, address: &str, failure: &Failure) -> Fault {
    let text = format!("no model is named, and {address} does not say which it has: {}", failure.why);
    let hint = match &failure.code {
        code if *code == code::MODEL_AUTH => {
            format!("check the key in {}", facts.key_variable.unwrap_or("api_key_env"))
        }
        _ => format!("check the address, or name the model with --model {}:NAME", facts.name),
    };
    Fault::new(failure.code.as_str(), text).hint(hint)
}

fn undecided(address: &str, names: &[String], instead: &str) -> Fault {
    let mut shown: Vec<String> = names.iter().take(LISTED).map(|name| one_line(name, NAME)).collect();
    if names.len() > LISTED {
        shown.push(format!("and {} more", names.len() - LISTED));
    }
    let text = match names {
        [] => format!("no model is named, and {address} has none"),
        _ => format!("no model is named, and {address} has several: {}", shown.join(", ")),
    };
    let hint = format!("name one with {instead}, or under `roles` in deputize.yaml");
    Fault::new("model.undecided", text).hint(hint)
}

fn nowhere(setup: &Setup) -> Fault {
    let variables: Vec<&str> =
        KINDS.iter().flat_map(|facts| [facts.key_variable, facts.url_variable]).flatten().collect();
    let text = format!(
        "there is no model: none of {} is set, and no model server was found on this machine",
        variables.join(", ")
    );
    let own = setup.providers.keys().find(|name| KINDS.iter().all(|facts| facts.name != name.as_str()));
    let own = own.map(|name| format!("roles: {{default: \"{name}:MODEL\"}}    in deputize.yaml\n"));
    Fault::new("model.none", text).hint(own.unwrap_or_default() + HINT)
}
