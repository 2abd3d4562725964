//! Links through symbolic links.

use crate::model::{Site, Target};
use crate::sample::{Files, asset, missing, site};
use crate::tree::Tree;

/// `docs/examples` leads to the folder `examples`, in which `more` is a link, `docs/changes.md` to `CHANGES.md`, and `docs/lost`
/// out of the repository.
struct Linked(Files);

impl Tree for Linked {
    fn paths(&self) -> Vec<String> {
        self.0.paths()
    }

    fn read(&self, path: &str) -> Option<Vec<u8>> {
        self.0.read(path)
    }

    fn unread(&self) -> Vec<String> {
        ["docs/changes.md", "docs/examples", "docs/lost", "examples/more"].map(str::to_owned).to_vec()
    }

    fn linked(&self) -> Vec<String> {
        ["docs/changes.md", "docs/examples/a.md", "docs/examples/b.rst", "docs/examples/more"]
            .map(str::to_owned)
            .to_vec()
    }
}

#[test]
fn a_link_through_a_symbolic_link_is_judged_where_the_generator_follows_it() {
    let resolved = |configuration: (&str, &str), target: &str| {
        let files = [configuration, ("docs/index.md", ""), ("docs/index.rst", ""), ("examples/a.md", "")];
        let from = if target.starts_with(':') { "docs/index.rst" } else { "docs/index.md" };
        Site::read(&Linked(site(&files))).resolve(from, target)
    };
    let (mkdocs, sphinx) = (("mkdocs.yml", ""), ("docs/conf.py", "extensions = ['myst_parser']\n"));
    for (configuration, target, expected) in [
        (mkdocs, "changes.md#v1", asset("docs/changes.md")),
        (mkdocs, "examples/a.md", asset("docs/examples/a.md")),
        (mkdocs, "examples/gone.md", missing("docs/examples/gone.md")),
        (mkdocs, "examples/more/b.md", Target::NotUnderstood),
        (mkdocs, "lost/b.md", Target::NotUnderstood),
        (sphinx, "examples/gone.md", missing("docs/examples/gone.md")),
        (sphinx, ":doc:`examples/b`", asset("docs/examples/b.rst")),
        (("_config.yml", "title: x\n"), "examples/a.md", Target::NotUnderstood),
    ] {
        assert_eq!(resolved(configuration, target), expected, "{configuration:?} {target}");
    }
}
