#!/bin/sh
# Installs the npm packages of the lock file, unless they are installed already. Asks no questions.
set -eu
cd -- "$(dirname -- "$0")/.."

installed=node_modules/.package-lock.json
if [ -x node_modules/.bin/node ] && [ -f "$installed" ] && [ ! package-lock.json -nt "$installed" ]; then
  exit 0
fi
echo "Installing the npm packages of package-lock.json" >&2
# The node that runs npm may be older than some packages require: they run under the one that is installed here.
npm ci --no-audit --no-fund --loglevel=error >&2
