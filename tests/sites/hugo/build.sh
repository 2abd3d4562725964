#!/bin/sh
# Builds this site into the folder "$1" with the Hugo on PATH (0.146 or later).
set -eu
exec hugo --quiet --source "$(dirname "$0")" --destination "$1" --noBuildLock
