#!/bin/sh
# Builds these pages with the Fumadocs in $NODE_MODULES into the folder $1.
set -eu
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -R . "$work"
ln -s "$NODE_MODULES" "$work/node_modules"
cd "$work"
node build.mjs "$1"
