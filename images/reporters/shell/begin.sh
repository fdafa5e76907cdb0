# Read by the shell of a test command before its line: ours come before `go` and `cargo` on the PATH.
mkdir "$GLOVEBOX_TEST_REPORTS/bin"
for glovebox_tool in go cargo; do
  if command -v "$glovebox_tool" >/dev/null; then
    ln -s ../shell/tool.sh "$GLOVEBOX_TEST_REPORTS/bin/$glovebox_tool"
  fi
done
unset glovebox_tool
PATH="$GLOVEBOX_TEST_REPORTS/bin:$PATH"
