mod docutils;

use crate::code::{CodeRules, code_of};

fn in_file(file: &str, text: &str) -> Vec<String> {
    code_of(CodeRules::Rst, file, text.as_bytes()).into_iter().map(|code| code.shown).collect()
}

fn kinds(text: &str) -> Vec<String> {
    in_file("guide/a.rst", text)
}

#[track_caller]
fn is_code(text: &str) {
    assert!(!kinds(text).is_empty(), "it is no code: {text:?}");
}

#[track_caller]
fn is_harmless(text: &str) {
    assert_eq!(kinds(text), [""; 0], "{text:?}");
}

#[test]
fn layout_directives_are_no_code() {
    for text in [
        "A\n=\n\n.. note:: x\n\n.. code-block:: c\n   :caption: T\n\n   x\n",
        ".. py:function:: f()\n   :no-index:\n\n   :param x: y\n   :type x: int\n",
        ".. image:: a.png\n   :alt: A picture\n   :target: ../b.html\n",
        "- .. image:: a.png\n- .. image:: ../b.png\n",
        "* - .. image:: a.png\n       :alt: x\n  - .. image:: b.png\n",
        ":doc:`x` :py:func:`f` `x <https://a/>`_ :ref:`words <a-b>`: and",
        ".. include:: ../part.rst\n\n.. include:: <isonum.txt>\n",
        ".. literalinclude:: ../samples/a.py\n   :lines: 1-2\n",
        ".. csv-table:: T\n   :header: \"a, b\", c\n   :widths: 1, 2\n\n   a, \"b\n   c\"\n   :ref:`x`, d\n",
        ".. |v| replace:: 1\n.. |a b| image:: a.png\n   :alt: x\n.. |c| unicode:: U+00A9\n",
        ".. toctree::\n   :maxdepth: 2\n   :caption: Guide:\n\n   a\n   Words <b>\n",
        ".. role:: python(code)\n   :language: python\n\n.. role:: strike\n\nWords.\n",
        ":download:`the file <a.zip>` :download:`/b.pdf`",
        "In JavaScript::\n\n   x\n\nJavaScript: the parts\n\n.. code-block:: javascript\n   :caption: x\n\n:javascript: a",
        ".. code-block:: javascript\n   :linenos:\n\n   f()\n",
        ".. math:: \\begin{align} a &= \\frac{1}{2} \\end{align}\n\n:math:`\\alpha \\beta`",
        "+---+---+\n| a | b |\n+---+---+\n\n=== ===\na   b\n=== ===\n",
        ".. _label: https://a/\n.. _other: label_\n__ https://b/\n",
        ".. note:: See\n   :ref:`x`: it is\n   :ref:`y` too.\n",
        ".. only:: html and not draft\n\n   x\n",
        ".. a comment: x\n.. [1] A note.\n..\n   another\n",
        ".. default-role:: any\n\n`x`\n",
    ] {
        is_harmless(text);
    }
}

#[test]
fn all_others_are_with_what_stands_in_them() {
    for (text, shown) in [
        (".. raw:: html\n\n   <script>\n\nWords", ".. raw:: html <script>"),
        ("- .. exec:: x\n\n   y\n", ".. exec:: x y"),
        (".. include:: ../../../etc/passwd\n", ".. include:: ../../../etc/passwd"),
        (".. literalinclude:: .env\n", ".. literalinclude:: .env"),
        (".. csv-table::\n   :url: https://a/\n", ".. csv-table:: :url: https://a/"),
        (".. role:: html(raw)\n   :format: html\n", ".. role:: html(raw) :format: html"),
        ("a :own:`x` b", ":own:`"),
        ("`a <javascript:x()>`_", "javascript:x()>`_"),
        ("::\n\n   .. raw:: html\n", ".. raw:: html"),
    ] {
        let kinds = kinds(text);
        assert_eq!(kinds.first().map(String::as_str), Some(shown), "{text}");
    }
}

#[test]
fn a_directive_is_found_wherever_it_stands() {
    for text in [
        ".. note:: .. raw:: html\n\n      x\n",
        "- 1. .. raw:: html\n",
        ":field: .. raw:: html\n",
        ".. [1] .. raw:: html\n",
        "+--------------+\n|.. raw:: html |\n+--------------+\n",
        ".. Raw :: html\n",
        "..\traw:: html\n",
        "..\u{b}raw::\u{c}html\n",
        "x\u{2028}\u{2028}.. raw:: html\u{2028}\u{2028}   y",
        "x\r\r.. raw:: html\r",
        "x\u{85}.. exec::\u{85}",
        ".. r\u{f6}h:: html\n",
        ".. csv-table::\n\n   \".. r\"aw:: html\n",
        ".. csv-table::\n   :header: \".. r\"aw:: html\n\n   a\n",
        ".. csv-table::\n   :escape: x\n\n   .. rxaw:: html\n",
        ".. csv-table::\n   :delim: w\n\n   a\n",
    ] {
        is_code(text);
    }
}

#[test]
fn a_substitution_is_one_line_and_stands_for_words_or_a_picture() {
    for text in [
        ".. |x| raw:: html\n",
        ".. |x|\n   raw:: html\n\n   y\n",
        ".. |x\n   y| raw:: html\n",
        ".. |a|b| raw:: html\n",
        ".. |a|b| replace:: c\n",
        ".. |a\\| b| replace:: c\n",
        ".. |x| IMAGE:: a.png\n",
        ".. |x| image:: /../../a.png\n",
        ".. |x| image:: a.png\n   :target: java\n    script:x\n",
    ] {
        is_code(text);
    }
}

#[test]
fn files_are_named_on_one_line_and_are_of_the_docs() {
    for text in [
        ".. include::\n   /etc/passwd\n",
        ".. include:: ..\n   /../../etc/passwd\n",
        ".. include:: /etc/passwd\n",
        ".. include:: <../../../../etc/passwd>\n",
        ".. include:: notes.txt\n",
        ".. include:: page.md\n",
        ".. include:: deep/deeper/part.rst\n",
        ".. include:: part.rst\n   :parser: own\n",
        ".. include:: part.rst\n   :start-after: x\n",
        ".. include:: part.rst\n   :encoding: utf-7\n",
        ".. literalinclude:: a.py\n   :diff: ../../../x\n",
        ".. literalinclude:: a.py\n   :d\\iff: ../../../x\n",
        ".. literalinclude:: a.py\n   :*diff*: ../../../x\n",
        ".. csv-table:: :file: /etc/passwd\n",
        ".. csv-table:: T\n   :file:\n    /etc/passwd\n",
        ".. csv-table:: T\n   :fi\\ le: /etc/passwd\n",
        ".. csv-table:: T\n   :`file`:emphasis:: /etc/passwd\n",
        ".. note:: .. csv-table:: :file: a.csv\n",
        ".. image:: ../../etc/passwd\n",
        ".. image:: ../.\n   ./x\n",
        ".. image:: . ./../x\n",
        ".. image:: //etc/passwd\n",
        ".. image:: file:///etc/passwd\n",
        ".. figure:: a.png\n   :loading: embed\n",
        "=== ==============\na   .. image:: a\nb\n    /../../../x\n=== ==============\n",
        "+--------------+\n| .. image:: a |\n|   /../../x   |\n+--------------+\n",
        ":download:`x <../../etc/passwd>`",
        ":download:`//etc/passwd`",
        ":download:`x\n<../../../etc/passwd>`",
        "`../../../etc/passwd`:download:",
        ".. py:function:: f()\n   :module: antigravity\n",
        ".. card:: x\n   :img-top: ../../../etc/passwd\n",
    ] {
        is_code(text);
    }
    assert_eq!(in_file("a/b/c.rst", ".. image:: ../../x.png\n"), [""; 0]);
    assert_eq!(in_file("a/c.rst", ".. image:: ../../x.png\n").len(), 1);
}

#[test]
fn addresses_run_nothing_however_they_are_spelt() {
    for text in [
        ".. _x: javascript:f()\n",
        ".. _x:\n   java\n   script:f()\n",
        ".. _x: j\\avascript: f()\n",
        ".. _a: b: javascript: f()\n",
        ".. __: javascript:\n   f()\n",
        "__ javascript: f()\n",
        "`x < java script : f()>`__",
        "`x <javascript:`${f()}`>`__",
        "`x <\u{1}javascript:f()>`__",
        ".. image:: a.png\n   :target: javascript:f()\n",
        ".. image:: a.png\n   :target:\n      javascript: f()\n",
        ".. figure:: a.png\n   :target: java\n     script:f()\n",
        "see javascript:f()",
        ":download:`x <javascript://%0af()>`",
        ".. toctree::\n\n   x <javascript://%0af()>\n",
        ".. card:: x\n   :link: javascript:f()\n",
        "`x <data:text/html,<script>>`_",
        "`x <vbscript:f()>`_",
        "+-----------+\n| `x <java  |\n| script:1> |\n| `_        |\n+-----------+\n",
        "+----+----+\n| .. _x:  |\n|    java |\n|  script:|\n+---------+\n",
    ] {
        is_code(text);
    }
}

#[test]
fn roles_are_harmless_by_name() {
    for text in [
        ":raw-html:`<b>`",
        "`<b>`:raw-html:",
        ":ext:func:`x`",
        ".. role:: x(raw)\n",
        ".. role:: x\n   :format: html\n",
        ".. role:: x(y)\n",
        ".. default-role:: html\n\n`<b>`\n",
        ".. default-role::\n   html\n\n`<b>`\n",
        // The role may be the one defined here, or the site's own.
        ".. role:: html(code)\n\n:html:`<b>`\n",
    ] {
        is_code(text);
    }
    let keys = |text: &str| -> Vec<String> {
        code_of(CodeRules::Rst, "a.rst", text.as_bytes()).into_iter().map(|code| code.key).collect()
    };
    assert_eq!(keys(":issue:`12`"), keys(":issue:`a number <34>`"), "another use of a role of the site's");
    assert_ne!(keys(":html:`br`"), keys(":html:`<br>`"));
    assert_ne!(keys(":html:`<br>`"), keys(":html:`<script>`"));
    assert_ne!(keys(":html:`a <script>`"), keys(":html:`a`"));
}

#[test]
fn includes_are_resolved_from_any_including_page() {
    let part = |text: &str| code_of(CodeRules::Rst, "", text.as_bytes()).len();
    assert_eq!(part(".. image:: a.png\n\n.. include:: part.rst\n"), 0);
    assert_eq!(part(".. image:: ../a.png\n"), 1);
}

#[test]
fn formulas_read_no_files_and_make_no_links() {
    for text in [
        ".. math:: \\input{/etc/passwd}\n",
        ":math:`\\href{x}{y}`",
        ".. math::\n\n   \\begin{input}{/etc/passwd}\n",
        ".. math:: \\csname input\\endcsname x\n",
        ".. math:: \\begin{in\\empty put}x\n",
        ":math:`^^5cinput{x}`",
        ":math:`\\@@input x`",
    ] {
        is_code(text);
    }
}

#[test]
fn a_page_that_is_read_in_another_way_is_one_piece() {
    for text in ["a \0 b\n", ".. -*- coding: utf-7 -*-\n\n+AC4-\n"] {
        is_code(text);
    }
    is_harmless(".. -*- coding: utf-8 -*-\n\nA\n");
    assert_eq!(code_of(CodeRules::Rst, "a.rst", b"caf\xe9\x85x").len(), 1);
}

#[test]
fn known_constructs_match_whole() {
    let keys = |text: &str| -> Vec<String> {
        code_of(CodeRules::Rst, "a.rst", text.as_bytes()).into_iter().map(|code| code.key).collect()
    };
    let table = |cell: &str| {
        format!("+---------------+\n| .. raw:: html |\n|               |\n|    {cell}     |\n+---------------+\n")
    };
    assert_ne!(keys(&table("<br>")), keys(&table("<hr>")));
    let columns =
        |cell: &str| format!("=== ===  ===\na   b    c\n         .. raw:: html\n\n    b      {cell}\n=== ===  ===\n");
    assert_ne!(keys(&columns("<br>")), keys(&columns("<hr>")));
    let nested = |inner: &str| format!(".. note:: .. raw:: html\n\n     {inner}\n");
    assert_ne!(keys(&nested("<br>")), keys(&nested("<hr>")));
    let second = |inner: &str| format!(".. note:: x\n.. csv-table:: T\n   :delim: w\n\n   {inner}\n");
    assert_ne!(keys(&second("a")), keys(&second("b")));
    let option = |inner: &str| format!(".. option:: a\n    :aliases: b\n\n    {inner}\n");
    assert_eq!(keys(&option("See :doc:`../b`.")), keys(&option("See :doc:`c`.")), "text behind the options");
    assert_ne!(keys(&option("")), keys(&option(".. raw:: html\n\n       <br>")));
    let address = |inner: &str| format!(".. _x: javascript:\n   {inner}\n");
    assert_ne!(keys(&address("f()")), keys(&address("g()")));
    let included = |file: &str, text: &str| -> Vec<String> {
        code_of(CodeRules::Rst, file, text.as_bytes()).into_iter().map(|code| code.key).collect()
    };
    let option = "\n   :start-line: 1\n";
    let deep = included("a/b/c.rst", &format!(".. include:: ../../notes.txt{option}"));
    assert_eq!(deep, included("a.rst", &format!(".. include:: notes.txt{option}")), "the same file");
    assert_ne!(deep, included("a.rst", &format!(".. include:: ../../notes.txt{option}")));
    assert_ne!(included("a/b.rst", ".. include:: ..\n   /../x\n"), included("b.rst", ".. include:: ..\n   /../x\n"));
    // The same directive at another depth has the same key.
    assert_eq!(keys("- .. raw:: html\n\n     <br>\n"), keys(".. raw:: html\n\n   <br>\n"));
}

#[test]
fn a_directive_may_be_cut_off() {
    for text in [".. include:: ../../../x ", ".. include::", ".. include::  \t", ".. |x| raw:: ", ".. exec:: \u{2028} "]
    {
        is_code(text);
    }
}

#[test]
fn long_pages_come_to_an_end() {
    for text in [
        ".. csv-table:: ".repeat(4_000),
        ".. csv-table::\n   \"a\n\n".repeat(1_000),
        " :a b".repeat(20_000) + "|",
        format!(".. note:: |{}", " :a".repeat(20_000)),
        ".. |".repeat(20_000),
        "- .. image:: a\n".repeat(5_000),
        "<j |\n".repeat(10_000),
        ":a:`".repeat(10_000),
        "javascript: ".repeat(5_000),
        ".. raw:: x\n".repeat(10_000),
        "=== ===\n.. raw:: x\n".repeat(5_000) + "=== ===\n",
    ] {
        // Quadratic time would be noticed.
        kinds(&text);
    }
}
