#!/bin/sh
# Builds this site into the folder given as the first argument.
set -eu
cd "$(dirname "$0")"
sphinx-build -q -b html -d "$1.doctrees" docs "$1"
