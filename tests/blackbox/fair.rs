//! Several projects on one server: the load of one leaves room for the others.

use std::sync::Arc;

use docent_tests::agent::id;
use docent_tests::installation::KeyKind;
use docent_tests::model_server::{Gate, Reply, Wire};
use docent_tests::site::PAGES;
use docent_tests::{Agent, ModelServer, Site};
use parking_lot::Mutex;

#[test]
fn a_project_with_many_jobs_leaves_a_place_for_the_first_of_another() {
    let (model, gate) = (ModelServer::start(), Gate::new());
    let asked: Arc<Mutex<Vec<String>>> = Arc::default();
    model.forgets().replies_with({
        let (gate, asked) = (gate.clone(), Arc::clone(&asked));
        move |now| {
            asked.lock().push(now.body.to_string());
            Reply::text("There is nothing to do.").finish("Nothing").held_by(&gate)
        }
    });
    let mut env = model.configures(Wire::OpenAi);
    env.push(("DOCENT_AGENT__WORKERS".to_owned(), "2".to_owned()));
    env.push(("DOCENT_AGENT__JOBS_AT_ONCE_PER_PROJECT".to_owned(), "1".to_owned()));
    let env: Vec<(&str, &str)> = env.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let site = Site::with_env(PAGES, &env);
    let other = site.installation.repository("other", PAGES);
    site.installation.add_project("other", &other);
    let key = site.installation.mint("other", KeyKind::Admin, &[]);
    let small = Agent::new(&site.server, "other", &key);

    let many: Vec<_> = (0..5).map(|n| site.agent().create(&format!("Improve page {n}"))).collect();
    gate.holds(1);
    let first = small.create("Improve the other docs");
    gate.holds(2);
    let asked = asked.lock().clone();
    assert_eq!(asked.len(), 2, "there are two workers");
    assert!(asked.iter().any(|asked| asked.contains("Improve the other docs")), "one of them has the other's job");
    gate.open();
    small.reaches(id(&first), "completed");
    for job in &many {
        site.agent().reaches(id(job), "completed");
    }
}
