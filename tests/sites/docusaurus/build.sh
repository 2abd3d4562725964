#!/bin/sh
# Builds this site with the Docusaurus in $NODE_MODULES into the folder $1.
set -eu
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -R . "$work"
ln -s "$NODE_MODULES" "$work/node_modules"
cd "$work"
NODE_PATH="$NODE_MODULES" node node_modules/@docusaurus/core/bin/docusaurus.mjs build --out-dir "$1"
