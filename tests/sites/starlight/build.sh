#!/bin/sh
# Builds the site with the generator in $NODE_MODULES into the folder given.
set -eu
out=$(mkdir -p "$1" && cd "$1" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -R "$here/." "$work"
ln -s "$NODE_MODULES" "$work/node_modules"
cd "$work"
node node_modules/astro/bin/astro.mjs build --outDir "$out"
