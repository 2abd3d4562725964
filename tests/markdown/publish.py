"""Publishes pages of reStructuredText by docutils or by Sphinx, and looks for what must not come of them.

Started with the name of the one that reads, as Sphinx changes docutils for all of a process. Asked over stdin in lines of JSON, {"texts": [text...]}, each of which is answered with one line:
[{"text": number, "fault"}...]. A fault is raw text of a writer, a file outside of the pages' folder that was
opened or would be copied, or an address that a browser would run.
"""
import io
import json
import os
import pathlib
import re
import sys
import tempfile
import traceback

OPENED = []
WATCHED = False


def watch(event, arguments):
    if WATCHED and event == 'open' and isinstance(arguments[0], (str, bytes, os.PathLike)):
        OPENED.append(os.fsdecode(arguments[0]))


sys.addaudithook(watch)

import docutils.core  # noqa: E402
import docutils.nodes as nodes  # noqa: E402
from docutils.parsers.rst import Directive, directives, roles  # noqa: E402

# A role and a directive of the site's own, as a configuration defines them before each page.
PROLOG = '.. role:: html(raw)\n   :format: html\n\n'


class Exec(Directive):
    """Stands for every directive that runs what it holds."""

    has_content = True
    optional_arguments = 9

    def run(self):
        return [nodes.raw('', 'exec', format='html')]


def runs(address):
    # As browsers read it: without control characters and blanks at its start, and without breaks and tabs in it.
    address = re.sub(r'[\t\n\r]', '', address).lstrip(''.join(map(chr, range(33)))).lower()
    return address.startswith(('javascript:', 'vbscript:', 'livescript:', 'data:text', 'data:application', 'data:image/svg'))


def addresses(node):
    for name in ('refuri', 'uri', 'refuri_original', 'reftarget'):
        if isinstance(node.get(name), str):
            yield node[name]
    for _, entry in node.get('entries', []):
        if isinstance(entry, str):
            yield entry


def faults_of(document):
    for node in document.findall(nodes.Element):
        if isinstance(node, nodes.raw):
            yield 'raw: ' + node.astext()[:80]
        elif isinstance(node, nodes.math) or isinstance(node, nodes.math_block):
            if re.search(r'\\(href|input|csname)\b|\^\^5c', node.astext()):
                yield 'formula: ' + node.astext()[:80]
        if not isinstance(node, nodes.literal):
            for address in addresses(node):
                if runs(address):
                    yield 'address: ' + address[:80]
        if node.get('loading') == 'embed':
            yield 'embedded: ' + node.get('uri', '')


def forget_roles(known={}):
    """The roles of one page are also those of all that are read after it."""
    roles._roles.clear()
    roles._roles.update(known)


def leads_out(path, folder):
    return '://' not in path and not path.startswith('data:') and os.path.relpath(path, folder).startswith('..')


def by_docutils(text, folder):
    """With what is on disk: the page at `folder`/guide/page.rst."""
    global WATCHED
    page = os.path.join(folder, 'guide', 'page.rst')
    settings = {
        'report_level': 5, 'halt_level': 5, 'warning_stream': io.StringIO(), 'input_encoding': 'unicode',
        'syntax_highlight': 'none', '_disable_config': True,
    }
    OPENED.clear()
    forget_roles()
    WATCHED = True
    try:
        document = docutils.core.publish_doctree(PROLOG + text, source_path=page, settings_overrides=settings)
    finally:
        WATCHED = False
    yield from faults_of(document)
    for path in OPENED:
        if 'outside' in os.path.basename(path) and leads_out(path, folder):
            yield 'opened: ' + path
    for node in document.findall(nodes.image):
        # What is absolute is an address to docutils.
        if leads_out(os.path.join(folder, 'guide', node['uri'].lstrip('/')), folder):
            yield 'picture: ' + node['uri']


CONFIGURATION = '''
extensions = []
rst_prolog = %r
exclude_patterns = []
suppress_warnings = ['*']
'''


def by_sphinx(texts, folder):
    """All pages in one build, that is not written."""
    global WATCHED
    from sphinx import addnodes
    from sphinx.application import Sphinx

    source = pathlib.Path(folder, 'source')
    guide = source / 'guide'
    for old in guide.glob('page*.rst'):
        old.unlink()
    guide.mkdir(parents=True, exist_ok=True)
    (source / 'conf.py').write_text(CONFIGURATION % PROLOG)
    (source / 'index.rst').write_text('A\n=\n')
    (source / 'part.rst').write_text('Part.\n')
    for number, text in enumerate(texts):
        (guide / f'page{number}.rst').write_text(text, encoding='utf-8', newline='')
    found = []
    reading = [-1]

    def begins(app, name, content):
        OPENED.clear()
        forget_roles(known)
        page = re.search(r'page(\d+)$', name)
        reading[0] = int(page[1]) if page else -1

    def read(app, document):
        number = reading[0]
        if number < 0:
            return
        fault = lambda what: found.append({'text': number, 'fault': what})
        for what in faults_of(document):
            fault(what)
        for path in OPENED:
            if 'outside' in os.path.basename(path) and leads_out(path, source):
                fault('opened: ' + path)
        for node in document.findall(nodes.image):
            for path in node.get('candidates', {}).values():
                if leads_out(os.path.join(source, path), source):
                    fault('picture: ' + path)
        for node in document.findall(addnodes.download_reference):
            path = app.env.relfn2path(node['reftarget'], app.env.docname)[1]
            if '://' not in node['reftarget'] and leads_out(path, source):
                fault('download: ' + path)

    silent = io.StringIO()
    app = Sphinx(source, source, os.path.join(folder, 'out'), os.path.join(folder, 'trees'), 'dummy', freshenv=True,
                 status=silent, warning=silent)
    known = {name: role for name, role in roles._roles.items() if name}
    app.connect('source-read', begins)
    app.connect('doctree-read', read, priority=999)
    WATCHED = True
    try:
        app.builder.read()
    except Exception:
        # What breaks the reader is published by nobody; the others are read without it.
        print(traceback.format_exc(limit=-2), file=sys.stderr)
        without = [text if number != reading[0] else '' for number, text in enumerate(texts)]
        if without == texts:
            raise
        return by_sphinx(without, folder)
    finally:
        WATCHED = False
    return found


def docutils_alone(texts, folder):
    for number, text in enumerate(texts):
        try:
            for fault in by_docutils(text, folder):
                yield {'text': number, 'fault': fault}
        except Exception:  # What breaks the reader is published by nobody.
            print(traceback.format_exc(limit=-2), file=sys.stderr)


def main():
    directives.register_directive('exec', Exec)
    read = by_sphinx if sys.argv[1] == 'sphinx' else docutils_alone
    with tempfile.TemporaryDirectory() as folder:
        docs = os.path.join(folder, 'docs')
        os.makedirs(os.path.join(docs, 'guide'))
        for base in ('', 'guide'):
            for name in ('part.rst', 'a.txt', 'a.csv', 'a.png'):
                pathlib.Path(docs, base, name).write_text('a\n')
        for line in sys.stdin:
            print(json.dumps(list(read(json.loads(line)['texts'], docs))), flush=True)


main()
