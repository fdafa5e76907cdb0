import { expandHome } from "../config/host/host-paths.ts";
import { readPackagedScript } from "../base/packaged-script.ts";
import { executeCodeContract } from "./execute-contract.ts";
import { executeRequest, type ExecuteNeeds } from "./execute-handler.ts";
import { Redaction } from "../policy/redaction.ts";
import { describeCommand } from "../workloads/run/describe-work.ts";
import { handle } from "./handler.ts";
import { closeMounts, openMounts } from "./mounts-handler.ts";
import { wrapServerContract, type WrapServerResponse } from "./wrap-server-contract.ts";
import { posix, win32, type PlatformPath } from "node:path";
import { isWithin } from "../policy/mounts/mount-policy.ts";
import { GloveboxError, invalidField } from "../errors/glovebox-error.ts";

/** What a command that starts a server needs in a sandbox: its packages, and its form there. */
interface ServerCommand {
  readonly language: "javascript" | "python";
  /** As named in the language's registry. */
  readonly packages: readonly string[];
  /** A module from whose name the package is determined; null: none. */
  readonly importedModule: string | null;
  /** Arguments of the launcher of `images/launchers`; the last ones are the server's own. */
  readonly launch: readonly string[];
}

const javascript = { language: "javascript", importedModule: null } as const;
const python = { language: "python", importedModule: null } as const;

/**
 * Parses a command as configured in MCP clients: `npx` and the like, `uvx` and the like, Python and Node, or any
 * program of the image. Returns the packages that it would fetch, so that they can be installed before it starts. Pure.
 * @throws INVALID_REQUEST for a command that cannot run in a sandbox, naming those that can
 */
export function readServerCommand(command: readonly string[]): ServerCommand {
  const [program = "", ...rest] = withoutShell(command);
  if (program === "") throw invalidField("COMMAND", "the command that starts the server, after --", undefined);
  const name = baseName(program);
  const [verb = "", ...others] = rest;
  if (name === "npx" || name === "bunx") return npmServer(rest);
  if (name === "npm" && (verb === "exec" || verb === "x")) return npmServer(others);
  if ((name === "pnpm" || name === "yarn") && verb === "dlx") return npmServer(others);
  if (name === "bun" && verb === "x") return npmServer(others);
  if (name === "uvx") return pythonServer(rest);
  if (name === "uv" && verb === "tool" && others[0] === "run") return pythonServer(others.slice(1));
  if (name === "pipx" && verb === "run") return pythonServer(others);
  if (/^python(?:3(?:\.\d+)?)?$/.test(name)) return pythonProgram(name, rest);
  if (name === "node" || name === "nodejs" || name === "bun") {
    return { ...javascript, packages: [], launch: ["interpreter", "", "", ...(verb === "run" ? others : rest)] };
  }
  refuseOthers(name, rest);
  return { ...python, packages: [], launch: ["program", program, ...rest] };
}

/** On Windows, clients start `npx` with `cmd /c`. */
function withoutShell(command: readonly string[]): readonly string[] {
  const isShell = baseName(command[0] ?? "") === "cmd" && command[1]?.toLowerCase() === "/c";
  return isShell ? command.slice(2) : command;
}

function baseName(program: string): string {
  const [last = ""] = program.split(/[\\/]/).slice(-1);
  return last.toLowerCase().replace(/\.(?:exe|cmd|bat)$/, "");
}

const npxOptions = {
  flags: ["-y", "--yes", "-q", "--quiet", "--bun", "--silent"],
  values: ["-p", "--package"],
};

function npmServer(words: readonly string[]): ServerCommand {
  const { values, rest } = readOptions("npx", words, npxOptions);
  const [name, ...args] = rest;
  if (name === undefined) throw invalidField("COMMAND", "npx with the package of a server", words.join(" "));
  const packages = values.map(([, value]) => value);
  const [first] = packages;
  return first === undefined
    ? { ...javascript, packages: [name], launch: ["package", npmName(name), "", ...args] }
    : { ...javascript, packages, launch: ["package", npmName(first), name, ...args] };
}

/** Without its version. */
function npmName(spec: string): string {
  return spec.replace(/^npm:/, "").replace(/(?<=.)@.*$/s, "");
}

const uvxOptions = {
  flags: ["-q", "--quiet", "--no-cache", "--isolated"],
  values: ["--from", "--spec", "--with"],
};

function pythonServer(words: readonly string[]): ServerCommand {
  const { values, rest } = readOptions("uvx", words, uvxOptions);
  const [tool, ...args] = rest;
  if (tool === undefined) throw invalidField("COMMAND", "uvx with the package of a server", words.join(" "));
  // uvx writes versions as npx does.
  const [name = "", version] = tool.split("@");
  const own = version === undefined || version === "latest" ? name : `${name}==${version}`;
  const from = values.findLast(([option]) => option !== "--with")?.[1];
  const others = values.flatMap(([option, value]) => (option === "--with" ? value.split(",") : []));
  const script = name.replace(/\[.*$/s, "");
  return { ...python, packages: [from ?? own, ...others], launch: ["script", script, ...args] };
}

function pythonProgram(name: string, words: readonly string[]): ServerCommand {
  const rest = words.filter((word, index) => !(index < words.indexOf("-m") && /^-[uB]+$/.test(word)));
  const [option, module = "", ...args] = rest;
  if (option !== "-m") return { ...python, packages: [], launch: ["interpreter", name, ...words] };
  if (!/^[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*$/.test(module)) throw invalidField("COMMAND", "a module after -m", module);
  return { ...python, packages: [], importedModule: module, launch: ["module", module, ...args] };
}

interface KnownOptions {
  readonly flags: readonly string[];
  readonly values: readonly string[];
}

/** The options before the first argument or `--`. @throws INVALID_REQUEST for an unknown one */
function readOptions(
  program: string,
  words: readonly string[],
  known: KnownOptions,
): { readonly values: readonly (readonly [string, string])[]; readonly rest: readonly string[] } {
  const values: (readonly [string, string])[] = [];
  for (let index = 0; index < words.length; index += 1) {
    const word = words[index] ?? "";
    if (word === "--") return { values, rest: words.slice(index + 1) };
    if (!word.startsWith("-")) return { values, rest: words.slice(index) };
    const [option = "", inline] = word.split(/=(.*)/s);
    if (known.values.includes(option)) {
      const value = inline ?? words[(index += 1)] ?? "";
      if (value === "") throw invalidField("COMMAND", `${program} with a package after ${option}`, undefined);
      values.push([option, value]);
    } else if (!known.flags.includes(word)) {
      throw invalidField("COMMAND", `${program} with no options but ${optionsOf(known)}`, option);
    }
  }
  return { values, rest: [] };
}

function optionsOf({ flags, values }: KnownOptions): string {
  return [...flags, ...values].join(", ");
}

const alternatives: Readonly<Record<string, string>> = {
  uv: "Name the package: glovebox mcp wrap -- uvx PACKAGE.",
  deno: "Name the package: glovebox mcp wrap -- npx -y PACKAGE.",
  glovebox: "Wrap the server itself, not Glovebox.",
};
const ownImage =
  "Run the server's own image: glovebox mcp wrap --image IMAGE -- COMMAND, with the command that the image starts.";

/** Refuses what would need more than a sandbox offers. @throws INVALID_REQUEST */
function refuseOthers(name: string, [verb, ...words]: readonly string[]): void {
  // The command lines of all container engines have the same form.
  const startsContainer = verb === "run" && words.some((word) => /^(?:-[a-hj-z]*i[a-z]*|--interactive)$/.test(word));
  const suggestion = Object.hasOwn(alternatives, name) ? alternatives[name] : startsContainer ? ownImage : undefined;
  if (suggestion === undefined) return;
  throw new GloveboxError("INVALID_REQUEST", `COMMAND: ${name} cannot run inside a sandbox.`, {
    suggestion,
    context: { field: "COMMAND" },
  });
}

/** A mount, by its paths on this machine and its path in the sandbox. */
interface MountedAt {
  /** As given, and the real path. */
  readonly hostPaths: readonly string[];
  readonly target: string;
}

/**
 * A path of this machine, also after `--option=`, as its path in the sandbox if it is in a mount; other text is
 * unchanged.
 */
export function insidePath(text: string, mounts: readonly MountedAt[], platform: NodeJS.Platform): string {
  const flavour: PlatformPath = platform === "win32" ? win32 : posix;
  const [, option = "", given = ""] = /^(-{1,2}[\w-]+=)?(.*)$/s.exec(text) ?? [];
  if (!flavour.isAbsolute(given)) return text;
  for (const { hostPaths, target } of mounts) {
    const root = hostPaths.find((each) => flavour.isAbsolute(each) && isWithin(given, each, flavour));
    if (root === undefined) continue;
    const below = flavour.relative(root, given).replaceAll(flavour.sep, "/");
    return `${option}${below === "" ? target : `${target}/${below}`}`;
  }
  return text;
}

/** A server lives as long as its client; this is the hard limit if the request sets none. */
const longestMs = 7 * 24 * 3_600_000;

/** `wrap_server`: an execution whose program is a launcher that becomes the server. */
export const wrapServerHandler = handle(
  wrapServerContract,
  async (platform: ExecuteNeeds, request, call): Promise<WrapServerResponse> => {
    const { command, mounts: asked = [], packages = [], environment = {}, ...settings } = request;
    const server = readServerCommand(command);
    const { homeDirectory, platform: hostPlatform } = platform.host;
    const wanted = asked.map(({ path: given, target, read_only: readOnly = true }) => ({
      path: given,
      target,
      readOnly,
      shownAs: `--mount ${given}`,
    }));
    // The caller is the operator of this machine, with the rights of the main group.
    const { mounts, notices } = await openMounts(platform, wanted, true);
    try {
      const at = mounts.map(({ place, target }, index) => ({
        hostPaths: [expandHome(asked[index]?.path ?? "", homeDirectory), place.realPath],
        target,
      }));
      const inside = (text: string): string => insidePath(text, at, hostPlatform);
      const {
        artifacts: _,
        packages_installed: __,
        ...response
      } = await executeRequest(
        platform,
        executeCodeContract.request.parse({
          ...settings,
          language: server.language,
          code: await launcherOf(server),
          args: server.launch.map(inside),
          environment: Object.fromEntries(Object.entries(environment).map(([name, value]) => [name, inside(value)])),
          packages: packagesOf(server, packages),
        }),
        { call, mounts, notices, timeoutMs: longestMs, work: describeCommand(command, new Redaction([])) },
      );
      return response;
    } finally {
      await closeMounts(mounts);
    }
  },
);

/** The package of a bare module is found by its name, like those of imports. */
function packagesOf(server: ServerCommand, more: readonly string[]): readonly string[] | "auto" {
  const named = [...server.packages, ...more];
  return named.length === 0 && server.importedModule !== null ? "auto" : named;
}

async function launcherOf({ language, importedModule }: ServerCommand): Promise<string> {
  const file = language === "python" ? "launch.py" : "launch.cjs";
  const text = await readPackagedScript(new URL(`../../images/launchers/${file}`, import.meta.url));
  // Never runs: it only says which package is needed.
  return importedModule === null ? text : `${text}\nsys.exit()\nimport ${importedModule}\n`;
}
