#!/bin/sh
# Builds the site into the folder given, by the docfx on PATH. The expectations of the tests were not taken from such a build:
# they are those of docfx's own snapshots and of its source.
set -eu
site=$(cd "$(dirname "$0")" && pwd)
out=$1
work=$(mktemp -d)
cp -R "$site/." "$work"
docfx build "$work/docfx.json" --output "$out"
rm -rf "$work"
