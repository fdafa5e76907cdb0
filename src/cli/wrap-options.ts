import path from "node:path";
import type { Command } from "commander";
import type { Environment } from "../config/host/host.ts";
import { invalidField } from "../errors/glovebox-error.ts";
import { nameOption } from "./output/name-option.ts";
import {
  definedOnly,
  limitsOfOptions,
  parseNetworkOption,
  parseVariable,
  secretsOf,
  splitPackages,
} from "./run-options.ts";

/** Options of `glovebox mcp wrap` as the parser leaves them. */
export interface WrapOptions {
  readonly name?: string;
  readonly engine?: string;
  readonly minIsolation?: string;
  readonly network?: string;
  readonly mount: readonly string[];
  readonly secret: readonly string[];
  readonly env: readonly string[];
  readonly packages?: string;
  readonly image?: string;
  readonly ociRuntime?: string;
  readonly timeout?: string;
  readonly memory?: string;
  readonly cpus?: string;
  readonly pids?: string;
  readonly disk?: string;
}

const repeated = (value: string, before: readonly string[]): readonly string[] => [...before, value];

/** What a server may have; `--engine` and `--min-isolation` are those of `glovebox mcp`. */
export function addWrapOptions(command: Command): Command {
  return command
    .option("--network <policy>", "none, registries, open, or comma-separated domains (default: none)")
    .option(
      "--mount <path>",
      "folder or file from the mount allowlist, read-only at /workspace/extra/NAME; PATH:rw to make it writable, PATH:NAME or PATH:NAME:rw to rename it; may be repeated",
      repeated,
      [],
    )
    .option("--secret <name>", "configured secret to pass as a variable; NAME=VARIABLE to rename it", repeated, [])
    .option("--env <name>", "name of a variable in your environment, or NAME=VALUE; may be repeated", repeated, [])
    .option("--packages <list>", "packages in addition to those in the command, comma-separated")
    .option("--image <reference>", "container image")
    .option(
      "--timeout <duration>",
      "end the server after this time (default: when its client disconnects, at most 7 days)",
    )
    .option("--memory <size>", "memory, such as 512m or 1g (default: 512m)")
    .option("--cpus <number>", "CPUs' worth of time (default: 1)")
    .option("--pids <number>", "processes and threads together (default: 100)")
    .option("--disk <size>", "writable space (default: 1g)")
    .option("--oci-runtime <name>", "OCI runtime of the engine")
    .option(...nameOption);
}

const repeatable = ["mount", "secret", "env"] as const;
const single = [
  "name",
  "engine",
  "minIsolation",
  "network",
  "packages",
  "image",
  "timeout",
  "memory",
  "cpus",
  "pids",
  "disk",
  "ociRuntime",
] as const;

/**
 * The options as arguments of a command that can be started from any folder. @throws INVALID_REQUEST naming the option
 */
export function argumentsOfWrap(options: WrapOptions, workingDirectory: string): readonly string[] {
  const flag = (name: string): string => `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
  const mounts = options.mount.map((text) => {
    const { path: given } = parseMount(text);
    return /^~(?:[\\/]|$)/.test(given) ? text : `${path.resolve(workingDirectory, given)}${text.slice(given.length)}`;
  });
  const lists = { ...options, mount: mounts };
  return [
    ...single.flatMap((name) => (options[name] === undefined ? [] : [flag(name), options[name]])),
    ...repeatable.flatMap((name) => lists[name].flatMap((value) => [flag(name), value])),
  ];
}

/** The request that the options ask for. @throws INVALID_REQUEST naming the option */
export function requestOfWrap(
  options: WrapOptions,
  command: readonly string[],
  environment: Environment,
): Record<string, unknown> {
  const limits = limitsOfOptions(options);
  return definedOnly({
    command,
    name: options.name,
    packages: options.packages === undefined ? undefined : splitPackages(options.packages),
    environment: Object.fromEntries(options.env.map((text) => variableOf(text, environment))),
    secrets: options.secret.length > 0 ? secretsOf(options.secret) : undefined,
    mounts: options.mount.map(parseMount),
    limits: Object.keys(limits).length > 0 ? limits : undefined,
    network: parseNetworkOption(options.network),
    image: options.image,
    engine: options.engine,
    oci_runtime: options.ociRuntime,
    min_isolation: options.minIsolation,
  });
}

/** Just a name: the value that this process has. */
function variableOf(text: string, environment: Environment): [string, string] {
  if (text.includes("=")) return parseVariable(text);
  const value = environment[text];
  if (value === undefined) throw invalidField("--env", "NAME=VALUE, or the name of a variable that is set", text);
  return [text, value];
}

/** `PATH[:NAME][:rw]`; the colon of a drive letter does not separate. */
function parseMount(text: string): { path: string; target?: string; read_only: boolean } {
  const { drive = "", rest = "" } = /^(?<drive>[A-Za-z]:(?=[\\/]))?(?<rest>.*)$/s.exec(text)?.groups ?? {};
  const parts = rest.split(":");
  const access = ["ro", "rw"].includes(parts.at(-1) ?? "") && parts.length > 1 ? parts.pop() : "ro";
  const [own = "", target, ...more] = parts;
  if (own === "" || target === "" || more.length > 0) {
    throw invalidField("--mount", "PATH, PATH:rw, PATH:NAME or PATH:NAME:rw", text);
  }
  return { path: `${drive}${own}`, ...(target === undefined ? {} : { target }), read_only: access === "ro" };
}
