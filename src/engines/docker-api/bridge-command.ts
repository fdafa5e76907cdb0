import { readFile } from "node:fs/promises";

/** User of the bridge: neither the programs' nor the keeper's, so that programs cannot reach it and ending them spares it. */
export const bridgeUser = "65533:65533";

/** What the bridge exits with when the container has no interpreter for it. */
export const noInterpreterExitCode = 127;

/** What the bridge reads before anything else: that there are no certificates to save. */
export const bridgePreamble: Buffer = Buffer.alloc(4);

/**
 * Starts the forwarder, which listens nowhere, with whichever interpreter there is; the one that takes least first.
 * None of the image's variables is meant for it.
 */
const script = `
if command -v python3 >/dev/null; then set -- python3 -I -S -c "$1" 0 ''
elif command -v bun >/dev/null; then set -- bun --smol -e "$2" 0 ''
elif command -v node >/dev/null; then set -- node --max-old-space-size=64 -e "$2" 0 ''
else exit ${noInterpreterExitCode}
fi
if [ -n "$LD_LIBRARY_PATH" ]; then exec env -i "PATH=$PATH" "LD_LIBRARY_PATH=$LD_LIBRARY_PATH" "$@"; fi
exec env -i "PATH=$PATH" "$@"
`;

/** Argument vector that starts the bridge in any container that has a shell and Python, Node or Bun. */
export async function bridgeCommand(): Promise<readonly string[]> {
  const folder = new URL("../../../images/forwarders/", import.meta.url);
  const files = ["forwarder.py", "forwarder.cjs"];
  const sources = await Promise.all(files.map((file) => readFile(new URL(file, folder), "utf8")));
  return ["sh", "-c", script, "sh", ...sources];
}
