#!/bin/sh
# What `npm test` runs: installs what is missing, then runs every static check and every test.
set -eu
cd -- "$(dirname -- "$0")/.."
sh scripts/ensure-dependencies.sh
exec node_modules/.bin/node scripts/test.ts "$@"
