//! The team, its models, their providers, and the model servers of this machine.

use crate::ambient::Ambient;
use crate::args::DoctorArgs;
use crate::discover;
use crate::fault::Fault;
use crate::out::one_line;
use crate::prepare;
use crate::wire::{self, Layer, Trouble};
use deputize_adapters::loader::{KINDS, Loaded, Origin, Provider, Purpose, Setup};
use deputize_api::doctor::{CheckedDoc, Health};
use deputize_core::definition::nearest::nearest;
use deputize_core::id::ModelName;
use std::path::PathBuf;
use std::time::Duration;

/// How long a provider is looked at, unless its own time-out is shorter.
const PATIENCE: Duration = Duration::from_secs(5);
/// Names of models that a row lists.
const LISTED: usize = 6;
/// Characters of a name or a sentence from elsewhere.
const NAME: usize = 60;
const SENTENCE: usize = 400;
/// Variables of the environment that send connections through a proxy.
const PROXIES: [&str; 6] = ["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"];

/// The rows, and where the team keeps its runs if it says so.
pub(super) async fn rows(args: &DoctorArgs, ambient: &Ambient) -> (Vec<CheckedDoc>, Option<PathBuf>) {
    let loaded = prepare::load(ambient, &args.team, args.path.clone(), Purpose::Run);
    let mut rows = vec![team(&loaded)];
    let mut store = None;
    if let Some(mut setup) = loaded.setup {
        store.clone_from(&setup.store.path);
        rows.push(model(&mut setup, ambient).await);
        rows.extend(providers(args, &setup, ambient).await);
    }
    rows.push(local(ambient).await);
    rows.push(keys(ambient));
    rows.push(network(ambient));
    (rows, store)
}

fn team(loaded: &Loaded) -> CheckedDoc {
    let blockers = loaded.blockers();
    match (blockers.first(), &loaded.setup) {
        (None, Some(setup)) => {
            let text = format!("{} loads; its root is {}", setup.team.name, setup.team.root);
            CheckedDoc::new("team", Health::Ok, text).fact("agents", loaded.agents.len())
        }
        (first, _) => {
            let first = first.map(|m| one_line(&m.text, SENTENCE)).unwrap_or_default();
            let count = blockers.len();
            let text = if count > 1 { format!("{first}; and {} more", count - 1) } else { first };
            CheckedDoc::new("team", Health::Failed, text).fix("deputize check shows each error with its place")
        }
    }
}

/// The model of the root, found as a run finds it.
async fn model(setup: &mut Setup, ambient: &Ambient) -> CheckedDoc {
    let found = match discover::default_model(setup, ambient).await {
        Ok(found) => found,
        Err(fault) => return faulty("model", &fault),
    };
    let root = setup.team.agents.get(&setup.team.root);
    let chosen = root.and_then(|root| setup.team.models.resolve(&root.model, None).ok());
    let name = chosen.map(|chosen| chosen.model.to_string()).unwrap_or_default();
    let why = found.iter().rev().find(|choice| choice.code == "model.found").map(|choice| choice.text.clone());
    let text = why.unwrap_or_else(|| format!("the model of the root is {name}"));
    CheckedDoc::new("model", Health::Ok, one_line(&text, SENTENCE)).fact("model", name)
}

fn faulty(area: &'static str, fault: &Fault) -> CheckedDoc {
    let (text, hint) = fault.parts();
    let row = CheckedDoc::new(area, Health::Failed, one_line(text, SENTENCE));
    hint.into_iter().fold(row, |row, hint| row.fix(hint))
}

/// Every provider that somebody configured or that an agent needs.
async fn providers(args: &DoctorArgs, setup: &Setup, ambient: &Ambient) -> Vec<CheckedDoc> {
    let used = wire::used_models(setup);
    let mut rows = Vec::new();
    for (name, settings) in &setup.providers {
        let models: Vec<&ModelName> = used.iter().filter(|model| model.provider() == name).collect();
        let has_key = settings.api_key_env.as_deref().is_some_and(|variable| ambient.var(variable).is_some());
        let written = settings.base_url_from != Origin::Default || settings.script.is_some();
        if models.is_empty() && !written && !has_key {
            continue;
        }
        let row = provider(name, settings, setup, &models, ambient).await;
        // What no agent needs keeps no run from starting.
        let spared = models.is_empty() && row.status == Health::Failed;
        let mut row = if spared { CheckedDoc { status: Health::Warning, ..row } } else { row };
        // A server may answer and have no list of its models.
        let may = |layer| [Layer::Model, Layer::Address].map(Layer::word).contains(&layer);
        if args.call && row.layer.is_none_or(may) {
            let mut calls = Vec::new();
            for model in &models {
                calls.push(call(setup, name, settings, model, ambient).await);
            }
            // The server answers all the same: then the list is what is wrong.
            if !calls.is_empty() && calls.iter().all(|call| call.status == Health::Ok) && row.layer.is_some() {
                row = CheckedDoc { status: Health::Warning, fix: None, ..row };
            }
            rows.push(row);
            rows.extend(calls);
        } else {
            rows.push(row);
        }
    }
    rows
}

async fn provider(
    name: &str,
    settings: &Provider,
    setup: &Setup,
    models: &[&ModelName],
    ambient: &Ambient,
) -> CheckedDoc {
    let row = |status, text: String| CheckedDoc::new("provider", status, one_line(&text, SENTENCE)).name(name);
    if let Some(script) = &settings.script {
        let there = script.is_file();
        let text = format!("answers from {}{}", script.display(), if there { "" } else { ", which is not there" });
        return row(if there { Health::Ok } else { Health::Failed }, text);
    }
    let failed = |trouble: Trouble| CheckedDoc {
        layer: Some(trouble.layer.word()),
        ..row(Health::Failed, trouble.why.clone()).fix(fix(trouble.layer, name, settings))
    };
    if let Err(fault) = wire::key(name, settings, ambient) {
        let trouble = Trouble { layer: Layer::Auth, why: fault.parts().0.to_string() };
        return failed(trouble).fact("address", settings.base_url.clone());
    }
    let patience = Duration::from_millis(settings.timeout.first_byte).min(PATIENCE);
    let examined = wire::examine(setup, name, settings, ambient, (proxied(settings, ambient), patience)).await;
    let names = match examined {
        Ok(names) => names,
        Err(trouble) => return failed(trouble).fact("address", settings.base_url.clone()),
    };
    let missing = models.iter().find(|model| !has(&names, model.model()));
    let row = match missing {
        None => row(Health::Ok, format!("{} answers and lists {}", settings.base_url, listed(&names))),
        Some(model) => {
            let near = nearest(model.model(), names.iter().map(String::as_str));
            let near = near.map(|near| format!("; the nearest is `{}`", one_line(near, NAME))).unwrap_or_default();
            let why = format!("{} has no model `{}`{near}", settings.base_url, one_line(model.model(), NAME));
            let all = format!("name one of these with `roles` or --model: {}", listed(&names));
            failed(Trouble { layer: Layer::Model, why }).fix(all)
        }
    };
    row.fact("address", settings.base_url.clone()).fact("models", names)
}

/// Servers that have versions of a model answer to its name alone, too.
fn has(names: &[String], model: &str) -> bool {
    names.iter().any(|name| name == model || name.strip_suffix(":latest") == Some(model))
}

fn listed(names: &[String]) -> String {
    let mut shown: Vec<String> = names.iter().take(LISTED).map(|name| one_line(name, NAME)).collect();
    if names.len() > LISTED {
        shown.push(format!("and {} more", names.len() - LISTED));
    }
    if shown.is_empty() { "no model".to_string() } else { shown.join(", ") }
}

/// What to do about a layer.
fn fix(layer: Layer, name: &str, settings: &Provider) -> String {
    match layer {
        Layer::Address => "set `base_url` to the interface itself: it ends with /v1 for most servers; --call tries a server that has no list".to_string(),
        Layer::Proxy => format!(
            "see `providers.{name}.proxy` and `proxy_auth_env`, else HTTPS_PROXY; `proxy: none` goes without a proxy"
        ),
        Layer::Dns => "check the name of the machine in `base_url`, and the network".to_string(),
        Layer::Connect => "start the server, or correct machine and port in `base_url`".to_string(),
        Layer::Tls => format!(
            "name the certificate of the server's authority: `providers.{name}.ca_file: FILE.pem`; a server without TLS \
             has an http:// address"
        ),
        Layer::Auth => match &settings.api_key_env {
            Some(variable) => format!("put a valid key into {variable}"),
            None => format!("name the variable with the key: `providers.{name}.api_key_env: NAME`"),
        },
        Layer::Model => "name another model with `roles` or --model".to_string(),
        Layer::Answer => "check that `base_url` leads to a model server, and that it is not busy".to_string(),
    }
}

/// One short call: the only thing here that spends tokens.
async fn call(setup: &Setup, name: &str, settings: &Provider, model: &ModelName, ambient: &Ambient) -> CheckedDoc {
    let row = |status, text: String| CheckedDoc::new("call", status, one_line(&text, SENTENCE)).name(model.to_string());
    match wire::say_a_word(setup, name, settings, model, ambient).await {
        Ok(tokens) => row(Health::Ok, format!("answers; {tokens} tokens were used")).fact("tokens", tokens),
        Err(trouble) => CheckedDoc {
            layer: Some(trouble.layer.word()),
            ..row(Health::Failed, trouble.why.clone()).fix(fix(trouble.layer, name, settings))
        },
    }
}

/// Whether the environment sends this provider's connections through a proxy.
fn proxied(settings: &Provider, ambient: &Ambient) -> bool {
    let plain = settings.base_url.starts_with("http://");
    let fits = |name: &&&str| name.to_lowercase().starts_with(if plain { "http_" } else { "https_" });
    let all = ["ALL_PROXY", "all_proxy"];
    !wire::avoids_proxies(&settings.base_url, no_proxy(ambient).unwrap_or_default())
        && PROXIES.iter().filter(fits).chain(&all).any(|name| ambient.var(name).is_some())
}

/// What the environment takes out of its proxies.
fn no_proxy(ambient: &Ambient) -> Option<&str> {
    ["NO_PROXY", "no_proxy"].into_iter().find_map(|name| ambient.var(name))
}

/// Model servers of this machine, whoever uses them.
async fn local(ambient: &Ambient) -> CheckedDoc {
    let found = discover::servers(ambient).await;
    if found.is_empty() {
        let ports: Vec<String> = discover::ports(ambient).iter().map(u16::to_string).collect();
        let text = format!("no model server answers on this machine at the ports {}", ports.join(", "));
        return CheckedDoc::new("local", Health::Off, text);
    }
    let said: Vec<String> = found.iter().map(|(address, names)| format!("{address}: {}", listed(names))).collect();
    let addresses: Vec<&str> = found.iter().map(|(address, _)| address.as_str()).collect();
    CheckedDoc::new("local", Health::Ok, one_line(&said.join("; "), SENTENCE)).fact("addresses", addresses)
}

/// Names of variables; never a value.
fn keys(ambient: &Ambient) -> CheckedDoc {
    let known = KINDS.iter().flat_map(|facts| [facts.key_variable, facts.url_variable]).flatten();
    let (set, unset): (Vec<&str>, Vec<&str>) = known.partition(|name| ambient.var(name).is_some());
    let list = |names: &[&str]| if names.is_empty() { "none".to_string() } else { names.join(", ") };
    let text = format!("set: {}; not set: {}", list(&set), list(&unset));
    let status = if set.is_empty() { Health::Off } else { Health::Ok };
    CheckedDoc::new("keys", status, text).fact("set", set)
}

fn network(ambient: &Ambient) -> CheckedDoc {
    let set: Vec<&str> = PROXIES.into_iter().filter(|name| ambient.var(name).is_some()).collect();
    if set.is_empty() {
        return CheckedDoc::new("network", Health::Off, "the environment names no proxy").fact("proxies", set);
    }
    let except = no_proxy(ambient).map(|hosts| format!(", but not to {}", one_line(hosts, NAME))).unwrap_or_default();
    let text = format!(
        "{} of the environment: connections go through that proxy{except}; those to this machine never do, and \
         `providers.NAME.proxy` has the last word",
        set.join(", ")
    );
    CheckedDoc::new("network", Health::Ok, text).fact("proxies", set)
}
