#!/bin/sh
# What `npm run demo` runs: installs what is missing, then shows programs in the embedded sandbox.
set -eu
cd -- "$(dirname -- "$0")/.."
sh scripts/ensure-dependencies.sh
sh scripts/ensure-local-engine.sh
exec node_modules/.bin/node scripts/demo.ts
