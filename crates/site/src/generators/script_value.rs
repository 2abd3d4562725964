//! Reads the literals of a JavaScript or TypeScript file as values.
//!
//! No code is executed. An expression that is not a literal, a name or a call (a sum, a choice) becomes
//! [`ScriptValue::Computed`], and parsing continues after it. A value that is there on a condition, or else nothing, is read
//! as if it were there.

use docent_markdown::Depth;
use docent_markdown::script::TokenKind;

use crate::script::{LONGEST_TYPE, Script};

/// How deep values may nest, functions included.
const MAX_DEPTH: usize = 48;

/// A parsed value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ScriptValue {
    Text(String),
    /// The source text of a number, a boolean, `null` or `undefined`.
    Word(String),
    List(Vec<ScriptValue>),
    /// Members in order. A spread has the name `...`.
    Object(Vec<(String, ScriptValue)>),
    /// `...value` in a list.
    Spread(Box<ScriptValue>),
    /// The name of something defined elsewhere.
    Name(String),
    Call(String, Vec<ScriptValue>),
    /// A value that is known only by executing the program.
    Computed,
}

impl ScriptValue {
    pub(crate) fn get(&self, name: &str) -> Option<&Self> {
        match self {
            Self::Object(members) => members.iter().rev().find(|(key, _)| key == name).map(|(_, value)| value),
            _ => None,
        }
    }

    pub(crate) fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(crate) fn list(&self) -> &[Self] {
        match self {
            Self::List(items) => items,
            _ => &[],
        }
    }

    pub(crate) fn members(&self) -> &[(String, Self)] {
        match self {
            Self::Object(members) => members,
            _ => &[],
        }
    }

    pub(crate) fn is(&self, word: &str) -> bool {
        matches!(self, Self::Word(known) if known == word)
    }

    /// Whether it stands for no value where a list, an object or a call may stand.
    fn is_nothing(&self) -> bool {
        match self {
            Self::List(items) => items.is_empty(),
            Self::Object(members) => members.is_empty(),
            other => ["null", "undefined", "false"].iter().any(|word| other.is(word)),
        }
    }

    /// The string value of a member.
    pub(crate) fn text_of(&self, name: &str) -> Option<&str> {
        self.get(name)?.text()
    }

    /// The items of a member that is a list.
    pub(crate) fn list_of(&self, name: &str) -> &[Self] {
        self.get(name).map_or(&[], Self::list)
    }

    /// The members of a member that is an object.
    pub(crate) fn members_of(&self, name: &str) -> &[(String, Self)] {
        self.get(name).map_or(&[], Self::members)
    }
}

/// The value that starts at the token `at`, and the index behind its last token.
pub(crate) fn value_at(script: &Script, at: usize) -> (ScriptValue, usize) {
    let mut reader = ValueReader { script, at };
    let depth = Depth::of(MAX_DEPTH);
    let value = reader.primary(depth).unwrap_or(ScriptValue::Computed);
    if !reader.is("?") {
        return (value, reader.at);
    }
    match reader.choice(reader.at, depth) {
        Some((value, end)) => (value.unwrap_or(ScriptValue::Computed), end),
        None => (ScriptValue::Computed, reader.at),
    }
}

/// The return value of the method whose parameters start at the token `at`.
pub(crate) fn returned_at(script: &Script, at: usize) -> Option<ScriptValue> {
    let mut reader = ValueReader { script, at };
    reader.at = reader.behind_parameters(at, "{")?;
    reader.body(Depth::of(MAX_DEPTH))
}

struct ValueReader<'s> {
    script: &'s Script,
    at: usize,
}

impl ValueReader<'_> {
    fn is(&self, words: &str) -> bool {
        self.script.is(self.at, words)
    }

    fn consume(&mut self, words: &str) -> bool {
        let found = self.is(words);
        self.at += usize::from(found);
        found
    }

    /// The words of this token, which is read.
    fn word(&mut self) -> String {
        self.at += 1;
        self.script.words(self.at - 1).to_owned()
    }

    /// The index of a mark that has to be near.
    fn near(&self, from: usize, mark: &str) -> Option<usize> {
        (from..from + LONGEST_TYPE).find(|at| self.script.is(*at, mark))
    }

    /// A value inside of a list, an object or a call, up to the token that ends it.
    fn value(&mut self, depth: Depth) -> Option<ScriptValue> {
        let start = self.at;
        let value = self.primary(depth)?;
        if self.at_end_of_value() && value != ScriptValue::Computed {
            return Some(value);
        }
        let is_typed = self.is("as") || self.is("satisfies");
        self.skip_expression(is_typed);
        if is_typed {
            return Some(value);
        }
        Some(self.conditional(start, depth).unwrap_or(ScriptValue::Computed))
    }

    /// The value of an expression from `start` to here that is `condition && value`, or a choice between a value and nothing,
    /// such as `condition ? value : []`.
    fn conditional(&self, start: usize, depth: Depth) -> Option<ScriptValue> {
        let tokens = std::iter::successors(Some(start), |at| Some(self.script.after(*at)));
        let tokens: Vec<usize> = tokens.take_while(|at| *at < self.at).collect();
        let is_double = |at: usize, mark: &str| self.script.is(at, mark) && self.script.is(at + 1, mark);
        let (value, end) = match tokens.iter().find(|at| self.script.is(**at, "?")) {
            Some(question) => self.choice(*question, depth)?,
            None => {
                let and = tokens.iter().rfind(|at| is_double(**at, "&"))?;
                let (value, end) = self.arm(and + 2, depth)?;
                (Some(value).filter(|_| !tokens.iter().any(|at| is_double(*at, "|"))), end)
            }
        };
        let is_whole = |value: &ScriptValue| {
            end == self.at && matches!(value, ScriptValue::List(_) | ScriptValue::Object(_) | ScriptValue::Call(..))
        };
        value.filter(is_whole)
    }

    /// The value that `? value : nothing` at a question mark may give, in either order, and the index behind it; no value if
    /// both arms give one.
    fn choice(&self, question: usize, depth: Depth) -> Option<(Option<ScriptValue>, usize)> {
        let (one, colon) = self.arm(question + 1, depth)?;
        let (other, end) = self.arm(colon + 1, depth).filter(|_| self.script.is(colon, ":"))?;
        let value = match (one.is_nothing(), other.is_nothing()) {
            (false, true) => Some(one),
            (true, false) => Some(other),
            _ => None,
        };
        Some((value, end))
    }

    fn arm(&self, at: usize, depth: Depth) -> Option<(ScriptValue, usize)> {
        let mut reader = ValueReader { script: self.script, at };
        Some((reader.primary(depth.inside()?)?, reader.at))
    }

    fn at_end_of_value(&self) -> bool {
        matches!(self.script.kind(self.at), None | Some(TokenKind::Comma | TokenKind::Close)) || self.is(";")
    }

    fn primary(&mut self, depth: Depth) -> Option<ScriptValue> {
        match self.script.kind(self.at)? {
            TokenKind::Text => Some(ScriptValue::Text(unescaped(&self.word()))),
            TokenKind::Template => Some(match self.word() {
                template if template.contains("${") => ScriptValue::Computed,
                template => ScriptValue::Text(template[1..template.len() - 1].replace("\\`", "`")),
            }),
            TokenKind::Open if self.is("[") => self.list(depth).map(ScriptValue::List),
            TokenKind::Open if self.is("{") => self.object(depth),
            TokenKind::Open => self.parenthesised(depth),
            TokenKind::Word if self.script.words(self.at).starts_with(|c: char| c.is_ascii_digit()) => {
                Some(ScriptValue::Word(self.word()))
            }
            TokenKind::Word => self.name_or_call(depth),
            TokenKind::Mark if self.is("-") && self.script.kind(self.at + 1) == Some(TokenKind::Word) => {
                Some(ScriptValue::Word(self.word() + &self.word()))
            }
            _ => {
                self.skip_expression(false);
                Some(ScriptValue::Computed)
            }
        }
    }

    /// The index of the bracket that closes the one here, which is then read.
    fn open(&mut self) -> Option<usize> {
        let close = self.script.tokens[self.at].pair?;
        self.at += 1;
        Some(close)
    }

    /// What stands between brackets, separated by commas. `item` also learns whether `...` stands before it.
    fn items<T>(&mut self, item: impl Fn(&mut Self, bool) -> Option<T>) -> Option<Vec<T>> {
        let close = self.open()?;
        let mut items = Vec::new();
        loop {
            while self.consume(",") {}
            if self.at == close {
                self.at += 1;
                return Some(items);
            }
            let is_spread = self.consume("...");
            items.push(item(self, is_spread)?);
            (self.at == close || self.is(",")).then_some(())?;
        }
    }

    fn list(&mut self, depth: Depth) -> Option<Vec<ScriptValue>> {
        self.items(|reader, is_spread| {
            let value = reader.value(depth.inside()?)?;
            Some(match value {
                ScriptValue::List(items) if is_spread => items,
                value if is_spread => vec![ScriptValue::Spread(Box::new(value))],
                value => vec![value],
            })
        })
        .map(|items| items.concat())
    }

    fn object(&mut self, depth: Depth) -> Option<ScriptValue> {
        let members = self.items(|reader, is_spread| match is_spread {
            true => Some(("...".to_owned(), reader.value(depth.inside()?)?)),
            false => reader.member(depth),
        });
        members.map(ScriptValue::Object)
    }

    fn member(&mut self, depth: Depth) -> Option<(String, ScriptValue)> {
        let name = match self.script.kind(self.at)? {
            TokenKind::Text => unescaped(&self.word()),
            TokenKind::Word => self.word(),
            _ => String::new(),
        };
        if !name.is_empty() && self.consume(":") {
            return Some((name, self.value(depth.inside()?)?));
        }
        if !name.is_empty() && self.at_end_of_value() {
            return Some((name.clone(), ScriptValue::Name(name)));
        }
        // A method or a computed key.
        self.skip_expression(false);
        Some((name, ScriptValue::Computed))
    }

    /// `(value)`, or the parameters of an arrow function.
    fn parenthesised(&mut self, depth: Depth) -> Option<ScriptValue> {
        if let Some(arrow) = self.behind_parameters(self.at, "=>") {
            self.at = arrow + 1;
            return self.body(depth);
        }
        let list: Result<[ScriptValue; 1], _> = self.list(depth)?.try_into();
        Some(list.map_or(ScriptValue::Computed, |[value]| value))
    }

    /// The mark that stands behind the parameters of a function, and behind its return type.
    fn behind_parameters(&self, open: usize, mark: &str) -> Option<usize> {
        let behind = self.script.after(open);
        let found = if self.script.is(behind, ":") { self.near(behind, mark)? } else { behind };
        self.script.is(found, mark).then_some(found)
    }

    /// The return value of a function: the expression that is the body of an arrow function, or the value of the first
    /// `return`.
    fn body(&mut self, depth: Depth) -> Option<ScriptValue> {
        let depth = depth.inside()?;
        if !self.is("{") {
            return self.primary(depth);
        }
        let close = self.open()?;
        let returned = (self.at..close).find(|at| self.script.is(*at, "return"));
        let value = returned.and_then(|at| ValueReader { script: self.script, at: at + 1 }.primary(depth));
        self.at = close + 1;
        Some(value.unwrap_or(ScriptValue::Computed))
    }

    fn name_or_call(&mut self, depth: Depth) -> Option<ScriptValue> {
        let name = self.word();
        match name.as_str() {
            "true" | "false" | "null" | "undefined" => return Some(ScriptValue::Word(name)),
            "async" => return self.primary(depth.inside()?),
            "function" => {
                self.at = self.behind_parameters(self.near(self.at, "(")?, "{")?;
                return self.body(depth);
            }
            "new" | "await" | "typeof" | "void" => {
                self.skip_expression(false);
                return Some(ScriptValue::Computed);
            }
            _ => {}
        }
        let is_call = |at: &usize| self.script.is(*at, ">") && self.script.is(at + 1, "(");
        if self.is("<")
            && let Some(end) = (self.at..self.at + LONGEST_TYPE).find(is_call)
        {
            self.at = end + 1;
        }
        if self.consume("=>") {
            return self.body(depth);
        }
        if self.is("(") {
            return self.list(depth).map(|arguments| ScriptValue::Call(name, arguments));
        }
        if self.is("[") || self.script.kind(self.at) == Some(TokenKind::Template) {
            self.skip_expression(false);
            return Some(ScriptValue::Computed);
        }
        Some(ScriptValue::Name(name))
    }

    /// Skips to the token that ends the current value. A type may have commas between angle brackets.
    fn skip_expression(&mut self, is_type: bool) {
        let mut angles = 0_usize;
        while self.at < self.script.tokens.len() {
            match self.script.words(self.at) {
                "<" if is_type => angles += 1,
                ">" if is_type => angles = angles.saturating_sub(1),
                "," if angles > 0 => {}
                _ if self.at_end_of_value() => return,
                _ => {}
            }
            self.at = self.script.after(self.at);
        }
    }
}

/// A string literal without its quotes.
fn unescaped(quoted: &str) -> String {
    let mut text = String::new();
    let mut chars = quoted[1..quoted.len() - 1].chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some('n') => text.push('\n'),
                Some('t') => text.push('\t'),
                other => text.extend(other),
            },
            c => text.push(c),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(source: &str) -> ScriptValue {
        value_at(&Script::of(source), 0).0
    }

    fn text(text: &str) -> ScriptValue {
        ScriptValue::Text(text.to_owned())
    }

    #[test]
    fn literals_are_values() {
        let source = r#"{
  // where
  base: '/a/', "cleanUrls": true, n: 12, t: `plain`,
  items: [{ text: "It\'s", link: '/x' }, , ] as const,
  nested: ({ a: null }), f() { return 1 }, shorthand,
}"#;
        let script = Script::of(source);
        let (read, end) = value_at(&script, 0);
        assert_eq!(end, script.tokens.len());
        assert_eq!(read.text_of("base"), Some("/a/"));
        assert!(read.get("cleanUrls").is_some_and(|flag| flag.is("true")));
        assert_eq!(read.text_of("t"), Some("plain"));
        assert_eq!(read.get("items").map(|items| items.list()[0].text_of("text")), Some(Some("It's")));
        assert!(read.get("nested").and_then(|nested| nested.get("a")).is_some_and(|a| a.is("null")));
        assert_eq!(read.get("f"), Some(&ScriptValue::Computed));
        assert_eq!(read.get("shorthand"), Some(&ScriptValue::Name("shorthand".to_owned())));
    }

    #[test]
    fn computed_values_are_told_from_literals() {
        let read = read("[a ? 'x' : 'y', 'a' + b, `${c}`, items.map((x) => x), 'z', ...rest, call({ k: 1 })]");
        let ScriptValue::List(items) = read else { panic!("no list") };
        assert_eq!(items[0], ScriptValue::Computed);
        assert_eq!(items[1], ScriptValue::Computed);
        assert_eq!(items[2], ScriptValue::Computed);
        assert!(matches!(&items[3], ScriptValue::Call(name, _) if name == "items.map"));
        assert_eq!(items[4], text("z"));
        assert_eq!(items[5], ScriptValue::Spread(Box::new(ScriptValue::Name("rest".to_owned()))));
        assert!(matches!(&items[6], ScriptValue::Call(name, _) if name == "call"));
    }

    #[test]
    fn a_value_that_is_there_on_a_condition_is_read() {
        let a = || ScriptValue::Call("a".to_owned(), Vec::new());
        for source in [
            "[isCi ? a() : null]",
            "[!isCi ? undefined : a()]",
            "[process.env.CI && a()]",
            "[x === 'y' && !z && a()]",
            "[...(isCi ? [a()] : [])]",
            "[...(isCi && [a()])]",
            "(isCi ? [a()] : [])",
            "(mode?.ci ? [] : [a()])",
        ] {
            assert_eq!(read(source), ScriptValue::List(vec![a()]), "{source}");
        }
        for source in
            ["[x ? a() : b()]", "[x || a()]", "[x && y || a()]", "[x ?? a()]", "[x ? y ? a() : 1 : 2]", "[x && 'y']"]
        {
            assert_eq!(read(source), ScriptValue::List(vec![ScriptValue::Computed]), "{source}");
        }
    }

    #[test]
    fn a_constant_may_be_a_choice() {
        let script = Script::of("const a = x.y ? [ b() ] : []\nexport default 1");
        let (value, end) = value_at(&script, 3);
        assert_eq!(value, ScriptValue::List(vec![ScriptValue::Call("b".to_owned(), Vec::new())]));
        assert_eq!(script.words(end), "export");
        assert_eq!(read("x ? 'a' : 'b'"), ScriptValue::Computed);
    }

    #[test]
    fn too_deep_values_count_as_computed() {
        for (open, close) in [
            ("()=>{return ", "}"),
            ("async()=>{return ", "}"),
            ("function f(){return ", "}"),
            ("{a:()=>{return ", "}}"),
            ("{a: function(){return ", "}}"),
            ("{a(){return ", "}}"),
            ("(()=>{return ", "})()"),
            ("()=>(", ")"),
            ("()=>", ""),
            ("async ", ""),
            ("define(", ")"),
            ("a<b>(", ")"),
            ("[{items:", "}]"),
            ("[...", "]"),
            ("(a):b=>{return ", "}"),
            ("a&&[", "]"),
            ("[a?[", "]:0]"),
        ] {
            for depth in [100, 50_000] {
                let source = format!("{}1{}", open.repeat(depth), close.repeat(depth));
                read(&source);
                let _ = returned_at(&Script::of(format!("() {{ return {source}")), 0);
            }
            let read = read(&format!("{}1{}", open.repeat(4), close.repeat(4)));
            assert!(read != ScriptValue::Computed || open.starts_with("(()"), "{open}: {read:?}");
        }
        let shallow = format!("{}'x'{}", "()=>{return ".repeat(20), "}".repeat(20));
        assert_eq!(read(&shallow), text("x"));
    }

    #[test]
    fn a_function_is_what_it_returns() {
        for source in [
            "() => ['a']",
            "async () => (['a'])",
            "(x: number): string[] => { const y = 1; return ['a'] }",
            "function name(x) { return [ 'a' ] }",
        ] {
            assert_eq!(read(source), ScriptValue::List(vec![text("a")]), "{source}");
        }
    }

    proptest! {
        #[test]
        fn any_script_is_read(source in "[a-c'\"`\\[\\]{}(),:;.=>?&$/* \n]{0,80}") {
            let script = Script::of(source);
            let (_, end) = value_at(&script, 0);
            prop_assert!(end <= script.tokens.len());
        }
    }

    #[test]
    fn deep_scripts_are_read() {
        for unit in ["[", "{a:", "(", "a(", "...", "()=>", "`${", "function("] {
            read(&unit.repeat(100_000));
        }
    }
}
