//! Questions of agents on the docs of real repositories, asked by the tools and, beside them, by the files.
//!
//! `tests/agents` has the questions, with the pages that answer each; they were written before any was asked.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use docent_tests::binary::source_root;
use docent_tests::installation::KeyKind;
use docent_tests::repository::git;
use docent_tests::{Assistant, Installation, Request, Server};
use serde_json::{Value, json};

/// The share of questions, in percent, whose right page is among what the first call shows, and read by the second.
const BAR: usize = 90;

/// What an agent reads of one set of questions.
#[derive(Debug, Default)]
struct Read {
    questions: usize,
    /// How often the first page that the agent would open is a right one.
    first: usize,
    /// How often a right one is among those it is shown.
    shown: usize,
    /// The bytes of all that it reads.
    bytes: usize,
}

impl Read {
    /// As the tools count tokens.
    fn tokens(&self) -> usize {
        self.bytes / 3 / self.questions.max(1)
    }

    fn counts(&mut self, right: &HashSet<String>, pages: &[String], bytes: usize) {
        self.questions += 1;
        self.bytes += bytes;
        self.first += usize::from(pages.first().is_some_and(|page| right.contains(page)));
        self.shown += usize::from(pages.iter().any(|page| right.contains(page)));
    }
}

struct Docs<'s> {
    server: &'s Server,
    key: String,
}

impl Docs<'_> {
    /// The text and the data of what a tool returns.
    fn calls(&self, tool: &str, arguments: &Value) -> (String, Value) {
        let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}});
        let response = self.server.send(&Request::post("/mcp/docs").bearer(&self.key).json(&call));
        assert_eq!(response.status, 200, "{}", response.text());
        let result = response.json()["result"].take();
        let text = result["content"][0]["text"].as_str().expect("a text").to_owned();
        (text, result["structuredContent"].clone())
    }

    fn file(&self, path: &str) -> String {
        let response = self.server.send(&Request::get(path).bearer(&self.key));
        assert_eq!(response.status, 200, "{path}: {}", response.text());
        response.text().to_owned()
    }

    /// Searches, and reads the first page found.
    fn by_tools(&self, question: &str) -> (Vec<String>, usize) {
        let (shown, found) = self.calls("search", &json!({"query": question}));
        let paths = found["results"].as_array().into_iter().flatten().filter_map(|result| result["path"].as_str());
        let paths: Vec<&str> = paths.collect();
        let read = paths.first().map_or(0, |path| self.calls("get_page", &json!({"path": path})).0.len());
        (paths.into_iter().map(plain).collect(), shown.len() + read)
    }

    /// Reads `llms.txt`, the list of a folder if the best line is one, and the page of the best line.
    fn by_files(&self, question: &str) -> (Vec<String>, usize) {
        let (mut file, mut read) = ("/sites/docs/llms.txt".to_owned(), 0);
        loop {
            let list = self.file(&file);
            read += list.len();
            let folder = &file[..=file.rfind('/').expect("a path")];
            let Some(best) = best_link(question, &list) else { return (Vec::new(), read) };
            file = format!("{folder}{}", best.trim_start_matches("./"));
            if let Some(page) = file.strip_prefix("/sites/docs/").and_then(|file| file.strip_suffix(".md")) {
                return (vec![plain(page)], read + self.file(&file).len());
            }
        }
    }
}

/// The link of the line that has most words of a question.
fn best_link(question: &str, list: &str) -> Option<String> {
    let wanted = words(question);
    let lines = list.lines().filter_map(|line| Some((line, line.split_once("](")?.1.split(')').next()?)));
    let scored = lines.map(|(line, link)| (words(line).intersection(&wanted).count(), link));
    scored.rev().max_by_key(|(common, _)| *common).map(|(_, link)| link.to_owned())
}

fn words(text: &str) -> HashSet<String> {
    let words = text.split(|letter: char| !letter.is_alphanumeric()).filter(|word| word.len() > 2);
    words.map(|word| word.to_lowercase().trim_end_matches('s').to_owned()).collect()
}

/// A path as the questions name it.
fn plain(path: &str) -> String {
    let path = path.trim_matches('/');
    path.strip_suffix(".html").or_else(|| path.strip_suffix("/index")).unwrap_or(path).to_owned()
}

fn set(folder: &Path) -> Vec<(String, HashSet<String>)> {
    let read = |file: &str| fs::read_to_string(folder.join(file)).expect("a file of the set");
    let mut right: HashMap<String, HashSet<String>> = HashMap::new();
    for line in read("qrels.tsv").lines() {
        let columns: Vec<&str> = line.split('\t').collect();
        right.entry(columns[0].to_owned()).or_default().insert(plain(columns[1]));
    }
    let questions = read("queries.jsonl");
    let questions = questions.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let text = |question: &Value, name: &str| question[name].as_str().expect("a text").to_owned();
    questions.map(|question| (text(&question, "text"), right.remove(&text(&question, "id")).expect("pages"))).collect()
}

/// A tree without what is neither text nor asked about: clones of large repositories may lack it.
fn text_of(repository: &Path, tree: &str) -> String {
    const OTHER: [&str; 12] =
        ["png", "jpg", "jpeg", "gif", "webp", "avif", "ico", "mp4", "webm", "woff2", "pdf", "zip"];
    let is_text = |line: &&str| !OTHER.iter().any(|ending| line.ends_with(&format!(".{ending}")));
    let all = git(repository, &["ls-tree", "-r", "--full-tree", tree]);
    let kept: String = all.lines().filter(is_text).flat_map(|line| [line, "\n"]).collect();
    let mut command = Command::new("git");
    command.arg("-C").arg(repository).args(["update-index", "--index-info"]).stdin(Stdio::piped());
    let mut update = command.spawn().expect("start git");
    update.stdin.take().expect("stdin is a pipe").write_all(kept.as_bytes()).expect("write to git");
    assert!(update.wait().expect("wait for git").success());
    git(repository, &["write-tree"])
}

/// Needs a folder with a clone of each repository that `tests/agents` asks about, named as there.
#[test]
#[ignore = "needs clones of docs: DOCENT_REPOSITORIES=FOLDER cargo xtask test --only agents"]
fn an_agent_reads_the_right_page_within_two_calls() {
    let clones = std::env::var_os("DOCENT_REPOSITORIES").expect("$DOCENT_REPOSITORIES names a folder of clones");
    let (mut tools, mut files) = (Read::default(), Read::default());
    for name in ["syncthing", "vitest"] {
        let folder = source_root().join("tests/agents").join(name);
        let source = fs::read_to_string(folder.join("source.json")).expect("a source");
        let source: Value = serde_json::from_str(&source).expect("JSON");
        let value = |name: &str| source[name].as_str().expect("a text");
        let installation = Installation::new();
        let docs = installation.root().join("docs.git");
        let repository = docs.display().to_string();
        git(installation.root(), &["init", "--quiet", "--bare", &repository]);
        // The questions are about the docs of this commit; all else of the clone may be large, and some of it absent.
        let clone = git(&Path::new(&clones).join(name), &["rev-parse", "--absolute-git-dir"]);
        fs::write(docs.join("objects/info/alternates"), format!("{clone}/objects\n")).expect("name the objects");
        let tree = text_of(&docs, &format!("{}:{}", value("commit"), value("docsRoot")));
        let commit = git(&docs, &["commit-tree", "-m", "asked", &tree]);
        git(&docs, &["update-ref", "refs/heads/asked", &commit]);
        installation.must(&["project", "add", "docs", "--repo", &repository, "--ref", "asked"]);
        let key = installation.mint("docs", KeyKind::Assistant, &[]);
        let server = installation.serve();
        Assistant::new(&server, "docs", &key).is_ready();
        let docs = Docs { server: &server, key };
        for (question, right) in set(&folder) {
            let (pages, bytes) = docs.by_tools(&question);
            tools.counts(&right, &pages, bytes);
            if !pages.iter().any(|page| right.contains(page)) {
                println!("not shown: {question}: {pages:?}");
            }
            let (pages, bytes) = docs.by_files(&question);
            files.counts(&right, &pages, bytes);
        }
    }
    for (way, read) in [("search, get_page", &tools), ("llms.txt, .md", &files)] {
        println!(
            "{way:<18} {} questions, right page first {}, among those shown {}, {} tokens a question",
            read.questions,
            read.first,
            read.shown,
            read.tokens()
        );
    }
    assert!(tools.shown * 100 >= tools.questions * BAR, "{tools:?}");
}
