//! Providers: merged from project, person, environment and flags; where a key of the environment may go.

use crate::support::{Folder, codes, has, lines};
use deputize_adapters::loader::{Origin, Provider, ProviderKind};
use deputize_core::definition::message::Level;
use deputize_core::id::ModelName;

/// A folder with a project's and a person's configuration and an environment.
fn folder(project: &str, user: &str, env: &[(&str, &str)]) -> Folder {
    let folder = Folder::new().agent("a", "").file("deputize.yaml", project).file("home/config.yaml", user);
    let path = folder.path().join("home/config.yaml");
    folder.with(|r| {
        r.user_config = Some(path);
        r.env = env.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
    })
}

fn openai(folder: &Folder) -> Provider {
    folder.setup().providers.remove("openai").unwrap()
}

const KEY: (&str, &str) = ("OPENAI_API_KEY", "sk-very-secret");
const HERE: &str = "providers: {openai: {base_url: \"http://10.0.0.9:8080/v1/\"}}";

#[test]
fn the_public_address_and_its_key_are_the_default() {
    let provider = openai(&folder("", "", &[KEY]));
    assert_eq!(provider.kind, ProviderKind::Openai);
    assert_eq!((provider.base_url.as_str(), provider.base_url_from), ("https://api.openai.com/v1", Origin::Default));
    assert_eq!(provider.api_key_env.as_deref(), Some("OPENAI_API_KEY"));
    assert_eq!((provider.timeout.connect, provider.timeout.total, provider.limits.concurrency), (10_000, 600_000, 8));
}

#[test]
fn every_kind_of_server_is_there_with_its_address_and_key() {
    let setup = folder("", "", &[("GEMINI_API_KEY", "g-very-secret")]).setup();
    let of = |name: &str| {
        let provider = &setup.providers[name];
        (provider.kind, provider.base_url.as_str(), provider.api_key_env.as_deref())
    };
    let google = "https://generativelanguage.googleapis.com/v1beta";
    assert_eq!(of("gemini"), (ProviderKind::Gemini, google, Some("GEMINI_API_KEY")));
    assert_eq!(of("ollama"), (ProviderKind::Ollama, "http://127.0.0.1:11434", None));
    // The same rule for every key: nobody whom a project chose gets it unasked, and an address of another kind is no excuse.
    for project in [
        "providers: {gemini: {base_url: \"http://10.0.0.9/v1beta\"}}",
        "providers: {gemini: {base_url: \"https://api.openai.com/v1\"}}",
        "providers: {gemini: {kind: ollama, base_url: \"http://10.0.0.9\"}}",
    ] {
        let loaded = folder(project, "", &[("GEMINI_API_KEY", "g-very-secret"), KEY]).load();
        assert_eq!(loaded.setup.unwrap().providers["gemini"].api_key_env, None, "{project}");
    }
}

#[test]
fn anthropics_variable_holds_an_address_with_or_without_its_version() {
    let of = |project: &str, url: &str| {
        folder(project, "", &[("ANTHROPIC_BASE_URL", url)]).setup().providers.remove("anthropic").unwrap()
    };
    let public = of("", "");
    assert_eq!(public.kind, ProviderKind::Anthropic);
    assert_eq!((public.base_url.as_str(), public.base_url_from), ("https://api.anthropic.com/v1", Origin::Default));
    assert_eq!(public.api_key_env.as_deref(), Some("ANTHROPIC_API_KEY"));
    for url in ["http://127.0.0.1:7", "http://127.0.0.1:7/", "http://127.0.0.1:7/v1", "http://127.0.0.1:7/v1/"] {
        assert_eq!(of("", url).base_url, "http://127.0.0.1:7/v1", "{url}");
    }
    let own = "providers: {anthropic: {base_url: \"http://127.0.0.1:8/anthropic\"}}";
    assert_eq!(of(own, "").base_url, "http://127.0.0.1:8/anthropic", "in a file it is used as it is given");
    assert_eq!(of(own, "").api_key_env.as_deref(), None, "and gets no key that is not its own");
}

#[test]
fn a_key_of_the_environment_goes_to_nobody_whom_a_project_chose() {
    let of = |project: &str, user: &str, env: &[(&str, &str)]| {
        let folder = folder(project, user, env);
        let loaded = folder.load();
        match loaded.setup {
            Some(setup) => {
                let p = &setup.providers["openai"];
                format!("{:?} {}", p.base_url_from, p.api_key_env.as_deref().unwrap_or("none"))
            }
            None => codes(&loaded).join(" "),
        }
    };
    let own = "providers: {openai: {base_url: \"http://10.0.0.9/v1\", api_key_env: LAB_KEY}}";
    let theirs = "providers: {openai: {base_url: \"http://10.0.0.9/v1\", api_key_env: OPENAI_API_KEY}}";
    let loopback = theirs.replace("10.0.0.9", "127.0.0.1:9");
    let env_url = ("OPENAI_BASE_URL", "http://127.0.0.1:7/v1/");
    assert_eq!(of(HERE, "", &[KEY]), "Project none");
    assert_eq!(of(own, "", &[KEY]), "Project LAB_KEY");
    assert_eq!(of(theirs, "", &[KEY]), "secret.elsewhere");
    assert_eq!(of(&loopback, "", &[KEY]), "Project OPENAI_API_KEY");
    assert_eq!(of("", HERE, &[KEY]), "User OPENAI_API_KEY");
    assert_eq!(of("", own, &[KEY]), "User LAB_KEY");
    assert_eq!(of(HERE, own, &[KEY]), "Project none");
    assert_eq!(of("", "", &[KEY, env_url]), "Env OPENAI_API_KEY");
    assert_eq!(of(HERE, "", &[KEY, env_url]), "Env OPENAI_API_KEY");
    let public = "providers: {openai: {base_url: \"https://api.openai.com/v1\"}}";
    assert_eq!(of(public, "", &[KEY]), "Project OPENAI_API_KEY");
    let disguised = "providers: {openai: {base_url: \"https://api.openai.com.evil.example/v1\"}}";
    assert_eq!(of(disguised, "", &[KEY]), "Project none");
    assert!(has(&folder(HERE, "", &[KEY]).load(), Level::Warning, "secret.elsewhere"));
}

#[test]
fn nothing_of_a_key_is_kept_or_said() {
    let folder = folder(HERE, "", &[KEY]);
    let loaded = folder.load();
    let all = format!("{}{:?}", serde_json::to_string(&loaded.setup).unwrap(), loaded.messages);
    assert!(!all.contains(KEY.1));
    let wrong = Folder::new().file("deputize.yaml", "providers: {openai: {api_key_env: sk-very-secret}}\n").load();
    assert!(wrong.messages.iter().all(|m| !m.text.contains(KEY.1)));
}

#[test]
fn a_persons_own_headers_do_not_follow_a_project() {
    let user = "providers: {openai: {headers: {x-mine: \"1\"}, body: {a: 1}}}";
    let mine = openai(&folder("providers: {openai: {headers: {x-team: t}, body: {b: 2}}}", user, &[]));
    assert_eq!(mine.headers.keys().collect::<Vec<_>>(), ["x-mine", "x-team"]);
    assert_eq!(mine.body.len(), 2);
    assert!(openai(&folder(HERE, user, &[])).headers.is_empty());
}

#[test]
fn settings_of_a_provider_are_merged_field_by_field() {
    let user = "providers: {openai: {timeout: {idle: 5m, connect: 1s}, limits: {concurrency: 2}}}\nroles: {fast: \"openai:u\", think: \"openai:t\"}\nbudget: {tree: {runs: 9}}\nstore: {sync: normal}";
    let project = "providers:\n  openai: {timeout: {connect: 2s}, retry: {attempts: 2}}\n  lab: {kind: openai, base_url: \"http://127.0.0.1:1/v1\"}\nroles: {fast: \"lab:p\"}\n";
    let setup = folder(project, user, &[]).setup();
    let p = &setup.providers["openai"];
    assert_eq!((p.timeout.idle, p.timeout.connect, p.limits.concurrency), (300_000, 2_000, 2));
    assert_eq!((setup.team.retry["openai"].attempts, setup.team.retry["openai"].delay), (2, 500));
    assert_eq!(setup.team.models.roles["fast"], ModelName::new("lab:p"));
    assert_eq!(setup.team.models.roles["think"], ModelName::new("openai:t"));
    assert_eq!(setup.team.budget.tree.runs, Some(9));
    assert_eq!(setup.providers["lab"].base_url_from, Origin::Project);
}

#[test]
fn the_persons_configuration_has_fewer_keys() {
    let loaded = folder("", "providers: {}\nroot: a\nuser_agents: true\n", &[]).load();
    assert_eq!(codes(&loaded), ["key.not_here", "key.not_here"]);
    assert_eq!(
        loaded.messages.iter().find(|m| m.code == "key.not_here").unwrap().file.as_deref(),
        Some("home/config.yaml")
    );
}

#[test]
fn a_bad_address_in_the_environment_is_an_error_that_does_not_repeat_it() {
    let loaded = folder("", "", &[("OPENAI_BASE_URL", "http://me:pw@host/v1")]).load();
    assert_eq!(codes(&loaded), ["env.base_url"]);
    assert!(loaded.messages.iter().all(|m| !m.text.contains("pw@")));
}

#[test]
fn a_script_is_a_provider_and_stands_for_every_model() {
    let folder = Folder::new().agent("a", "model: chronos\n").file("s.yaml", "x: 1\n");
    let folder = folder.with(|r| r.overrides.script = Some("s.yaml".into()));
    let setup = folder.setup();
    assert_eq!(setup.providers["scripted"].script.as_deref(), Some(folder.path().join("s.yaml").as_path()));
    assert_eq!(setup.team.models.forced, Some(ModelName::new("scripted:script")));
    assert!(folder.load().blockers().is_empty());
    let in_file = Folder::new()
        .file(
            "conf/deputize.yaml",
            "providers: {demo: {kind: scripted, script: s.yaml}}\nroles: {default: \"demo:any\"}\n",
        )
        .file("conf/s.yaml", "x: 1\n")
        .file("conf/agents/a.md", "---\nname: a\ndescription: d\n---\nB")
        .with(|r| r.team = Some("conf".into()));
    let setup = in_file.setup();
    assert_eq!(setup.providers["demo"].script.as_deref(), Some(in_file.path().join("conf/s.yaml").as_path()));
}

#[test]
fn agents_of_the_home_folder_are_read_only_when_asked_for() {
    let home = Folder::new().file("mine/h.md", "---\nname: h\ndescription: d\n---\nB");
    let names = |text: &str| {
        let folder = Folder::new().agent("a", "").file("deputize.yaml", text);
        let loaded = folder.with(|r| r.user_agents = vec![home.path().join("mine")]).load();
        loaded.agents.into_iter().map(|a| format!("{}:{}", a.name, a.source)).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(names(""), "a:agents");
    assert_eq!(names("user_agents: true"), "a:agents h:user");
}

/// A project whose provider has these lines, with a key of the person's in the environment.
fn lab(written: &str) -> Folder {
    let text = format!("providers:\n  openai: {{{written}}}\n");
    let env = [("OPENAI_API_KEY", "k"), ("LAB_AUTH", "u:p")].map(|(name, value)| (name.to_string(), value.to_string()));
    Folder::new()
        .agent("lead", "")
        .file("deputize.yaml", text)
        .file("ca.pem", "-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n")
        .file("key.pem", "-----BEGIN PRIVATE KEY-----\n")
        .with(|r| r.env = env.into())
}

#[test]
fn a_certificate_or_an_open_proxy_of_the_project_keeps_the_persons_key_at_home() {
    for (written, kept) in [
        ("timeout: {idle: 1m}", true),
        ("proxy: none", true),
        // What is encrypted stays so on its way through a proxy.
        ("proxy: 'http://10.0.0.9:3128'", true),
        ("ca_file: ca.pem", false),
        ("ca_file: ca.pem, proxy: 'http://10.0.0.9:3128'", false),
        ("base_url: 'http://127.0.0.1:9/v1', proxy: 'http://10.0.0.9:3128'", false),
    ] {
        let loaded = lab(written).load();
        let setup = loaded.setup.as_ref().unwrap();
        let key = setup.providers["openai"].api_key_env.as_deref();
        assert_eq!(key, kept.then_some("OPENAI_API_KEY"), "{written}");
        assert_eq!(has(&loaded, Level::Warning, "secret.elsewhere"), !kept, "{written}");
    }
    // Not even when the project names the person's key, and not to its own machine by way of a proxy.
    for written in [
        "ca_file: ca.pem, api_key_env: OPENAI_API_KEY",
        "base_url: 'http://127.0.0.1:9/v1', api_key_env: OPENAI_API_KEY, proxy: 'http://10.0.0.9:3128'",
        "proxy: 'http://10.0.0.9:3128', proxy_auth_env: OPENAI_API_KEY",
    ] {
        assert!(has(&lab(written).load(), Level::Error, "secret.elsewhere"), "{written}");
    }
}

#[test]
fn certificates_and_proxies_are_checked_with_their_place() {
    let setup = lab("ca_file: ca.pem, proxy: 'http://10.0.0.9:3128', proxy_auth_env: LAB_AUTH").setup();
    let provider = &setup.providers["openai"];
    assert!(provider.ca_file.as_ref().unwrap().is_absolute());
    assert_eq!(
        (provider.proxy.as_deref(), provider.proxy_auth_env.as_deref()),
        (Some("http://10.0.0.9:3128"), Some("LAB_AUTH"))
    );
    for (written, code, said) in [
        ("ca_file: none.pem", "path.missing", "none.pem cannot be read"),
        ("ca_file: key.pem", "path.missing", "key.pem holds no certificate"),
        ("proxy: 'http://user:secret@10.0.0.9'", "secret.in_file", "a credential never stands in a file"),
        ("proxy: direct", "key.type", "must be an address"),
        ("proxy: none, proxy_auth_env: 'user:secret'", "secret.in_file", "must be the name of a variable"),
    ] {
        let loaded = lab(written).load();
        let errors = lines_of(&loaded);
        assert!(
            errors.iter().any(|e| e.starts_with("deputize.yaml:2:") && e.contains(code) && e.contains(said)),
            "{written}: {errors:?}"
        );
        assert!(errors.iter().all(|e| !e.contains("secret@") && !e.contains("user:secret")), "{errors:?}");
    }
}

fn lines_of(loaded: &deputize_adapters::loader::Loaded) -> Vec<String> {
    lines(&loaded.messages, Level::Error)
}

#[test]
fn a_message_holds_a_wrong_value_whole_or_not_at_all() {
    let key = "sk-ant-api03-AbCdEfGhIjKlMnOpQrStUvWxYz0123456789abcdef";
    for (pad, whole) in [(0, true), (400, false)] {
        let project = format!("providers: {{openai: {{base_url: 'http://h/v1?{}={key}'}}}}", "k".repeat(pad));
        let loaded = folder(&project, "", &[]).load();
        let said = lines(&loaded.messages, Level::Error).join("\n");
        assert!(said.contains("must be an address"), "{said}");
        assert_eq!((said.contains(key), said.contains("AbCdEf")), (whole, whole), "{said}");
    }
}
