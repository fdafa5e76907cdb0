import { readPackagedScript } from "../base/packaged-script.ts";

/** Interpreters that can run the forwarder inside a sandbox: the one of its programs is used. */
export type ForwarderInterpreter = "python" | "node" | "bun";

/** Where programs find the forwarder: the only address that a sandbox's network has. */
export const forwarderPort = 3128;
/** Where the forwarder saves the host's certificates, in every sandbox's scratch. */
export const certificateFile = "/tmp/.glovebox-certificates.pem";

/**
 * `uid:gid` of the forwarder in containers with several users: used by nothing else, so that no program can end it,
 * inspect it or listen in its place, and killing a program user's processes does not reach it.
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

/** The forwarder is our code: the program's variables, such as NODE_OPTIONS, must not affect it. */
const withoutVariables = `
if [ -n "$LD_LIBRARY_PATH" ]; then exec env -i "PATH=$PATH" "LD_LIBRARY_PATH=$LD_LIBRARY_PATH" "$@"; fi
exec env -i "PATH=$PATH" "$@"
`;

/** Argument vector that starts the forwarder, which then communicates over its standard input and output. */
export async function forwarderCommand(interpreter: ForwarderInterpreter): Promise<readonly string[]> {
  const source = await readPackagedScript(new URL(`../../images/forwarders/${files[interpreter]}`, import.meta.url));
  const start = [...starts[interpreter], source, String(forwarderPort), certificateFile];
  return ["sh", "-c", withoutVariables, "sh", ...start];
}

/** The first thing that the forwarder reads. */
export function forwarderPreamble(certificates: string): Buffer {
  const content = Buffer.from(certificates);
  const size = Buffer.alloc(4);
  size.writeUInt32BE(content.length);
  return Buffer.concat([size, content]);
}
