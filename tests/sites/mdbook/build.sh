#!/bin/sh
# Builds this book into the folder given as the first argument.
set -eu
cd "$(dirname "$0")"
mdbook build -d "$1"
