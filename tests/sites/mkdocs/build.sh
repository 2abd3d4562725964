#!/bin/sh
# Builds this site into the folder given as the first argument.
set -eu
cd "$(dirname "$0")"
mkdocs -q build -d "$1"
