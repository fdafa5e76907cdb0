#!/bin/sh
# Reads the variables of this run from its file and starts the agent runner.
variables=/workspace/env-dir/env
if [ -r "$variables" ]; then
  return_character=$(printf '\r')
  set -a
  # In a file written on Windows every line ends in CRLF; in a file whose values contain a CRLF, not all do.
  if [ -s "$variables" ] && ! grep -qv "$return_character\$" "$variables"; then
    eval "$(sed "s/$return_character\$//" "$variables")"
  else
    . "$variables"
  fi
  set +a
fi
unset variables return_character
exec node /app/dist/index.js
