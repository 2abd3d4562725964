"""Renders texts with the Markdown renderers of Python. Reads lines of JSON from stdin, each a list of texts, and answers
each with one line: for each text an object of renderers and their HTML."""

import json
import sys

import markdown
import markdown2

EXTRA = ["fenced_code", "tables", "attr_list", "def_list", "md_in_html", "sane_lists"]
READERS = {
    "Python-Markdown": lambda text: markdown.markdown(text, extensions=["fenced_code", "tables"]),
    "Python-Markdown extra": lambda text: markdown.markdown(text, extensions=EXTRA),
    "markdown2": lambda text: markdown2.markdown(text, extras=["fenced-code-blocks", "tables"]),
}


def rendered(text):
    found = {}
    for name, render in READERS.items():
        try:
            found[name] = str(render(text))
        except Exception:  # A renderer that raises displays nothing.
            continue
    return found


for line in sys.stdin:
    print(json.dumps([rendered(text) for text in json.loads(line)]), flush=True)
