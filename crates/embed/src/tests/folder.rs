use std::fs;

use crate::{ModelError, ModelFolder, hub_cache};

#[test]
fn a_model_is_found_by_its_name_in_the_state_that_main_names() {
    let cache = tempfile::tempdir().expect("a folder");
    let model = cache.path().join("models--acme--small");
    for snapshot in ["aaa", "bbb"] {
        fs::create_dir_all(model.join("snapshots").join(snapshot)).expect("a folder");
    }
    let place = ModelFolder::Name("acme/small".to_owned());
    fs::create_dir_all(model.join("refs")).expect("a folder");
    fs::write(model.join("refs/main"), "aaa\n").expect("written");
    assert_eq!(place.folder(cache.path()).expect("found"), model.join("snapshots/aaa"));
    fs::write(model.join("refs/main"), "../../..").expect("written");
    let newest = place.folder(cache.path()).expect("found");
    assert!(newest.starts_with(model.join("snapshots")), "a name that leads elsewhere is not followed");
}

#[test]
fn missing_model_files_are_errors_and_never_fetched() {
    let cache = tempfile::tempdir().expect("a folder");
    let missing = ModelFolder::Name("acme/small".to_owned()).folder(cache.path()).expect_err("nothing there");
    assert!(matches!(missing, ModelError::NotCached { .. }));
    assert!(missing.to_string().contains("`acme/small`"), "{missing}");
    for name in ["", "a/b/c", "../x", "a/..", "a b"] {
        let refused = ModelFolder::Name(name.to_owned()).folder(cache.path()).expect_err("no name");
        assert!(matches!(refused, ModelError::BadName(_)), "{name}");
    }
    assert!(ModelFolder::Folder(cache.path().join("x")).folder(cache.path()).is_err());
}

#[test]
fn the_cache_is_where_the_usual_tools_have_it() {
    let of = |set: &'static [(&'static str, &'static str)]| {
        hub_cache(|name| set.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned()))
    };
    for (set, cache) in [
        (&[("HF_HUB_CACHE", "/c"), ("HF_HOME", "/h")][..], "/c"),
        (&[("HF_HOME", "/h"), ("HOME", "/me")], "/h/hub"),
        (&[("HF_HOME", ""), ("HOME", "/me")], "/me/.cache/huggingface/hub"),
        (&[("XDG_CACHE_HOME", "/x"), ("HOME", "/me")], "/x/huggingface/hub"),
    ] {
        assert_eq!(of(set).to_str(), Some(cache));
    }
}
