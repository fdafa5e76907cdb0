# Read by the shell of a test command before its line: ours come before `node` and the tools of `tools` (`go test`) on the PATH.
mkdir "$GLOVEBOX_TEST_REPORTS/bin"
while read -r glovebox_tool _; do
  if command -v "$glovebox_tool" >/dev/null && [ ! -e "$GLOVEBOX_TEST_REPORTS/bin/$glovebox_tool" ]; then
    ln -s ../shell/tool.sh "$GLOVEBOX_TEST_REPORTS/bin/$glovebox_tool"
  fi
done <"$GLOVEBOX_TEST_REPORTS/tools"
# A command that sets NODE_OPTIONS replaces ours: they are added again where `node` starts.
glovebox_tool=$(command -v node)
case $glovebox_tool in
  *\'* | [!/]* | '') ;;
  *)
    {
      printf "#!/bin/sh\nreal='%s'\n" "$glovebox_tool"
      cat "$GLOVEBOX_TEST_REPORTS/shell/node.sh"
    } >"$GLOVEBOX_TEST_REPORTS/bin/node"
    chmod +x "$GLOVEBOX_TEST_REPORTS/bin/node"
    ;;
esac
# A command that sets PYTHONPATH replaces ours: these are read whatever it says, by the image's Python and by the project's.
glovebox_start="import sys; exec('try:\\n sys.path.append(\"$GLOVEBOX_TEST_REPORTS/python\"); import glovebox_start\\nexcept ImportError: pass')"
for glovebox_tool in 8 9 10 11 12 13 14 15 16 17; do
  set -- "$@" "$PYTHONUSERBASE/lib/python3.$glovebox_tool/site-packages"
done
mkdir -p "$@" 2>/dev/null
for glovebox_tool in "$@" .venv/lib/python3.*/site-packages; do
  [ -d "$glovebox_tool" ] && printf '%s\n' "$glovebox_start" 2>/dev/null >"$glovebox_tool/glovebox-start.pth"
done
set --
unset glovebox_tool glovebox_start
PATH="$GLOVEBOX_TEST_REPORTS/bin:$PATH"
