import { z } from "zod";
import { absoluteInside } from "../files/inside-path.ts";
import { ConnectError } from "../rpc/connect-error.ts";
import { parseMessage, type RpcCall, type RpcMethod } from "../rpc/rpc-call.ts";
import { entriesScript, parseEntries, type FileEntry } from "./file-entries.ts";
import { runInside } from "./run-inside.ts";

const path = z
  .string()
  .max(4096)
  .regex(/^[^\0]*$/, "expected no NUL");
const onePath = z.strictObject({ path });
const moveSchema = z.strictObject({ source: path, destination: path });
const listSchema = z.strictObject({ path, depth: z.int().min(0).max(64).optional() });

/** What the scripts end with. */
const exits = { missing: 3, notFolder: 4, exists: 5 } as const;

const makeScript = `
[ -d "$1" ] && exit ${exits.exists}
if [ -e "$1" ] || [ -L "$1" ]; then exit ${exits.notFolder}; fi
mkdir -p -- "$1"`;
const moveScript = `
if [ ! -e "$1" ] && [ ! -L "$1" ]; then exit ${exits.missing}; fi
[ -d "$2" ] && [ ! -L "$2" ] && exit ${exits.exists}
mkdir -p -- "$(dirname -- "$2")" && mv -f -- "$1" "$2"`;
// A root that is a link is followed, links below it are not; the order of names is made afterwards.
const listScript = `
if [ ! -e "$1" ]; then exit ${exits.missing}; fi
[ -d "$1" ] || exit ${exits.notFolder}
find -H "$1" -mindepth 1 -maxdepth "$2" -exec sh -c '${entriesScript.replaceAll("'", `'"'"'`)}' sh {} +`;

/** The methods of E2B's service for files but those that watch folders. */
export const filesystemMethods: Readonly<Record<string, RpcMethod>> = {
  Stat: {
    type: "unary",
    handle: async (call, body) => ({ entry: await entryAt(call, pathOf(parseMessage(onePath, body).path)) }),
  },
  ListDir: { type: "unary", handle: list },
  MakeDir: {
    type: "unary",
    handle: async (call, body) => {
      const asked = pathOf(parseMessage(onePath, body).path);
      await run(call, makeScript, [asked], asked);
      return { entry: await entryAt(call, asked) };
    },
  },
  Move: {
    type: "unary",
    handle: async (call, body) => {
      const { source, destination } = parseMessage(moveSchema, body);
      const [from, to] = [pathOf(source), pathOf(destination)];
      await run(call, moveScript, [from, to], from);
      return { entry: await entryAt(call, to) };
    },
  },
  Remove: {
    type: "unary",
    handle: async (call, body) => {
      const asked = pathOf(parseMessage(onePath, body).path);
      await run(call, 'rm -rf -- "$1"', [asked], asked);
      return {};
    },
  },
};

async function list(call: RpcCall, body: unknown): Promise<object> {
  const { path: given, depth = 1 } = parseMessage(listSchema, body);
  const asked = pathOf(given);
  const { stdout } = await run(call, listScript, [asked, String(Math.max(depth, 1))], asked);
  const entries = parseEntries(stdout);
  // Parents before children, and names in order.
  const keyOf = ({ path: name }: FileEntry): string => (typeof name === "string" ? name.replaceAll("/", "\0") : "");
  return { entries: entries.toSorted((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1)) };
}

async function entryAt(call: RpcCall, asked: string): Promise<FileEntry> {
  const { stdout } = await runInside(call, entriesScript, [asked]);
  const [entry] = parseEntries(stdout);
  if (entry === undefined) throw new ConnectError("not_found", `path '${asked}' does not exist`);
  return entry;
}

async function run(call: RpcCall, script: string, args: string[], asked: string): Promise<{ readonly stdout: Buffer }> {
  const answer = await runInside(call, script, args);
  const { exitCode } = answer;
  if (exitCode === exits.missing) throw new ConnectError("not_found", `path '${asked}' does not exist`);
  if (exitCode === exits.notFolder) throw new ConnectError("invalid_argument", `path '${asked}' is not a directory`);
  if (exitCode === exits.exists)
    throw new ConnectError("already_exists", `a directory is there already: ${args.at(-1)}`);
  if (exitCode !== 0) throw new ConnectError("internal", `the files could not be changed (exit code ${exitCode})`);
  return answer;
}

/** @throws ConnectError */
function pathOf(given: string): string {
  if (given === "") throw new ConnectError("invalid_argument", "path: expected a path inside the sandbox, got nothing");
  return absoluteInside(given);
}
