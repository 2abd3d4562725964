//! A judged set: pages, questions, and which pages answer which question.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;
use serde::de::DeserializeOwned;

#[derive(Debug, Deserialize)]
struct Document {
    id: String,
    #[serde(default)]
    title: String,
    text: String,
}

#[derive(Debug, Deserialize)]
pub(in crate::bench) struct Question {
    pub(in crate::bench) id: String,
    pub(in crate::bench) text: String,
    /// Pages that are removed from the results.
    #[serde(default)]
    pub(in crate::bench) ignore: Vec<String>,
}

#[derive(Debug)]
pub(in crate::bench) struct Set {
    pub(in crate::bench) name: String,
    pub(in crate::bench) folder: PathBuf,
    pages: Vec<Document>,
    /// Ids of pages, keyed by the path at which they are served.
    ids: HashMap<String, String>,
    questions: Vec<Question>,
    grades: HashMap<String, HashMap<String, u32>>,
}

/// The names of the sets in a folder, or of the selected ones.
pub(in crate::bench) fn names(folder: &Path, only: &[String]) -> Result<Vec<String>, String> {
    let entries = fs::read_dir(folder).map_err(|error| format!("cannot read {}: {error}", folder.display()))?;
    let mut names: Vec<String> = entries
        .flatten()
        .filter(|entry| entry.path().join("qrels.tsv").exists())
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    names.sort();
    if let Some(missing) = only.iter().find(|name| !names.contains(name)) {
        return Err(format!("{} has no set `{missing}`", folder.display()));
    }
    names.retain(|name| only.is_empty() || only.contains(name));
    if names.is_empty() {
        return Err(format!("{} holds no folder with a qrels.tsv", folder.display()));
    }
    Ok(names)
}

impl Set {
    pub(in crate::bench) fn read(sets: &Path, name: &str) -> Result<Self, String> {
        let folder = sets.join(name);
        let pages: Vec<Document> = lines(&corpus(&folder)?, "the corpus")?;
        let questions = lines(&read(&folder.join("queries.jsonl"))?, "queries.jsonl")?;
        let grades = grades(&read(&folder.join("qrels.tsv"))?)?;
        let ids = pages.iter().map(|page| (served(&page.id), page.id.clone())).collect();
        Ok(Self { name: name.to_owned(), folder, pages, ids, questions, grades })
    }

    /// The total length of all pages, in bytes.
    pub(in crate::bench) fn text(&self) -> usize {
        self.pages.iter().map(|page| page.text.len()).sum()
    }

    /// The pages as files of a docs repository.
    pub(in crate::bench) fn files(&self) -> Vec<(String, String)> {
        let file = |page: &Document| {
            let title = serde_json::Value::from(page.title.as_str());
            let head = if page.title.is_empty() { String::new() } else { format!("---\ntitle: {title}\n---\n\n") };
            (format!("{}.md", page.id.trim_matches('/')), format!("{head}{}\n", page.text))
        };
        self.pages.iter().map(file).collect()
    }

    /// The id of the page that is served at a path.
    pub(in crate::bench) fn page(&self, path: &str) -> Option<&str> {
        self.ids.get(path.trim_matches('/')).map(String::as_str)
    }

    /// The questions that have judgements, with the grades of their pages.
    pub(in crate::bench) fn judged(&self) -> impl Iterator<Item = (&Question, &HashMap<String, u32>)> {
        self.questions.iter().filter_map(|question| Some((question, self.grades.get(&question.id)?)))
    }

    /// The corpus as an uncompressed file, for programs that read one; decompressed into `folder` if necessary.
    pub(in crate::bench) fn corpus(&self, folder: &Path) -> Result<PathBuf, String> {
        let plain = self.folder.join("corpus.jsonl");
        if plain.exists() {
            return Ok(plain);
        }
        let unpacked = folder.join("corpus.jsonl");
        let wrote = fs::write(&unpacked, corpus(&self.folder)?);
        wrote.map_err(|error| format!("cannot write {}: {error}", unpacked.display()))?;
        Ok(unpacked)
    }
}

/// The path at which a page is served: the index page of a folder is served at the folder's path.
fn served(id: &str) -> String {
    let id = id.trim_matches('/');
    let (folder, name) = id.rsplit_once('/').unwrap_or(("", id));
    if matches!(name, "index" | "README" | "readme") { folder.to_owned() } else { id.to_owned() }
}

fn corpus(folder: &Path) -> Result<String, String> {
    let plain = folder.join("corpus.jsonl");
    if plain.exists() {
        return read(&plain);
    }
    let packed = folder.join("corpus.jsonl.gz");
    let output = Command::new("gzip").arg("-dc").arg(&packed).output();
    let output = output.map_err(|error| format!("could not run gzip: {error}"))?;
    if !output.status.success() {
        return Err(format!("gzip cannot read {}", packed.display()));
    }
    String::from_utf8(output.stdout).map_err(|_| format!("{} is not UTF-8", packed.display()))
}

pub(in crate::bench) fn read(file: &Path) -> Result<String, String> {
    fs::read_to_string(file).map_err(|error| format!("cannot read {}: {error}", file.display()))
}

pub(in crate::bench) fn lines<T: DeserializeOwned>(text: &str, what: &str) -> Result<Vec<T>, String> {
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(at, line)| serde_json::from_str(line).map_err(|error| format!("line {} of {what}: {error}", at + 1)))
        .collect()
}

pub(in crate::bench) fn grades(text: &str) -> Result<HashMap<String, HashMap<String, u32>>, String> {
    let mut grades: HashMap<String, HashMap<String, u32>> = HashMap::new();
    for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let columns: Vec<&str> = line.split('\t').map(str::trim).collect();
        let (question, page, grade) = match columns[..] {
            [question, page, grade] | [question, _, page, grade] => (question, page, grade.parse()),
            _ => return Err(format!("line {} of qrels.tsv: three columns are wanted", at + 1)),
        };
        let grade = grade.map_err(|_| format!("line {} of qrels.tsv: no grade", at + 1))?;
        grades.entry(question.to_owned()).or_default().insert(page.to_owned(), grade);
    }
    Ok(grades)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folders_index_is_served_as_the_folder() {
        for (id, path) in [("/en/guides/x", "en/guides/x"), ("en/index", "en"), ("index", ""), ("a/README", "a")] {
            assert_eq!(served(id), path);
        }
    }

    #[test]
    fn grades_are_read_by_question() {
        let read = grades("q1\t/a\t2\nq1\t0\t/b\t1\n\n").expect("grades");
        assert_eq!(read["q1"], HashMap::from([("/a".to_owned(), 2), ("/b".to_owned(), 1)]));
        assert!(grades("q1 a").is_err() && grades("q\ta\tx").is_err());
    }
}
