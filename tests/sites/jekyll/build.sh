#!/bin/sh
# Builds this site into the folder "$1" with the Jekyll on PATH (4.3 or later).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cd "$here"
exec env BUNDLE_GEMFILE= JEKYLL_NO_BUNDLER_REQUIRE=true jekyll build --quiet --disable-disk-cache --source "$here" --destination "$1"
