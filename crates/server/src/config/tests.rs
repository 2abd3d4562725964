use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use super::*;
use docent_http_client::SecretSource;

fn load(text: &str, environment: &[(&str, &str)]) -> Result<Config, String> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("docent.toml");
    std::fs::write(&path, text).expect("written");
    let environment = environment.iter().map(|(k, v)| (k.into(), v.into()));
    Config::load(Some(&path), environment, Overrides::default()).map_err(|error| error.to_string())
}

const SONNET: &str = "[models.sonnet]\nprovider = \"anthropic\"\nmodel = \"m\"\napi_key_env = \"K\"\n";
const OPUS: &str = "[models.opus]\nprovider = \"openai\"\nmodel = \"m\"\nbase_url = \"http://127.0.0.1:1/v1\"\n";
const FAST: &str = "[models.fast]\nprovider = \"openai\"\nmodel = \"m\"\nbase_url = \"http://127.0.0.1:1/v1\"\n";

/// Every key, with a value that is valid together with the others.
const KEYS: [(&str, &str); 65] = [
    ("listen", "127.0.0.1:9"),
    ("public_url", "https://docs.example.com"),
    ("data", "./elsewhere"),
    ("store", "postgres://docent@db.example.com/docent"),
    ("store_password_env", "K"),
    ("store_connections", "8"),
    ("currency", "EUR"),
    ("models.sonnet.input_price", "3"),
    ("models.sonnet.cached_input_price", "0.25"),
    ("models.sonnet.output_price", "15"),
    ("models.sonnet.provider", "openai"),
    ("models.sonnet.model", "m"),
    ("models.sonnet.base_url", "https://example.com/v1"),
    ("models.sonnet.api_key_env", "K"),
    ("models.sonnet.context_tokens", "32000"),
    ("models.sonnet.max_reply_tokens", "4000"),
    ("models.sonnet.idle_seconds", "60"),
    ("models.sonnet.force_tools", "true"),
    ("models.sonnet.text_tool_calls", "true"),
    ("models.opus.provider", "anthropic"),
    ("models.opus.model", "m"),
    ("models.opus.api_key_file", "/run/secrets/key"),
    ("agent.model", "opus"),
    ("agent.workers", "2"),
    ("agent.jobs_at_once_per_project", "1"),
    ("agent.max_steps", "10"),
    ("agent.max_tokens", "100000"),
    ("agent.max_minutes", "30"),
    ("agent.max_files", "20"),
    ("agent.max_bytes", "1000000"),
    ("agent.labels", "docs, automated"),
    ("assistant.model", "sonnet"),
    ("assistant.suggestions", "true"),
    ("assistant.thread_days", "30"),
    ("assistant.resume_seconds", "0"),
    ("assistant.tokens_per_day", "2000000"),
    ("assistant.cost_per_day", "5"),
    ("assistant.sites.docs.cost_per_day", "20"),
    ("limits.agent_jobs_per_hour", "1"),
    ("limits.agent_messages_per_hour", "2"),
    ("limits.assistant_requests_per_hour", "3"),
    ("limits.assistant_requests_per_address_per_day", "4"),
    ("limits.assistant_replies_at_once", "5"),
    ("retention.journal_days", "7"),
    ("retention.job_days", "30"),
    ("trusted_proxies", "10.0.0.0/8, ::1"),
    ("client_ip_header", "X-Real-IP"),
    ("forges.token_env", "DOCS_TOKEN, WEB_TOKEN"),
    ("forges.token_file", "/run/secrets/forges"),
    ("github_app.id", "12345"),
    ("github_app.private_key_file", "app.pem"),
    ("git.ssh_key_file", "id_ed25519"),
    ("git.ssh_known_hosts_file", "known_hosts"),
    ("openid.issuer", "https://id.example.com"),
    ("openid.client_id", "docent"),
    ("openid.client_secret_env", "S"),
    ("openid.scopes", "profile, groups"),
    ("openid.groups_claim", "roles"),
    ("openid.owner_groups", "admins"),
    ("openid.editor_groups", "docs, writers"),
    ("openid.viewer_groups", "staff"),
    ("openid.default_role", "viewer"),
    ("openid.label", "Example"),
    ("hooks.0.url", "https://example.com/docent"),
    ("hooks.0.secret_env", "H"),
];

fn words(text: &str) -> Vec<String> {
    text.split(' ').map(str::to_owned).collect()
}

#[test]
fn the_environment_is_over_the_file() {
    let text = "listen = \"127.0.0.1:1\"\n[agent]\nworkers = 2\n";
    let environment = [("DOCENT_AGENT__WORKERS", "3"), ("DOCENT_PORT", "tcp://10.0.0.1:80"), ("HOME", "/root")];
    let config = load(text, &environment).expect("loads");
    assert_eq!((config.listen.port(), config.agent.workers), (1, 3));
}

#[test]
fn every_key_is_known_to_the_file_and_to_the_environment() {
    let quoted = |value: &str| match value.parse::<i64>().is_ok() || value == "true" {
        true => value.to_owned(),
        false => format!("{value:?}"),
    };
    let file: String = KEYS.iter().map(|(key, value)| format!("{key} = {}\n", quoted(value))).collect();
    let variables: Vec<(String, &str)> =
        KEYS.iter().map(|(key, value)| (format!("DOCENT_{}", key.to_uppercase().replace('.', "__")), *value)).collect();
    let variables: Vec<(&str, &str)> = variables.iter().map(|(name, value)| (name.as_str(), *value)).collect();
    let mut of_the_file = load(&file, &[]).expect("a file of every key");
    let mut of_the_environment = load("", &variables).expect("a variable for every key");
    for (key, _) in &KEYS {
        assert!(of_the_file.sources[*key].contains(".toml:"), "{key}: {:?}", of_the_file.sources);
        assert!(of_the_environment.sources[*key].starts_with("variable DOCENT_"), "{key}");
    }
    of_the_file.sources.clear();
    of_the_environment.sources.clear();
    assert_eq!(format!("{of_the_file:?}"), format!("{of_the_environment:?}"));

    let config = of_the_file;
    assert_eq!(config.agent.labels, ["docs", "automated"]);
    let month = Duration::from_secs(30 * 24 * 3600);
    assert_eq!((config.assistant.suggestions, config.assistant.keep_threads), (true, Some(month)));
    assert_eq!(config.assistant.resumable, Duration::ZERO);
    let docs = docent_types::Domain::parse("docs").expect("a name");
    let limit = docent_assistant::DailyLimit { tokens: Some(2_000_000), cost_micros: Some(20_000_000) };
    assert_eq!(config.assistant.limits.of(&docs), limit);
    assert_eq!((config.agent.workers, config.agent.at_once_per_project), (2, 1));
    assert_eq!((config.retention.journals, config.retention.jobs), (Some(month * 7 / 30), Some(month)));
    let docent_agent::TurnLimits { steps, tokens, minutes, files, bytes, .. } = config.agent.limits;
    assert_eq!((steps, tokens, minutes, files, bytes), (10, 100_000, 30, 20, 1_000_000));
    let openid = config.openid.expect("an identity provider");
    assert_eq!((openid.label.as_str(), openid.groups_claim.as_str()), ("Example", "roles"));
    assert_eq!((openid.scopes, openid.roles.editor), (words("profile groups"), words("docs writers")));
    assert_eq!(config.github_app.map(|app| app.id).as_deref(), Some("12345"));
    let ModelConfig::OpenAi(sonnet, ways) = &config.models["sonnet"] else { panic!("{:?}", config.models) };
    assert_eq!(sonnet.key, Some(SecretSource::Variable("K".to_owned())));
    assert!(ways.force_tools && ways.text_tool_calls);
    let price = docent_types::TokenPrice { input: 3.0, cached_input: 0.25, output: 15.0 };
    assert_eq!((config.prices.currency.as_str(), config.prices.models.get("sonnet")), ("EUR", Some(&price)));
    assert_eq!(config.prices.models.get("opus"), None, "it has none");
    let ModelConfig::Anthropic(opus) = &config.models["opus"] else { panic!("{:?}", config.models) };
    assert_eq!(opus.key, Some(SecretSource::File("/run/secrets/key".into())));
    for (variable, value) in [("DOCENT_MODELS__OPUS__API_KEY", "s3cret"), ("DOCENT_AGENT__LABEL", "x")] {
        assert!(load("", &[(variable, value)]).is_ok(), "an unknown variable is only warned about: {variable}");
    }
}

#[test]
fn hooks_are_a_list_and_a_variable_changes_one_of_them() {
    let hook = |url: &str| format!("[[hooks]]\nurl = \"https://{url}\"\nsecret_env = \"A\"\n");
    let text: String = (0..11).map(|n| hook(&format!("{n}.example/"))).collect();
    let environment = [
        ("DOCENT_HOOKS__1__SECRET_ENV", "B"),
        ("DOCENT_HOOKS__12__URL", "http://127.0.0.1:1/?key=s3cret"),
        ("DOCENT_HOOKS__12__SECRET_ENV", "C"),
    ];
    let config = load(&text, &environment).expect("loads");
    let variable = |hook: &HookConfig| hook.secret.to_string().replace("the variable ", "");
    let hooks: Vec<_> =
        config.hooks.iter().map(|hook| format!("{} {} {}", hook.key, hook.url, variable(hook))).collect();
    assert_eq!(hooks.len(), 12);
    assert_eq!(hooks[..2], ["hooks.0 https://0.example/ A", "hooks.1 https://1.example/ B"]);
    assert_eq!(hooks[10..], ["hooks.10 https://10.example/ A", "hooks.12 http://127.0.0.1:1/… C"]);
    assert!(config.sources["hooks.1.url"].ends_with(":5"), "{:?}", config.sources);
    assert_eq!(config.sources["hooks.1.secret_env"], "variable DOCENT_HOOKS__1__SECRET_ENV");
    assert!(load("", &[]).expect("loads").hooks.is_empty());
}

#[test]
fn mistakes_are_named() {
    let hook = |more: &str| format!("[[hooks]]\n{more}");
    let model = |more: &str| format!("[models.sonnet]\n{more}");
    let openid = |more: &str| format!("[openid]\nissuer = \"https://id.example.com\"\n{more}");
    let openai = |more: &str| model(&format!("provider = \"openai\"\nmodel = \"m\"\n{more}"));
    let anthropic = |more: &str| model(&format!("provider = \"anthropic\"\nmodel = \"m\"\n{more}"));
    for (text, environment, named) in [
        ("lisen = 1".to_owned(), &[][..], "`lisen`"),
        ("[agent]\nworker = 1".into(), &[], "`worker`"),
        (
            "[agent]\nworkers = \"many\"".into(),
            &[],
            "`agent.workers`: expected a whole number from 1 up, not the string \"many\"",
        ),
        ("[agent]\nworkers = 0".into(), &[], "`agent.workers`: expected a whole number from 1 up, not the number `0`"),
        ("agent = 5".into(), &[], "`agent`: expected a table, not the number `5`"),
        (
            "listen = \"8080\"".into(),
            &[],
            "`listen`: `8080` is not an address to listen on; write an IP address and a port",
        ),
        ("listen = 8080".into(), &[], "`listen`: expected a string, not the number `8080`"),
        ("public_url = \"docs.example.com\"".into(), &[], "`public_url`: the address must begin with https://"),
        ("public_url = \"ftp://example.com\"".into(), &[], "`public_url`: the address must begin with https://"),
        ("public_url = \"https://me:secret@example.com\"".into(), &[], "`public_url`: the address must not hold"),
        ("[agent]\njobs_at_once_per_project = 0".into(), &[], "`agent.jobs_at_once_per_project`"),
        ("[retention]\njournal_days = -1".into(), &[], "`retention.journal_days`"),
        ("[agent]\nmax_steps = 0".into(), &[], "`agent.max_steps`"),
        ("[agent]\nlabels = 1.5".into(), &[], "`agent.labels`: expected a list of texts"),
        ("[agent".into(), &[], "TOML"),
        (
            String::new(),
            &[("DOCENT_LISTEN", "everywhere")],
            "DOCENT_LISTEN: `everywhere` is not an address to listen on",
        ),
        (String::new(), &[("DOCENT_PUBLIC_URL", "me")], "`public_url`: the address must begin with https://"),
        (
            String::new(),
            &[("DOCENT_LIMITS__AGENT_JOBS_PER_HOUR", "-1")],
            "DOCENT_LIMITS__AGENT_JOBS_PER_HOUR: expected a whole number from 0 to 4294967295, not the number `-1`",
        ),
        (
            "store = \"mysql://user:secret@host/db\"".into(),
            &[],
            "`store`: is neither `sqlite` nor the address of a PostgreSQL database",
        ),
        ("[agent]\nmodel = \"gpt\"".into(), &[], "`agent.model`: there is no model `gpt`; known: `opus`, `sonnet`"),
        ("[forges]\ntoken_env = [\"ghp-s3cret\"]".into(), &[], "`forges.token_env`: has what is no name of a variable"),
        (
            format!("[forges]\ntoken_env = [\"K\"]\n{SONNET}"),
            &[],
            "`forges.token_env`: offers the variable K, which is `models.sonnet`",
        ),
        (
            format!("[forges]\ntoken_env = \"T,A\"\n{}", hook("url = \"https://a.b\"\nsecret_env = \"A\"\n")),
            &[],
            "`forges.token_env`: offers the variable A, which is `hooks.0.secret_env`",
        ),
        (
            format!("[forges]\ntoken_file = \"/run/no-such\"\n{}", anthropic("api_key_file = \"/run/no-such/key\"\n")),
            &[],
            "`forges.token_file`: offers the file /run/no-such/key, which is `models.sonnet`",
        ),
        ("[openid]\nclient_id = \"x\"".into(), &[], "`openid.issuer`: is missing"),
        ("[openid]\nissuer = \"id.example.com\"".into(), &[], "`openid.issuer`: the address must begin with https://"),
        ("[openid]\nissuer = \"http://example.com\"".into(), &[], "`openid.issuer`: has to be reached by https"),
        (openid(""), &[], "`openid.client_id`: is missing"),
        (openid("client_id = \"x\""), &[], "`openid.owner_groups`: is missing"),
        (openid("client_id = \"x\"\ndefault_role = \"admin\""), &[], "`openid.default_role`"),
        (openid("client_id = \"x\"\nclient_secret_env = \"s3-cret\""), &[], "`openid.client_secret_env`: is no name"),
        (
            openid("client_id = \"x\"\nclient_secret_env = \"S\"\nclient_secret_file = \"s\""),
            &[],
            "`openid.client_secret_file`: stands beside",
        ),
        ("hooks = \"https://example.com\"".into(), &[], "`hooks`: is a list; write `[[hooks]]`"),
        ("[hooks]\nurl = \"https://example.com\"".into(), &[], "`hooks`: is a list; write `[[hooks]]`"),
        ("hooks = [1]".into(), &[], "`hooks.0`: expected a table"),
        (hook("uri = \"https://example.com\""), &[], "`uri`"),
        (hook("secret_env = \"S\""), &[], "`hooks.0.url`: is missing"),
        (hook("url = \"https://example.com\""), &[], "`hooks.0.secret_env`: is missing"),
        (hook("url = \"example.com\"\nsecret_env = \"S\""), &[], "`hooks.0.url`: the address must begin with"),
        (hook("url = \"https://me:secret@example.com\"\nsecret_env = \"S\""), &[], "`hooks.0.url`: the address must"),
        (hook("url = \"http://example.com\"\nsecret_env = \"S\""), &[], "`hooks.0.url`: events are not sent"),
        (hook("url = \"https://a.b\"\nsecret_env = \"whsec_s3-cret\""), &[], "`hooks.0.secret_env`: is no name"),
        (hook("url = \"https://a.b\"\nsecret_env = \"S\"\n").repeat(2), &[], "`hooks.1.url`: is that of `hooks.0` too"),
        (String::new(), &[("DOCENT_HOOKS__FIRST__URL", "https://a.b")], "`hooks.first`: hooks are numbered"),
        (String::new(), &[("DOCENT_HOOKS__0__URL", "https://a.b")], "`hooks.0.secret_env`: is missing"),
        ("[assistant]\nmodel = \"gpt\"".into(), &[], "`assistant.model`: there is no model `gpt`"),
        ("[assistant]\nresume_seconds = 601".into(), &[], "`assistant.resume_seconds`: is more than 600"),
        ("[assistant]\nthread_days = -1".into(), &[], "`assistant.thread_days`"),
        ("[assistant]\nsuggestions = \"often\"".into(), &[], "`assistant.suggestions`"),
        ("[models.fast]".into(), &[], "`models.fast.provider`: is missing"),
        (model("provide = \"builtin\""), &[], "`provide`"),
        (model("provider = \"gemini\""), &[], "there is no provider `gemini`; say `anthropic`"),
        (
            model("provider = \"builtin\"\nmodel = \"x\""),
            &[],
            "`models.sonnet.model`: the builtin model takes no such key",
        ),
        (model("provider = \"builtin\"\nidle_seconds = 3"), &[], "`models.sonnet.idle_seconds`: the builtin model"),
        (model("provider = \"anthropic\"\napi_key_env = \"K\""), &[], "`models.sonnet.model`: is missing"),
        (anthropic(""), &[], "`models.sonnet.api_key_env`: is missing"),
        (
            anthropic("api_key_env = \"K\"\nforce_tools = true"),
            &[],
            "`models.sonnet.force_tools`: only the provider `openai`",
        ),
        (openai(""), &[], "`models.sonnet.api_key_env`: is missing"),
        (openai("input_price = 3"), &[], "`models.sonnet.output_price`: is missing beside `input_price`"),
        (openai("cached_input_price = 3"), &[], "`models.sonnet.input_price`: is missing beside `cached_input_price`"),
        (openai("input_price = \"dear\""), &[], "`models.sonnet.input_price`: expected an amount of money"),
        (
            openai("api_key_env = \"K\"\n[assistant]\ncost_per_day = 5"),
            &[],
            "`assistant.cost_per_day`: needs the prices",
        ),
        (openai("output_price = -1"), &[], "`models.sonnet.output_price`: expected an amount of money"),
        (openai("api_key_env = \"K\"\napi_key_file = \"k\""), &[], "`models.sonnet.api_key_file`: stands beside"),
        (openai("api_key_env = \"sk-secret\""), &[], "`models.sonnet.api_key_env`: is no name of a variable"),
        (
            openai("base_url = \"localhost:8000\""),
            &[],
            "`models.sonnet.base_url`: the address must begin with https://",
        ),
        (openai("base_url = \"https://me:secret@example.com\""), &[], "must not hold credentials"),
        (
            openai("api_key_env = \"K\"\nbase_url = \"http://example.com/v1\""),
            &[],
            "`models.sonnet.base_url`: the key is not sent to example.com over plain http",
        ),
        (
            openai("api_key_env = \"K\"\ncontext_tokens = 10\nmax_reply_tokens = 10"),
            &[],
            "`models.sonnet.max_reply_tokens`",
        ),
        (openai("api_key_env = \"K\"\ncontext_tokens = -1"), &[], "`models.sonnet.context_tokens`"),
        (
            String::new(),
            &[("DOCENT_MODELS__SONNET__PROVIDER", "gemini")],
            "DOCENT_MODELS__SONNET__PROVIDER: there is no provider",
        ),
        (String::new(), &[("DOCENT_MODELS__SONNET__MODEL", "x")], "`models.sonnet.provider`: is missing"),
        ("[github_app]\nid = 1".into(), &[], "`github_app.private_key_file`: is missing"),
        ("[github_app]\nprivate_key_file = \"a.pem\"".into(), &[], "`github_app.id`: is missing"),
        ("[git]\nssh_known_hosts_file = \"k\"".into(), &[], "`git.ssh_key_file`: is missing"),
        (FAST.replace("fast", "a") + &FAST.replace("fast", "b"), &[], "`agent.model`: is missing; say which model"),
        (format!("{FAST}[agent]\nmodel = \"sonnet\""), &[], "`agent.model`: there is no model `sonnet`; known: `fast`"),
    ] {
        let error = load(&text, environment).expect_err(&text);
        assert!(error.contains(named), "{text}: {error}");
        for secret in ["s3-cret", ":secret@", "sk-secret"] {
            assert!(!error.contains(secret), "{text}: {error}");
        }
        for of_rust in ["nonzero", "usize", "u32", "invalid type", "invalid value", "socket", "variant", "field"] {
            assert!(!error.contains(of_rust), "{text}: {error}");
        }
    }
}

#[test]
fn a_variable_may_hold_a_name_made_of_digits() {
    let config = load("", &[("DOCENT_DATA", "123"), ("DOCENT_ASSISTANT__SUGGESTIONS", "true")]).expect("loads");
    assert_eq!((config.data.as_path(), config.assistant.suggestions), (Path::new("123"), true));
}

#[cfg(unix)]
#[test]
fn a_variable_that_is_no_text_is_named_or_not_ours() {
    use std::os::unix::ffi::OsStringExt;
    let load = |name: &str| {
        let variable = (OsString::from(name), OsString::from_vec(vec![b'a', 0xff]));
        Config::load(None, [variable].into_iter(), Overrides::default()).map_err(|error| error.to_string())
    };
    assert!(load("PATH").is_ok());
    assert!(load("DOCENT_DATA").expect_err("no text").starts_with("DOCENT_DATA: is not UTF-8"));
}

#[test]
fn a_near_server_needs_no_key_and_may_have_one() {
    for url in ["http://127.0.0.1:8000/v1", "http://ollama:11434/v1", "https://example.com/v1"] {
        for key in ["", "api_key_env = \"K\""] {
            let text = format!("[models.sonnet]\nprovider = \"openai\"\nmodel = \"m\"\nbase_url = \"{url}\"\n{key}");
            assert!(load(&text, &[]).is_ok(), "{text}");
        }
    }
    let far = "[models.sonnet]\nprovider = \"openai\"\nmodel = \"m\"\nbase_url = \"http://example.com/v1\"";
    assert!(load(far, &[]).is_ok(), "without a key there is nothing to give away");
}

#[test]
fn conversations_are_kept_for_a_while_or_for_ever() {
    for (text, days) in
        [("", Some(90)), ("[assistant]\nthread_days = 1", Some(1)), ("[assistant]\nthread_days = 0", None)]
    {
        let kept = load(text, &[]).expect(text).assistant.keep_threads;
        assert_eq!(kept, days.map(|days| Duration::from_secs(days * 24 * 3600)), "{text}");
    }
}

#[test]
fn ended_jobs_are_kept_for_a_while_or_for_ever() {
    for (text, journal_days, job_days) in [
        ("", Some(30), Some(365)),
        ("[retention]\njournal_days = 0", None, Some(365)),
        ("[retention]\njob_days = 0", Some(30), None),
    ] {
        let days = |days: Option<u32>| days.map(|days| Duration::from_secs(24 * 3600) * days);
        let kept = docent_jobs::Retention { journals: days(journal_days), jobs: days(job_days) };
        assert_eq!(load(text, &[]).expect(text).retention, kept, "{text}");
    }
}

#[test]
fn a_project_may_have_all_workers_unless_it_is_told_otherwise() {
    for (text, at_once) in
        [("", 8), ("[agent]\nworkers = 3", 3), ("[agent]\nworkers = 3\njobs_at_once_per_project = 2", 2)]
    {
        assert_eq!(load(text, &[]).expect(text).agent.at_once_per_project, at_once, "{text}");
    }
}

#[test]
fn nothing_runs_on_builtin_by_surprise() {
    let other = |name: &str| RunsOn::Other(name.to_owned());
    let fast_builtin = "[models.fast]\nprovider = \"builtin\"\n";
    let sonnet_builtin = "[models.sonnet]\nprovider = \"builtin\"\n";
    for (text, agent, offered) in [
        (String::new(), "sonnet", vec![("opus", RunsOn::Builtin), ("sonnet", RunsOn::Builtin)]),
        (
            fast_builtin.to_owned(),
            "sonnet",
            vec![("fast", RunsOn::Itself), ("opus", RunsOn::Builtin), ("sonnet", RunsOn::Builtin)],
        ),
        (SONNET.to_owned(), "sonnet", vec![("opus", other("sonnet")), ("sonnet", RunsOn::Itself)]),
        (OPUS.to_owned(), "opus", vec![("opus", RunsOn::Itself), ("sonnet", other("opus"))]),
        (format!("{SONNET}{OPUS}"), "sonnet", vec![("opus", RunsOn::Itself), ("sonnet", RunsOn::Itself)]),
        (FAST.to_owned(), "fast", vec![("fast", RunsOn::Itself), ("opus", other("fast")), ("sonnet", other("fast"))]),
        (
            format!("{FAST}{sonnet_builtin}[agent]\nmodel = \"fast\""),
            "fast",
            vec![("fast", RunsOn::Itself), ("opus", other("fast")), ("sonnet", RunsOn::Itself)],
        ),
        (
            format!("{SONNET}[agent]\nmodel = \"opus\""),
            "opus",
            vec![("opus", other("sonnet")), ("sonnet", RunsOn::Itself)],
        ),
    ] {
        let config = load(&text, &[]).expect(&text);
        let expected: BTreeMap<String, RunsOn> =
            offered.into_iter().map(|(name, runs_on)| (name.to_owned(), runs_on)).collect();
        assert_eq!((config.agent.model.as_str(), &config.offered), (agent, &expected), "{text}");
        assert_eq!(config.assistant.model, agent, "the assistant follows the agent: {text}");
    }
}

const DOCUMENTATION: &str = include_str!("../../../../docs/CONFIGURATION.md");

#[test]
fn every_key_is_documented() {
    for (key, _) in &KEYS {
        let named = ["models.sonnet.", "models.opus.", "openid.", "hooks.0."]
            .iter()
            .find_map(|table| key.strip_prefix(table))
            .unwrap_or(key)
            .replace(".sites.docs.", ".sites.DOMAIN.");
        assert!(
            DOCUMENTATION.contains(&format!("| `{named}`")) || DOCUMENTATION.contains(&format!(", `{named}`")),
            "{key}"
        );
    }
}

#[test]
fn every_example_of_the_documentation_works() {
    let examples: Vec<&str> =
        DOCUMENTATION.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert!(examples.len() > 8, "{}", examples.len());
    for example in examples {
        if let Err(error) = load(example, &[]) {
            panic!("{error}\n{example}");
        }
    }
}

#[test]
fn proxies_are_believed_when_they_are_named() {
    assert_eq!(load("", &[]).expect("loads").proxies, None);
    let proxies = |text: &str| load(text, &[]).map(|config| config.proxies.expect("proxies"));
    let usual = proxies("trusted_proxies = [\"10.0.0.0/8\"]").expect("loads");
    assert_eq!((usual.header.as_str(), usual.trusted.len()), ("x-forwarded-for", 1));
    let named = proxies("trusted_proxies = [\"10.0.0.1\", \"::1\"]\nclient_ip_header = \"CF-Connecting-IP\"");
    assert_eq!(named.expect("loads").header, "cf-connecting-ip");
    for (text, told) in [
        ("client_ip_header = \"X-Real-IP\"", "`trusted_proxies`: is missing"),
        ("trusted_proxies = [\"everybody\"]", "`trusted_proxies`: `everybody` is not an address range"),
        ("trusted_proxies = [\"::1\"]\nclient_ip_header = \"a b\"", "`client_ip_header`: is no name"),
        (
            "trusted_proxies = [\"::1\"]\nclient_ip_header = \"Forwarded\"",
            "`client_ip_header`: `Forwarded` is not read",
        ),
    ] {
        let error = proxies(text).expect_err(told);
        assert!(error.contains(told), "{error}");
    }
}
