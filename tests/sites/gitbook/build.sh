#!/bin/sh
# Builds the site into the folder given, by the honkit of the node_modules folder in NODE_MODULES. Its theme and plug-ins
# come with it.
set -eu
site=$(cd "$(dirname "$0")" && pwd)
out=$1
work=$(mktemp -d)
cp -R "$site/." "$work"
cd "$work"
"$NODE_MODULES/.bin/honkit" build . "$out" --reload
rm -rf "$work"
