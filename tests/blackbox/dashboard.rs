//! The dashboard from outside: the permissions of each role, and requests that an attacker cannot make a browser send.
//!
//! Pages as people see them, in a real browser, are in `tests/dashboard`.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use docent_tests::model_server::brain::read_edit_finish;
use docent_tests::model_server::{Reply, Wire};
use docent_tests::person::PASSWORD;
use docent_tests::site::{PAGES, PROJECT};
use docent_tests::{
    Agent, HookReceiver, Installation, KeyKind, ModelServer, Person, Repository, Request, Response, Site, eventually,
    third_party,
};
use serde_json::json;

use crate::past_jobs::PastJobs;

#[test]
fn each_role_may_do_what_it_is_for_and_no_more() {
    let site = Site::start();
    let (server, installation) = (&site.server, &site.installation);
    let agent = site.agent();
    let job = agent.create("Replace \"widget\" with \"gadget\"");
    let job = agent.reaches(job["id"].as_str().expect("an id"), "completed");
    let (job, pull) = (
        job["id"].as_str().expect("an id").to_owned(),
        job["prLink"].as_str().and_then(|link| link.rsplit('/').next()).expect("a link").to_owned(),
    );
    let mut people = [
        ("owner", Person::joins(server, installation, "olive", "owner")),
        ("editor", Person::joins(server, installation, "ed", "editor")),
        ("viewer", Person::joins(server, installation, "vera", "viewer")),
    ];
    let rank = |role: &str| ["viewer", "editor", "owner"].iter().position(|known| *known == role).expect("a role");
    let of = |rest: &str| format!("/dashboard/{PROJECT}{rest}");

    let pages = [
        ("viewer", "/dashboard".to_owned()),
        ("viewer", "/dashboard/-/jobs".to_owned()),
        ("viewer", "/dashboard/-/pulls".to_owned()),
        ("viewer", "/dashboard/-/projects".to_owned()),
        ("viewer", "/dashboard/-/account".to_owned()),
        ("owner", "/dashboard/-/projects/new".to_owned()),
        ("owner", "/dashboard/-/operators".to_owned()),
        ("owner", "/dashboard/-/audit".to_owned()),
        ("owner", "/dashboard/-/settings".to_owned()),
        ("owner", "/dashboard/-/style".to_owned()),
        ("viewer", "/dashboard/-/search?q=widget".to_owned()),
        ("viewer", of("")),
        ("viewer", of("/jobs")),
        ("viewer", of(&format!("/jobs/{job}"))),
        ("viewer", of(&format!("/jobs/{job}/events?after=0"))),
        ("viewer", of(&format!("/jobs/{job}/changes"))),
        ("viewer", of(&format!("/jobs/{job}/journal.ndjson"))),
        ("editor", of("/jobs/new")),
        ("viewer", of("/pulls")),
        ("viewer", of(&format!("/pulls/{pull}"))),
        ("viewer", of(&format!("/pulls/{pull}/conflicts"))),
        ("viewer", of("/playground")),
        ("viewer", of("/conversations")),
        ("viewer", of("/analytics")),
        ("viewer", of("/gaps")),
        ("viewer", of("/searches")),
        ("viewer", of("/docs")),
        ("viewer", of("/docs?page=quickstart")),
        ("viewer", of("/widget")),
        ("owner", of("/keys")),
        ("owner", of("/settings")),
    ];
    for (needed, path) in &pages {
        for (role, person) in &mut people {
            let expected = if rank(role) >= rank(needed) { 200 } else { 403 };
            assert_eq!(person.gets(path).status, expected, "{role} GET {path}");
        }
    }

    // The requests of the owner come last: they take effect and would interfere with the others.
    let writes = [
        ("owner", "/dashboard/-/projects/new".to_owned()),
        ("owner", "/dashboard/-/operators".to_owned()),
        ("owner", "/dashboard/-/operators/x/role".to_owned()),
        ("owner", "/dashboard/-/operators/x/reset".to_owned()),
        ("owner", "/dashboard/-/operators/x/remove".to_owned()),
        ("owner", of("/keys")),
        ("owner", of("/keys/key_0000000000000000/revoke")),
        ("editor", of("/jobs/new")),
        ("editor", of(&format!("/jobs/{job}/message"))),
        ("editor", of(&format!("/pulls/{pull}/update"))),
        ("editor", of(&format!("/pulls/{pull}/comment"))),
        ("editor", of(&format!("/pulls/{pull}/solve"))),
        ("editor", of(&format!("/pulls/{pull}/close"))),
        ("editor", of(&format!("/pulls/{pull}/reopen"))),
        ("editor", of(&format!("/pulls/{pull}/squash"))),
        ("editor", of(&format!("/pulls/{pull}/merge"))),
        ("editor", of("/playground")),
        ("editor", of("/playground/ask")),
        ("editor", of("/reindex")),
        ("owner", of("/settings")),
        ("editor", of(&format!("/jobs/{job}/archive"))),
        ("owner", of("/remove")),
    ];
    // A role may send every form and follow every link that a page shows to it.
    for (_, page) in &pages {
        for (role, person) in &mut people {
            let text = person.gets(page).text().to_owned();
            let forms = text
                .split("<form")
                .skip(1)
                .filter_map(|form| form.split('>').next())
                .filter(|form| form.contains("post"));
            let own = forms.map(|form| form.split_once("action=\"").map_or(page.as_str(), |(_, to)| to));
            let links = text.split("href=\"").skip(1);
            for seen in own.chain(links).filter_map(|to| to.split(['?', '"']).next()) {
                let needed =
                    pages.iter().chain(&writes).find(|(_, path)| path == seen).map_or("viewer", |(needed, _)| needed);
                assert!(rank(role) >= rank(needed), "{role} sees {seen} on {page}");
            }
        }
    }
    let changes = people[2].1.gets(&of(&format!("/jobs/{job}/changes?layout=split")));
    let changes = changes.text();
    assert!(changes.contains("quickstart.mdx") && changes.contains("gadget"), "the changes of a job: {changes}");
    for (needed, path) in &writes {
        for (role, person) in people.iter_mut().rev() {
            person.gets("/dashboard/-/account");
            let status = person.posts(path, &[]).status;
            let is_refused = status == 403;
            assert_eq!(is_refused, rank(role) < rank(needed), "{role} POST {path}: {status}");
        }
    }
}

#[test]
fn a_form_of_a_project_says_which_field_is_wrong() {
    let site = Site::start();
    let mut owner = Person::joins(&site.server, &site.installation, "olive", "owner");
    let repository = site.repository.path().display().to_string();
    let add = "/dashboard/-/projects/new";
    let new = [("id", "other"), ("repository", repository.as_str()), ("forge", "local"), ("do", "add")];
    let with = |field: &'static str, value: &'static str| {
        let mut form = new.to_vec();
        form.retain(|(name, _)| *name != field);
        form.push((field, value));
        form
    };
    for (form, field, sentence) in [
        (with("id", PROJECT), "id", "exists already"),
        (with("id", "No Good"), "id", "No Good"),
        (with("domain", PROJECT), "domain", "belongs to the project"),
        (with("repository", "/nowhere"), "repository", "cannot open"),
        (with("branch", ".."), "branch", ".."),
        (with("docs_root", "../up"), "docs_root", "must not hold"),
        (with("docs_root", "empty"), "docs_root", "there is no page"),
        (with("base_url", "example.com"), "base_url", "the address must begin with"),
        (with("token_env", "ghp-s3cret"), "token_env", "no name of a variable"),
        (with("allow_paths", "/etc/**"), "allow_paths", "leads out of the docs"),
        (with("author", "Ann"), "author", "a name and an e-mail address"),
    ] {
        owner.gets(add);
        let refused = owner.posts(add, &form);
        let text = refused.text();
        assert_eq!(refused.status, 422, "{form:?}: {text}");
        let wrong: Vec<&str> = text.split("aria-invalid=\"true\"").collect();
        assert_eq!(wrong.len(), 2, "one field is wrong: {form:?}: {text}");
        let named = format!("id=\"{field}\"");
        assert!(wrong[0].rsplit('<').next().is_some_and(|tag| tag.contains(&named)), "{form:?}: {text}");
        let said = text.split_once(&format!("id=\"{field}-problem\">")).map_or("", |(_, said)| said);
        let said = said.split("</p>").next().unwrap_or_default();
        assert!(said.contains(sentence) && !said.contains("--"), "{form:?}: {said}");
    }
    owner.gets(add);
    assert_eq!(owner.posts(add, &new).status, 303);
    // The form of an existing project is checked in the same way.
    let path = format!("/dashboard/{PROJECT}/settings");
    owner.gets(&path);
    let form = [("domain", "other"), ("repository", &repository), ("branch", "main"), ("forge", "local")];
    let refused = owner.posts(&path, &form);
    assert_eq!(refused.status, 422);
    assert!(refused.text().contains("id=\"domain-problem\""), "{}", refused.text());
}

#[test]
fn a_form_that_is_refused_leads_back_and_keeps_what_was_written() {
    let site = Site::start();
    let job = site.agent().create("Replace \"widget\" with \"gadget\"");
    let job = site.agent().reaches(job["id"].as_str().expect("an id"), "completed");
    let pull = job["prLink"].as_str().and_then(|link| link.rsplit('/').next()).expect("a link");
    let here = format!("/dashboard/{PROJECT}/pulls/{pull}");
    let mut editor = Person::joins(&site.server, &site.installation, "ed", "editor");
    // A mistake: all links of the page lead to pages, though its address takes forms alone.
    for (page, form, field) in [
        (here.clone(), format!("{here}/comment"), "comment"),
        (
            format!("/dashboard/{PROJECT}/jobs/{}", job["id"].as_str().expect("an id")),
            format!("/dashboard/{PROJECT}/jobs/{}/message", job["id"].as_str().expect("an id")),
            "message",
        ),
    ] {
        editor.gets(&page);
        let refused = editor.posts(&form, &[(field, " ")]);
        assert_eq!(refused.status, 400, "{}", refused.text());
        let text = refused.text().to_owned();
        let links: Vec<&str> = text.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
        let is_odd = |link: &&&str| !link.starts_with(['/', '#']) && !link.starts_with("http://");
        let odd: Vec<_> = links.iter().filter(is_odd).collect();
        assert!(odd.is_empty(), "{odd:?}");
    }
    // What cannot be done any more: the page is one click away.
    editor.gets(&here);
    assert_eq!(editor.posts(&format!("{here}/merge"), &[]).status, 303);
    let refused = editor.posts(&format!("{here}/merge"), &[]);
    assert!(refused.status == 409 || refused.status == 400, "{}", refused.status);
    assert!(refused.text().contains(&format!("href=\"{here}\"")), "{}", refused.text());
    // A session that ended meanwhile: the text is there, and after the sign-in its page.
    let mut elsewhere = editor.at(&site.server);
    editor.gets(&here);
    elsewhere.gets(&here);
    elsewhere.posts("/dashboard/-/sign-out", &[]);
    let refused = editor.posts(&format!("{here}/comment"), &[("comment", "Say <b>when</b> it is retried.")]);
    assert_eq!(refused.status, 401);
    let text = refused.text();
    assert!(text.contains("Say &lt;b&gt;when&lt;/b&gt; it is retried."), "{text}");
    let sign_in = format!("/dashboard/-/sign-in?to={}", here.replace('/', "%2F"));
    assert!(text.contains(&sign_in), "{text}");
}

#[test]
fn a_comment_stands_at_its_line_while_that_says_the_same() {
    let site = Site::start();
    let job = site.agent().create("Replace \"widget\" with \"gadget\"");
    let job = site.agent().reaches(job["id"].as_str().expect("an id"), "completed");
    let pull = job["prLink"].as_str().and_then(|link| link.rsplit('/').next()).expect("a link");
    let here = format!("/dashboard/{PROJECT}/pulls/{pull}");
    let mut editor = Person::joins(&site.server, &site.installation, "ed", "editor");
    let file = "quickstart.mdx";
    for (line, quoted, said) in
        [("17", "The gadget endpoint takes", "Why gadget?"), ("-17", "The widget endpoint takes", "It was right.")]
    {
        let page = editor.gets(&here).text().to_owned();
        assert!(page.contains(&format!("?comment={file}:{line}#comment-form")), "{page}");
        let form = editor.gets(&format!("{here}?comment={file}:{line}")).text().to_owned();
        let sent = form.split_once("name=\"line\" value=\"").and_then(|(_, rest)| rest.split('"').next());
        let sent = sent.expect("the form has what the line says").to_owned();
        assert!(sent.starts_with(quoted), "{sent}");
        let fields = [("comment", said), ("at", &format!("{file}:{line}")), ("line", &sent)];
        assert_eq!(editor.posts(&format!("{here}/comment"), &fields).status, 303);
    }
    let changes = |editor: &mut Person<'_>| {
        let page = editor.gets(&here).text().to_owned();
        let (before, comments) = page.split_once("id=\"comments\"").expect("the comments");
        for said in ["Why gadget?", "It was right.", "The gadget endpoint takes", "The widget endpoint takes"] {
            assert!(comments.contains(said), "{said}: {comments}");
        }
        before.split_once("id=\"changes\"").expect("the changes").1.to_owned()
    };
    let shown = changes(&mut editor);
    assert!(shown.contains("Why gadget?") && shown.contains("It was right."), "{shown}");

    let branches = site.repository.branches();
    let branch = branches.iter().find(|branch| *branch != "main").expect("the branch of the job");
    let text = site.repository.file(branch, file);
    site.repository.commit(branch, file, &text.replace("## Install", "One line more.\n\n## Install"));
    let shown = changes(&mut editor);
    let (before, _) = shown.split_once("Why gadget?").expect("a comment in the changes");
    let (_, line) = before.rsplit_once("gadget</bdi></ins>").expect("the line before it");
    assert_eq!(line.matches("<tr").count(), 1, "it has moved with its line: {line}");
    site.repository.commit(branch, file, &text.replace("gadget", "sprocket"));
    let shown = changes(&mut editor);
    assert!(!shown.contains("Why gadget?"), "that line is gone: {shown}");
    assert!(shown.contains("It was right."), "{shown}");
}

#[test]
fn a_question_without_scripts_is_asked_once() {
    let model = ModelServer::start();
    let environment = model.configures(Wire::OpenAi);
    let environment: Vec<(&str, &str)> = environment.iter().map(|(name, value)| (&**name, &**value)).collect();
    let site = Site::with_env(PAGES, &environment);
    let mut editor = Person::joins(&site.server, &site.installation, "ed", "editor");
    let here = format!("/dashboard/{PROJECT}/playground");
    let ask = |editor: &mut Person<'_>| {
        let form = editor.gets(&here).text().to_owned();
        let action = form.split_once("formaction=\"").and_then(|(_, rest)| rest.split('"').next()).expect("an action");
        format!("{here}{action}")
    };
    let asks = |editor: &mut Person<'_>, address: &str, question: &str| {
        let answer = editor.posts(address, &[("q", question)]);
        assert_eq!(answer.status, 200, "{}", answer.text());
        let (_, answer) = answer.text().split_once("<h2>Answer</h2>").expect("an answer");
        answer.split_once("id=\"snippets\"").expect("the rest").0.to_owned()
    };
    model.replies_with(|_| Reply::text("Five times."));
    let address = ask(&mut editor);
    let first = asks(&mut editor, &address, "How often is a webhook retried?");
    assert!(first.contains("Five times."), "{first}");
    let served = model.served();
    assert_eq!(asks(&mut editor, &address, "How often is a webhook retried?"), first, "a reload");
    assert_eq!(model.served(), served, "nothing was asked again");
    asks(&mut editor, &address, "How is a webhook signed?");
    assert!(model.served() > served, "another question");
    let (served, address) = (model.served(), ask(&mut editor));
    asks(&mut editor, &address, "How often is a webhook retried?");
    assert!(model.served() > served, "the same question, asked again");
}

#[test]
fn a_folder_with_a_site_is_proposed_and_taken_with_a_button() {
    let site = Site::start();
    let pages = [
        ("README.md", "# Acme\n"),
        ("manual/mkdocs.yml", "site_name: Acme\n"),
        ("manual/docs/index.md", "# Manual\n"),
        ("handbook/book.toml", "[book]\ntitle = \"Acme\"\n"),
        ("handbook/src/SUMMARY.md", "# Summary\n\n- [One](one.md)\n"),
        ("handbook/src/one.md", "# One\n"),
    ];
    let repository = site.installation.repository("two-sites", &pages).path().display().to_string();
    let mut owner = Person::joins(&site.server, &site.installation, "olive", "owner");
    let add = "/dashboard/-/projects/new";
    let form = [("id", "other"), ("repository", repository.as_str()), ("forge", "local")];
    let with = |button: (&'static str, &'static str)| form.iter().copied().chain([button]).collect::<Vec<_>>();
    owner.gets(add);
    let checked = owner.posts(add, &with(("do", "add"))).text().to_owned();
    for folder in ["manual", "handbook"] {
        assert!(checked.contains(&format!("name=\"proposed_root\" value=\"{folder}\"")), "{folder}: {checked}");
    }
    let checked = owner.posts(add, &with(("proposed_root", "manual"))).text().to_owned();
    assert!(checked.contains("read as a site of MkDocs") && !checked.contains("proposed_root"), "{checked}");
    assert!(checked.contains("name=\"docs_root\" value=\"manual\""), "{checked}");
    let projects = owner.gets("/dashboard/-/projects").text().to_owned();
    assert!(!projects.contains("two-sites"), "it was only checked: {projects}");
}

#[test]
fn what_has_ended_is_not_said_to_go_on_and_what_was_written_is_kept() {
    let model = ModelServer::start();
    model.replies_with(|_| Reply::silence());
    let environment = model.configures(Wire::OpenAi);
    let environment: Vec<(&str, &str)> = environment.iter().map(|(name, value)| (&**name, &**value)).collect();
    let site = Site::with_env(PAGES, &environment);
    let agent = site.agent();
    let job = agent.create("Document the retry option");
    let id = job["id"].as_str().expect("an id");
    eventually("the model is asked", || (model.served() > 0).then_some(()));
    assert_eq!(agent.archive(id).status, 200);
    let mut editor = Person::joins(&site.server, &site.installation, "ed", "editor");
    let here = format!("/dashboard/{PROJECT}/jobs/{id}");
    let page = editor.gets(&here).text().to_owned();
    assert!(page.contains("<b>Stopped</b>") && !page.contains("<b>Done</b>"), "{page}");
    assert!(!page.contains("name=\"message\""), "an archived job takes no message: {page}");
    // A page that was open before: what was written is shown once more.
    let refused = editor.posts(&format!("{here}/message"), &[("message", "Say <b>more</b>.")]);
    assert_eq!(refused.status, 409, "{}", refused.text());
    assert!(refused.text().contains("Say &lt;b&gt;more&lt;/b&gt;."), "{}", refused.text());
}

#[test]
fn nobody_else_gets_in() {
    let site = Site::start();
    let server = &site.server;
    let paths = ["/dashboard", "/dashboard/-/live?topic=jobs", &format!("/dashboard/{PROJECT}/keys")];
    for path in paths {
        let refused = server.send(&Request::get(path).header("sec-fetch-mode", "navigate"));
        assert_eq!(refused.status, 303, "{path}");
        assert!(refused.header("location").is_some_and(|to| to.starts_with("/dashboard/-/sign-in?to=")), "{path}");
        // A forged session cookie is not a session.
        let forged = Request::get(path).header("cookie", format!("docent-session={}", "0".repeat(64)));
        assert_eq!(server.send(&forged).status, 303, "{path}");
    }
    // The sign-in page preserves the requested URL, including its query.
    let asked = server.send(&Request::get("/dashboard/-/jobs?status=failed"));
    assert_eq!(asked.header("location"), Some("/dashboard/-/sign-in?to=%2Fdashboard%2F-%2Fjobs%3Fstatus%3Dfailed"));
    // API keys are for programs and do not open the dashboard.
    let with_key = server.send(&Request::get("/dashboard").bearer(&site.admin_key));
    assert_eq!(with_key.status, 303);
    // The link of a pull request leads to its page, which requires a session.
    let link = server.send(&Request::get(format!("/pulls/{PROJECT}/{}", uuid_of(7))));
    assert_eq!(link.header("location"), Some(format!("/dashboard/{PROJECT}/pulls/{}", uuid_of(7)).as_str()));
}

fn uuid_of(n: u8) -> String {
    format!("00000000-0000-4000-8000-0000000000{n:02}")
}

#[test]
fn a_write_of_another_site_is_refused() {
    let site = Site::start();
    let mut owner = Person::joins(&site.server, &site.installation, "olive", "owner");
    let path = format!("/dashboard/{PROJECT}/reindex");
    let own = format!("http://{}", site.server.address());
    let others: [&[(&str, &str)]; 6] = [
        &[("origin", "https://evil.example"), ("sec-fetch-site", "cross-site")],
        &[("origin", "null"), ("sec-fetch-site", "cross-site")],
        &[("origin", &own), ("sec-fetch-site", "same-site")],
        &[("origin", "https://evil.example")],
        &[("sec-fetch-site", "none")],
        &[],
    ];
    for headers in others {
        let request = owner.form(&path, &[]);
        let request = headers.iter().fold(request, |request, (name, value)| request.header(name, *value));
        assert_eq!(site.server.send(&request).status, 403, "{headers:?}");
    }
    // From the right page without the token, or with the token of another session.
    let token = std::mem::take(&mut owner.token);
    assert_eq!(owner.posts(&path, &[]).status, 403);
    let editor = Person::joins(&site.server, &site.installation, "ed", "editor");
    owner.token = editor.token.clone();
    assert_eq!(owner.posts(&path, &[]).status, 403);
    owner.token = token;
    assert_eq!(owner.posts(&path, &[]).status, 303);
}

#[test]
fn a_session_is_new_with_each_sign_in_and_ends_when_it_is_signed_out() {
    let site = Site::start();
    let server = &site.server;
    let mut owner = Person::joins(server, &site.installation, "olive", "owner");
    let first = owner.session().expect("a session").to_owned();

    // Signing in without a cookie jar, and with a session cookie that an attacker planted.
    let mut thief = Person::new(server);
    let form = [("name", "olive"), ("password", PASSWORD)];
    assert_eq!(thief.posts("/dashboard/-/sign-in", &form).status, 403, "no visit, no token");
    thief.gets("/dashboard/-/sign-in");
    thief.cookies.clear();
    assert_eq!(thief.posts("/dashboard/-/sign-in", &form).status, 403, "a token without its cookie");

    let mut fixed = Person::new(server);
    fixed.gets("/dashboard/-/sign-in");
    let planted = "f".repeat(64);
    fixed.cookies.push(("docent-session".to_owned(), planted.clone()));
    let signed_in = fixed.posts("/dashboard/-/sign-in", &form);
    assert_eq!(signed_in.status, 303, "{}", signed_in.text());
    let second = fixed.session().expect("a session").to_owned();
    assert!(second != planted && second != first, "a session is never one that the browser brought");

    assert_eq!(owner.posts("/dashboard/-/sign-out", &[]).status, 303);
    let replayed = Request::get("/dashboard").header("cookie", format!("docent-session={first}"));
    assert_eq!(server.send(&replayed).status, 303, "a session that was signed out is over");
    assert_eq!(fixed.gets("/dashboard").status, 200, "the other one goes on");
    assert_eq!(fixed.posts("/dashboard/-/account/sign-out-everywhere", &[]).status, 303);
    let replayed = Request::get("/dashboard").header("cookie", format!("docent-session={second}"));
    assert_eq!(server.send(&replayed).status, 303);
}

#[test]
fn guesses_are_limited_and_a_wrong_name_looks_like_a_wrong_password() {
    let site = Site::start();
    drop(Person::joins(&site.server, &site.installation, "olive", "owner"));
    let mut guesser = Person::new(&site.server);
    guesser.gets("/dashboard/-/sign-in");
    let mut guess =
        |name: &str| guesser.posts("/dashboard/-/sign-in", &[("name", name), ("password", "not the password")]);
    let (known, unknown) = (guess("olive"), guess("nobody"));
    assert_eq!((known.status, unknown.status), (401, 401));
    let without = |response: &Response, name: &str| response.text().replace(name, "");
    assert_eq!(without(&known, "olive"), without(&unknown, "nobody"));
    let statuses: Vec<u16> = (0..12).map(|_| guess("olive").status).collect();
    assert_eq!(*statuses.last().expect("one"), 429, "{statuses:?}");
}

#[test]
fn every_answer_is_guarded_against_scripts_and_frames() {
    let site = Site::start();
    let mut owner = Person::joins(&site.server, &site.installation, "olive", "owner");
    for path in ["/dashboard", "/dashboard/-/none", "/dashboard/nobody", &format!("/dashboard/{PROJECT}/jobs?status=x")]
    {
        let response = owner.gets(path);
        let policy = response.header("content-security-policy").unwrap_or_default();
        for rule in
            ["default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "require-trusted-types-for 'script'"]
        {
            assert!(policy.contains(rule), "{path}: {policy}");
        }
        assert!(!policy.contains("unsafe"), "{policy}");
        assert_eq!(response.header("cache-control"), Some("no-store"), "{path}");
        assert_eq!(response.header("x-content-type-options"), Some("nosniff"), "{path}");
    }
}

#[test]
fn a_journal_is_filtered_over_all_of_it_and_each_entry_has_an_address() {
    let site = Site::start();
    let mut owner = Person::joins(&site.server, &site.installation, "olive", "owner");
    let agent = site.agent();
    let job = agent.create("Replace \"widget\" with \"gadget\"");
    let job = agent.reaches(job["id"].as_str().expect("an id"), "completed");
    let here = format!("/dashboard/{PROJECT}/jobs/{}", job["id"].as_str().expect("an id"));
    let mut rows = |query: &str| -> Vec<u64> {
        let page = owner.gets(&format!("{here}{query}"));
        assert_eq!(page.status, 200, "{query}: {}", page.text());
        let numbers = page.text().split(" id=\"e").skip(1).filter_map(|rest| rest.split('"').next()?.parse().ok());
        numbers.collect()
    };
    let all = rows("");
    assert!(all.len() > 3 && all.is_sorted_by(|one, other| one > other), "newest first: {all:?}");
    let (last, first) = (all[0], all[all.len() - 1]);
    assert_eq!(rows("?text=WIDGET").last(), Some(&2), "the instruction, whatever the case");
    assert!(rows("?text=nothing+says+this").is_empty());
    let called = rows("?tool=replace_text");
    assert_eq!(called.len(), 2, "the call and its result: {called:?}");
    assert!(rows("?only=failed").is_empty());
    assert_eq!(rows(&format!("?before={}", all[1])), all[2..]);
    assert_eq!(rows(&format!("?after={}", all[2])), all[..2]);
    for seq in [first, last] {
        assert!(rows(&format!("?at={seq}")).contains(&seq), "{seq}");
    }
    assert!(owner.gets(&here).text().contains("Tokens out"), "what the turn took");
    for odd in ["?before=0", "?after=99999999999999999999", "?at=18446744073709551615", "?after=18446744073709551615"] {
        assert_eq!(owner.gets(&format!("{here}{odd}")).status, 200, "{odd}");
    }
}

#[test]
fn a_pull_request_is_talked_about_closed_opened_again_and_becomes_one_commit() {
    let site = Site::start();
    let mut editor = Person::joins(&site.server, &site.installation, "ed@example.com", "editor");
    let agent = site.agent();
    let job = agent.create("Replace \"widget\" with \"gadget\"");
    let job = agent.reaches(job["id"].as_str().expect("an id"), "completed");
    let id = job["prLink"].as_str().and_then(|link| link.rsplit('/').next()).expect("a link").to_owned();
    let here = format!("/dashboard/{PROJECT}/pulls/{id}");
    editor.gets(&here);
    let refused = editor.posts(&format!("{here}/comment"), &[("comment", " "), ("at", "quickstart.mdx:3")]);
    assert_eq!(refused.status, 400);
    assert!(refused.text().contains("name=\"at\" value=\"quickstart.mdx:3\""), "it keeps its line: {}", refused.text());
    assert_eq!(editor.posts(&format!("{here}/comment"), &[("comment", "Is <i>this</i> right?")]).status, 303);
    let page = editor.gets(&here).text().to_owned();
    for shown in ["Is &lt;i&gt;this&lt;/i&gt; right?", "ed@example.com", "Commits", "Squash and merge"] {
        assert!(page.contains(shown), "{shown}: {page}");
    }
    assert_eq!(editor.posts(&format!("{here}/reopen"), &[]).status, 409, "it is open");
    assert_eq!(editor.posts(&format!("{here}/close"), &[]).status, 303);
    let lists = |editor: &mut Person<'_>, query: &str| {
        editor.gets(&format!("/dashboard/{PROJECT}/pulls{query}")).text().contains(&id)
    };
    assert!(lists(&mut editor, "?state=closed&text=GADGET") && !lists(&mut editor, "?state=open"));
    assert!(!lists(&mut editor, "?text=nothing"));
    assert_eq!(editor.posts(&format!("{here}/reopen"), &[]).status, 303);

    // API keys cannot carry out the dashboard's actions.
    for action in ["squash", "reopen", "comment"] {
        let path = format!("/pulls/{PROJECT}/{id}/{action}");
        assert_eq!(site.server.send(&Request::post(path).bearer(&site.admin_key)).status, 404, "{action}");
    }

    let before = format!("{}\n", site.repository.file("main", "quickstart.mdx").trim_end());
    site.repository.commit("main", "quickstart.mdx", &before.replace("widget", "sprocket"));
    let refused = editor.posts(&format!("{here}/squash"), &[]);
    assert_eq!(refused.header("location"), Some(format!("{here}/conflicts").as_str()));
    let page = editor.gets(&format!("{here}/conflicts")).text().to_owned();
    for shown in
        ["quickstart.mdx", "Both changed the same lines", "<ins><bdi>sprocket", "<ins><bdi>gadget", "git merge"]
    {
        assert!(page.contains(shown), "{shown}: {page}");
    }
    site.repository.commit("main", "quickstart.mdx", &before);
    assert!(editor.gets(&format!("{here}/conflicts")).text().contains("Nothing conflicts"));
    assert_eq!(editor.posts(&format!("{here}/squash"), &[]).status, 303);
    let commit = site.repository.git(&["log", "-1", "--format=%an <%ae>|%P|%(trailers:key=Co-authored-by)", "main"]);
    let parts: Vec<&str> = commit.split('|').collect();
    assert_eq!((parts[0], parts[1].len()), ("ed@example.com <ed@example.com>", 40), "one parent: {commit}");
    assert_eq!(parts[2].trim(), "Co-authored-by: Docent <docent@localhost>");
    assert!(site.repository.file("main", "quickstart.mdx").contains("gadget"));
    assert!(editor.gets(&here).text().contains("merged"));
    let audit =
        Person::joins(&site.server, &site.installation, "olive", "owner").gets("/dashboard/-/audit").text().to_owned();
    for action in ["pull.commented", "pull.closed", "pull.reopened", "pull.squashed"] {
        assert!(audit.contains(action), "{action}");
    }
}

#[test]
fn actions_are_in_the_audit_list() {
    let site = Site::start();
    let mut owner = Person::joins(&site.server, &site.installation, "olive", "owner");
    let keys = format!("/dashboard/{PROJECT}/keys");
    let made = owner.posts(&keys, &[("kind", "admin"), ("scope", "read"), ("days", "7"), ("name", "for <b>CI</b>")]);
    assert_eq!((made.status, made.header("location")), (303, Some(keys.as_str())), "{}", made.text());
    let page = owner.gets(&keys).text().to_owned();
    assert!(page.contains("for &lt;b&gt;CI&lt;/b&gt;") && !page.contains("<b>CI"), "{page}");
    let key = page.split("docent_admin_").nth(1).and_then(|rest| rest.split('<').next()).expect("the key is shown");
    let works =
        site.server.send(&Request::get(format!("/v2/agent/{PROJECT}/jobs")).bearer(&format!("docent_admin_{key}")));
    assert_eq!(works.status, 200, "{}", works.text());
    assert!(!owner.gets(&keys).text().contains(key), "it is shown once");
    let audit = owner.gets("/dashboard/-/audit").text().to_owned();
    for expected in ["key.create", "olive", "admin, read"] {
        assert!(audit.contains(expected), "{expected}: {audit}");
    }
}

/// The served branch of [`hostile`].
const HOSTILE_BRANCH: &str = "\"><img/src=x/onerror=document.title='owned'>";

/// A repository whose branch, names, titles and texts contain markup and control characters, with sizes that stress the
/// layout; and enough pages that indexing is visible.
fn hostile(installation: &Installation) -> Repository {
    let markup = "<img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script>";
    // The agent edits the last line only: it writes no markup that runs, and no file whose name has control characters.
    let page = format!(
        "---\ntitle: {markup}\n---\n\n# {markup} \u{202e}evil\n\n```{markup}\n{markup}\n```\n\n[evil](javascript:alert(1)) {markup} \
         \u{2066}\n\nThe widget is here.\n"
    );
    let mut files: Vec<(String, String)> = [
        ("index.md".to_owned(), page.clone()),
        ("<img src=x onerror=alert(1)>.md".to_owned(), page.clone()),
        (format!("{}.md", "w".repeat(200)), page.clone()),
        ("javascript:alert(1).md".to_owned(), page.clone()),
        ("new\nline \"quoted\" & 'so'.md".to_owned(), page.replace("widget", "thing")),
        ("\u{202e}dm.ti.md".to_owned(), page.replace("widget", "thing")),
    ]
    .into();
    files.push(("long.md".to_owned(), format!("# Long\n\n{}\n\nThe widget is long.\n", "evil <b> ".repeat(120_000))));
    files.push(("dense.md".to_owned(), format!("# Dense\n\n{}", "The widget `a` [a](b) 1.\n".repeat(3_000))));
    files.extend((0..PLENTY).map(|n| (format!("many/{n}.md"), format!("# Page {n}\n\nIt has number {n}.\n"))));
    let repository = installation.repository("hostile", &files);
    repository.git(&["branch", HOSTILE_BRANCH, "main"]);
    repository
}

/// Enough pages that indexing takes a moment.
const PLENTY: usize = 4_000;

/// Needs Chromium, node and the packages of `tests/dashboard`, which `cargo xtask test` installs. `$DOCENT_CHROMIUM`
/// and `$DOCENT_NODE` name other programs.
#[test]
#[ignore = "needs Chromium and the packages of tests/dashboard: cargo xtask test --only dashboard"]
fn people_work_with_the_dashboard_in_a_browser() {
    let chromium = std::env::var_os("DOCENT_CHROMIUM").unwrap_or_else(|| "/usr/bin/chromium".into());
    let installation = Installation::new();
    let repository = installation.repository("docs", PAGES);
    let past = PastJobs::of(&installation.data(), "acme");
    past.short(120);
    let long = past.long().to_string();
    drop(past);
    let server = installation.serve_with(&[
        ("DOCENT_HOOKS__0__URL", &HookReceiver::start().url()),
        ("DOCENT_HOOKS__0__SECRET_ENV", "ACME_HOOK_SECRET"),
        ("ACME_HOOK_SECRET", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"),
    ]);
    let link = installation.must(&["operator", "link"]).stdout;
    let path = link.trim().split_once("/dashboard/").map(|(_, rest)| format!("/dashboard/{rest}")).expect("a link");
    let mut command = third_party::node("dashboard", "dashboard.mjs");
    command.arg(chromium).arg(Path::new(env!("CARGO_TARGET_TMPDIR")).join("dashboard"));
    let given = json!({
        "server": server.url(),
        "link": path,
        "repository": repository.path(),
        "hostile": hostile(&installation).path(),
        "branch": HOSTILE_BRANCH,
        "long": long,
    });
    command.arg(given.to_string());
    let status = command.status().expect("node starts");
    assert!(status.success(), "the pages found fault: {status}");
}

/// Needs what [`people_work_with_the_dashboard_in_a_browser`] needs.
#[test]
#[ignore = "needs Chromium and the packages of tests/dashboard: cargo xtask test --only dashboard"]
fn people_sign_in_at_an_identity_provider_in_a_browser() {
    let chromium = std::env::var_os("DOCENT_CHROMIUM").unwrap_or_else(|| "/usr/bin/chromium".into());
    let installation = Installation::new();
    let (issuer, secret) = (format!("http://127.0.0.1:{}", third_party::free_port()), "a-secret-of-the-test");
    let server = installation.serve_with(&[
        ("DOCENT_OPENID__ISSUER", &issuer),
        ("DOCENT_OPENID__CLIENT_ID", "docent"),
        ("DOCENT_OPENID__CLIENT_SECRET_ENV", "OPENID_SECRET"),
        ("DOCENT_OPENID__OWNER_GROUPS", "admins"),
        ("DOCENT_OPENID__EDITOR_GROUPS", "docs, writers"),
        ("DOCENT_OPENID__LABEL", "Example"),
        ("OPENID_SECRET", secret),
    ]);
    drop(Person::joins(&server, &installation, "olive", "owner"));
    let mut command = third_party::node("dashboard", "openid.mjs");
    let given = json!({
        "server": server.url(), "issuer": issuer, "client": "docent", "secret": secret, "name": "olive",
        "password": PASSWORD,
    });
    command.arg(chromium).arg(given.to_string());
    let status = command.status().expect("node starts");
    assert!(status.success(), "the sign-in found fault: {status}");
}

/// Needs what [`people_work_with_the_dashboard_in_a_browser`] needs.
#[test]
#[ignore = "needs Chromium and the packages of tests/dashboard: cargo xtask test --only dashboard"]
fn people_spend_their_first_hour_in_a_browser() {
    let chromium = std::env::var_os("DOCENT_CHROMIUM").unwrap_or_else(|| "/usr/bin/chromium".into());
    let model = ModelServer::start();
    model.replies_with(|asked| match asked.said().iter().any(|text| text.contains("impossible")) {
        true => Reply::fails(400),
        false => read_edit_finish(asked),
    });
    let environment = model.configures(Wire::OpenAi);
    let environment: Vec<(&str, &str)> =
        environment.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let installation = Installation::new();
    let mut pages: Vec<(String, String)> =
        PAGES.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect();
    pages.extend((0..PLENTY).map(|n| (format!("many/{n}.md"), format!("# Page {n}\n\nIt has number {n}.\n"))));
    let repository = installation.repository("docs", &pages);
    let server = installation.serve_with(&environment);
    let address = server.address();
    let link = installation.must(&["operator", "link"]).stdout;
    let path = link.trim().split_once("/dashboard/").map(|(_, rest)| format!("/dashboard/{rest}")).expect("a link");
    let mut command = third_party::node("dashboard", "first_hour.mjs");
    let given = json!({
        "server": server.url(), "link": path, "repository": repository.path(), "data": installation.data(), "name": "olive",
        "password": PASSWORD,
    });
    command.arg(chromium).arg(Path::new(env!("CARGO_TARGET_TMPDIR")).join("first-hour")).arg(given.to_string());
    let mut browser = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("node starts");
    let mut said = BufReader::new(browser.stdout.take().expect("a pipe")).lines();
    let mut stdin = browser.stdin.take().expect("a pipe");
    let mut hears = |word: &str| {
        let heard = said.next().and_then(Result::ok).unwrap_or_default();
        assert_eq!(heard, word, "what node says");
    };
    hears("down");
    server.kill();
    writeln!(stdin, "down").expect("node reads");
    hears("up");
    let server = installation.serve_on(address, &environment);
    writeln!(stdin, "up").expect("node reads");
    hears("the first hour holds");
    let status = browser.wait().expect("node ends");
    drop(server);
    assert!(status.success(), "the first hour found fault: {status}");
}

/// Needs what [`people_work_with_the_dashboard_in_a_browser`] needs.
#[test]
#[ignore = "needs Chromium and the packages of tests/dashboard: cargo xtask test --only dashboard"]
fn people_watch_while_the_server_starts_again_in_a_browser() {
    let chromium = std::env::var_os("DOCENT_CHROMIUM").unwrap_or_else(|| "/usr/bin/chromium".into());
    let model = ModelServer::start();
    let slow =
        (0..240).fold(Reply::text("I look"), |reply, _| reply.pause(Duration::from_millis(500)).say(" and **look**"));
    model.replies(slow.finish("Nothing"));
    let environment = model.configures(Wire::OpenAi);
    let environment: Vec<(&str, &str)> =
        environment.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let installation = Installation::new();
    installation.add_project(PROJECT, &installation.repository("docs", PAGES));
    let key = installation.mint(PROJECT, KeyKind::Admin, &[]);
    let server = installation.serve_with(&environment);
    let address = server.address();
    drop(Person::joins(&server, &installation, "olive", "owner"));
    let job = Agent::new(&server, PROJECT, &key).create("Look at it")["id"].as_str().expect("an id").to_owned();

    let mut command = third_party::node("dashboard", "restart.mjs");
    let given =
        json!({ "server": server.url(), "name": "olive", "password": PASSWORD, "project": PROJECT, "job": job });
    command.arg(chromium).arg(given.to_string()).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut browser = command.spawn().expect("node starts");
    let mut said = String::new();
    BufReader::new(browser.stdout.take().expect("a pipe")).read_line(&mut said).expect("node says something");
    assert_eq!(said.trim(), "watching");

    server.kill();
    model.replies_with(|_| Reply::text("There is nothing to do.").finish("Nothing"));
    let server = installation.serve_on(address, &environment);
    let agent = Agent::new(&server, PROJECT, &key);
    agent.reaches(&job, "completed");
    for prompt in ["Look again", "And again"] {
        agent.reaches(agent.create(prompt)["id"].as_str().expect("an id"), "completed");
    }
    assert_eq!(agent.message(&job, "Look once more").status, 200);
    eventually("the further instruction to be carried out", || {
        (agent.job(&job)["status"] == "completed").then_some(())
    });
    let journal = format!("/dashboard/{PROJECT}/jobs/{job}/journal.ndjson");
    let entries = Person::joins(&server, &installation, "vera", "viewer").gets(&journal).text().lines().count();
    let told = json!({ "entries": entries, "jobs": 3 });
    writeln!(browser.stdin.take().expect("a pipe"), "{told}").expect("node reads");
    let status = browser.wait().expect("node ends");
    assert!(status.success(), "the pages found fault: {status}");
}
