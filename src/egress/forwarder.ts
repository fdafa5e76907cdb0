import { readPackagedScript } from "../base/packaged-script.ts";

/** What runs the forwarder inside a sandbox: whichever of them its programs' own interpreter is. */
export type ForwarderInterpreter = "python" | "node" | "bun";

/** Where programs find the forwarder: the one place that a sandbox's network has. */
export const forwarderPort = 3128;
/** Where the forwarder saves the host's certificates, in every sandbox's scratch. */
export const certificateFile = "/tmp/.glovebox-certificates.pem";

/**
 * `uid:gid` of the forwarder where a container has several users: nobody else's, so that no program can end it, look into
 * it or listen in its place, and no kill of a program's user reaches it.
 */
export const forwarderUser = "63128:63128";

const files: Readonly<Record<ForwarderInterpreter, string>> = {
  python: "forwarder.py",
  node: "forwarder.cjs",
  bun: "forwarder.cjs",
};
const starts: Readonly<Record<ForwarderInterpreter, readonly string[]>> = {
  python: ["python3", "-I", "-S", "-c"],
  node: ["node", "--max-old-space-size=64", "-e"],
  bun: ["bun", "--smol", "-e"],
};

/** The forwarder is ours: none of the program's variables, such as NODE_OPTIONS, is meant for it. */
const withoutVariables = `
if [ -n "$LD_LIBRARY_PATH" ]; then exec env -i "PATH=$PATH" "LD_LIBRARY_PATH=$LD_LIBRARY_PATH" "$@"; fi
exec env -i "PATH=$PATH" "$@"
`;

/** Argument vector that starts the forwarder, which then speaks over its standard input and output. */
export async function forwarderCommand(interpreter: ForwarderInterpreter): Promise<readonly string[]> {
  const source = await readPackagedScript(new URL(`../../images/forwarders/${files[interpreter]}`, import.meta.url));
  const start = [...starts[interpreter], source, String(forwarderPort), certificateFile];
  return ["sh", "-c", withoutVariables, "sh", ...start];
}

/** What the forwarder reads before anything else. */
export function forwarderPreamble(certificates: string): Buffer {
  const content = Buffer.from(certificates);
  const size = Buffer.alloc(4);
  size.writeUInt32BE(content.length);
  return Buffer.concat([size, content]);
}
