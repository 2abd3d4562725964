#!/bin/sh
# Builds this site with the Nextra in $NODE_MODULES into the folder $1.
set -eu
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -R . "$work"
cp -R "$NODE_MODULES" "$work/node_modules"
cd "$work"
NEXT_TELEMETRY_DISABLED=1 node node_modules/next/dist/bin/next build
mkdir -p "$1"
cp -R out/. "$1"
