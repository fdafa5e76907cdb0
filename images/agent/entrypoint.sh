#!/bin/sh
# Takes the variables of this run from its file and starts the agent runner.
variables=/workspace/env-dir/env
if [ -r "$variables" ]; then
  return_character=$(printf '\r')
  set -a
  # A file written on Windows ends each of its lines in CRLF; one whose values hold a CRLF does not.
  if [ -s "$variables" ] && ! grep -qv "$return_character\$" "$variables"; then
    eval "$(sed "s/$return_character\$//" "$variables")"
  else
    . "$variables"
  fi
  set +a
fi
unset variables return_character
exec node /app/dist/index.js
