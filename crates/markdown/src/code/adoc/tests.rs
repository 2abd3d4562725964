use proptest::prelude::*;

use super::*;

fn found(text: &str) -> Vec<String> {
    code_of("modules/ROOT/pages/guide/a.adoc", text.as_bytes()).into_iter().map(|code| code.shown).collect()
}

fn keys(file: &str, text: &str) -> Vec<String> {
    code_of(file, text.as_bytes()).into_iter().map(|code| code.key).collect()
}

#[test]
fn ordinary_pages_have_no_constructs() {
    for text in [
        "= Install\nAda Lovelace <ada@x.test>\nv1.0, 2026-01-02\n:description: How to install it, \u{201c}fast\u{201d}.\n:page-aliases: old.adoc, a/b.adoc\n:toc:\n:!sectids:\n:product: Tool 1.2\n:url-docs: https://docs.test/a?b=c\n:link-x: {url-docs}/x\n\nWords of {product}.\n",
        "== Heading\n\n* item\n** item\n. one\n+\n[source,ruby,linenums]\n----\nputs \"<b>+++a+++</b>\" # <1>\n----\n<1> It prints.\n",
        "[source%linenums,bash]\n----\nif [ \"$a\" = \"b\" ]; then x; fi\n[section]\nkey = \"x\"\n----\n\n....\nsubs=x pass:[x] $$a$$ javascript:f()\n....\n\n```js\nfoo::bar[0]; el.onclick = f\n```\n",
        "[cols=\"1,2a\",options=header]\n|===\n|A |B\n\n|a `c` | * list\n2+|wide\na|\n[NOTE]\n====\nWords.\n====\n|===\n",
        "NOTE: Read https://x.test/a_b?c=d&e=f[the manual,window=_blank], link:b.html[this], <<anchor,that>> and xref:mod:b.adoc#x[it].\n",
        "[#id.role]\n== T\n\n[[anchor]]\ntext [.big]#words# and `code` and `[\"a\", \"b\"]`; C++ and C++.\n",
        "[quote, Ada, A Book]\n____\nWords.\n____\n\n[tabs]\n====\nOne::\n+\n--\nText\n--\n====\n\n.Title\n****\nside\n****\n",
        "image::a.png[A picture,200,link=https://x.test]\n\nimage:icons/b.svg[B] kbd:[Ctrl+C] btn:[OK] menu:File[Save] icon:heart[] video::a.mp4[]\n",
        "include::partial$a.adoc[]\ninclude::1.0@comp:mod:example$b.rb[lines=1..5;8, tag=x]\ninclude::./c/d.adoc[leveloffset=+1]\n",
        "ifdef::env-x[]\nWords footnote:[A note, see https://x.test[x]].\nendif::[]\nindexterm:[a, b] ((c))\n",
        "// comment\n\n////\nlong pass:[x]\n////\n\ntoc::[]\n\nstem:[x^2] and\n\n[stem]\n++++\n\\frac{1}{2}\n++++\n",
        "term:: Words: more.\nJavaScript: a language. The `data:` part; {empty} \u{201c}x\u{201d}\n'''\n<<<\n",
        "link:{url-docs}/page.html[x] {url-docs}[y] https://{host}:8080/x[z]\n",
        "Table of {a}: words. Use `/users/{id}/posts` and `x = {}`.\r\n",
    ] {
        assert_eq!(found(text), [""; 0], "{text}");
    }
}

#[test]
fn active_constructs_are_found_at_any_place() {
    for text in [
        "include::../../../.env[]",
        "include::/etc/passwd[]",
        "include::https://x.test/a.adoc[]",
        "include::{x}[]",
        "include::.hidden/a.adoc[]",
        "include::a/../../b.adoc[]",
        "include::partial$../a.adoc[]",
        "include::a.md[]",
        "include::data.csv[]",
        "include::a.adoc[encoding=utf-7]",
        "\\include::a.adoc[]",
        "a|include::../x.adoc[]",
        "----\ninclude::../../x[]\n----",
        "include::~/a.adoc[]",
        "include::a.adoc[tag={x}]",
        "ifeval::[1 == 1]",
        "ifdef::x[pass:[a]]",
        "ifdef::x[[subs=none]]",
        "a +++<b>+++",
        "a +++<b>\nx+++ c",
        "pass:[<b>]",
        "pass:q,a[<b>]",
        "bypass:[<b>]",
        "pass::a[]",
        "++++\n<b>\n++++",
        "[pass]\n<b>",
        "$$<b>$$",
        "[subs=none]\n----\n<b>\n----",
        "[source,subs=\"+macros\"]\n----\nx\n----",
        "[,subs=none]\nx",
        "|===\na|[subs=none]\n<b>\n|===",
        "[format=csv]\n|===\na\n|===",
        ":x: pass:[<b>]",
        ":docinfo: shared",
        ":stylesheet: a.css",
        ":source-highlighter: x",
        ":kroki-server-url: https://x.test",
        ":imagesdir: /",
        ":x: a \\\n  b",
        ":x: \" onclick",
        ":x: <b>",
        ":x: link",
        ":a b: c",
        ":x: javascript:f()",
        "{lt}b{gt}",
        "{LT}b",
        "{set:x:y}",
        "{eval:x}",
        "[plantuml]\n----\na\n----",
        "plantuml::a.puml[]",
        "kroki:a[b]",
        "[mermaid,a,svg]\n....\na\n....",
        "foo::bar baz[x]",
        "[quote, <b>x</b>]\nhi",
        "[quote, {x}]\nhi",
        "[caption=\"<b>\"]\n.T\nhi",
        "[{x}]\nhi",
        "[a\" onclick=\"f()]#x#",
        "[a\" onclick\n=\"f()]#x#",
        "[a\"\nonclick\n= f() \"]*x*",
        "[.a]#x# [onmouseover=f()//]*a*",
        "link:++a\" onclick=\"f()++[x]",
        "image:a\"onerror=\"f()[x]",
        "image:x.png[a, role=\"b\" onload=f()]",
        "a on++cl++ick=x",
        "a on{x}click=x",
        "[{x}click=f()]#a#",
        "link:javascript:f()[x]",
        "xref:javascript:f()#[x]",
        "<<javascript:f()#,x>>",
        "image:a.png[link=javascript:f()]",
        "link:&#106;avascript:f()[x]",
        "link:{a}{b}:f()[x]",
        "{l}:x[y]",
        "li{n}k:x[y]",
        "link:java\\script:f()[x]",
        "image:a.png[link= javascript: f()]",
        "link:data:text/html,x[y]",
        "link:data:image/svg+xml,x[y]",
        "image:a.png[link={x}]",
        "image::a.svg[opts=inline]",
        "image::a.svg[opts=\"interactive\"]",
        "[%interactive]\nimage::a.svg[]",
        "link:vbscript:x[y]",
        "stem:[\\href{x}{y}]",
        "[stem]\n++++\n\\input{/etc/passwd}\n++++",
        "a\u{b}b",
        "a\rb",
        "a\u{2028}b",
        "a\u{85}b",
        "a\0b",
    ] {
        for text in [text.to_owned(), format!("Words.\n\n{text}\n"), format!("* a\n+\n{text}\n")] {
            assert!(!found(&text).is_empty(), "it is no construct: {text:?}");
        }
    }
}

#[test]
fn only_a_plain_fence_protects() {
    let raw = "+++<b>+++";
    assert!(found(&format!("----\n{raw}\n----\n")).is_empty());
    for text in [
        format!("----\n{raw}\n"),
        format!(" ----\n{raw}\n ----\n"),
        format!("Text\n----\n\n{raw}\n\n----\n"),
        format!("====\n----\n====\n{raw}\n----\n"),
        format!("ifdef::x[]\n----\nendif::[]\n{raw}\n----\n"),
        format!("include::a.adoc[]\n\n----\n{raw}\n----\n"),
        format!("----\ninclude::example$a.rb[]\n----\n\n----\n{raw}\n----\n"),
        format!("[source]\n--\n----\n--\n{raw}\n----\n"),
        format!("|===\n|\n----\n{raw}\n----\n|===\n"),
        format!("[verse]\n----\n{raw}\n----\n"),
        format!("[!!]\n----\n{raw}\n----\n"),
        "----\n\n[stem]\n++++\n----\n++++\n<b>\n".to_owned(),
        "---\nlayout: x\n---\n\nWords {{ x }}.\n".to_owned(),
        format!("`{raw}`\n"),
        format!("  {raw}\n"),
        format!("~~~~\n{raw}\n~~~~\n"),
        format!("----\n----\n{raw}\n----\n----\n"),
    ] {
        assert!(!found(&text).is_empty(), "{text}");
    }
}

#[test]
fn a_construct_is_known_with_all_it_reaches_to() {
    let one = "a/b.adoc";
    for (known, other) in [
        ("[subs=none]\n----\na\n----\n", "[subs=none]\n----\nb\n----\n"),
        ("[subs=none]\n\na\n", "[subs=none]\n\nb\n"),
        ("++++\na\n\nb\n++++\n", "++++\na\n\nc\n++++\n"),
        ("a +++b\nc+++\n", "a +++b\nd+++\n"),
        (":x: a \\\nb\n", ":x: a \\\nc\n"),
        ("pass:[a\nb]\n", "pass:[a\nc]\n"),
    ] {
        assert_ne!(keys(one, known), keys(one, other), "{known}");
        assert_eq!(keys(one, known), keys("c.adoc", &format!("= T\n\n{known}")), "{known}");
    }
    assert_eq!(keys(one, "Words pass:[a] +++b+++.\n"), keys(one, "Other pass:[a], +++b+++ *words*.\n"));
    assert_eq!(keys(one, "An issue:1[].\n"), keys(one, "issue:1[] here\n"));
    assert_ne!(keys(one, "include::../x.adoc[]\n"), keys("b.adoc", "include::../x.adoc[]\n"));
}

#[test]
fn long_pages_come_to_an_end() {
    for unit in [
        "[", "[subs=none]\n", "link:a[", "+++", "{a", "&", "|", "----\n\n", "====\n\n=====\n\n", "++++\n", "pass:[",
        ":a: b \\\n", "}:", "$$", "a:", "image:a ", "https://}a=", "javascript: ",
    ] {
        found(&unit.repeat(5_000));
    }
}

proptest! {
    #[test]
    fn any_text_is_read_to_its_end(text in "(\\[|\\]|\\|===|----|\\+\\+\\+\\+|\\+\\+\\+|pass:|include::|\\{|\\}|:a: |\"|=|link:|\n|\n\n|\\\\|&#|;|\\$\\$|--|\\.|\\PC){0,40}") {
        let code = code_of("a.adoc", text.as_bytes());
        let mut at = 0;
        for one in code {
            prop_assert!(one.span.start >= at && one.span.end <= text.len() && one.line >= 1);
            at = one.span.start;
        }
    }
}
