import { existsSync, realpathSync, statSync } from "node:fs";
import path from "node:path";
import { CommandError } from "../output/command-error.ts";

/** A file system of a container as in Apple's JSON; for a volume, its name. */
export interface Mount {
  readonly kind: "virtiofs" | "tmpfs" | "volume";
  readonly source: string;
  readonly destination: string;
  readonly options: readonly string[];
  /** Only for a volume: it is created under this name if missing. */
  readonly volume?: string;
  /** Whether the volume was requested without a name. */
  readonly anonymous?: boolean;
}

export interface MountPlaces {
  readonly cwd: string;
  /** A new name for a volume without one. */
  readonly newName: () => string;
}

const volumeName = /^[A-Za-z0-9][A-Za-z0-9_.-]*$/;

export function checkVolumeName(name: string): void {
  if (volumeName.test(name) && name.length <= 255) return;
  throw new CommandError("invalidArgument", `invalid volume name '${name}': must match ${volumeName.source}`);
}

const volumeMount = (name: string, destination: string, options: readonly string[], anonymous = false): Mount => ({
  kind: "volume",
  source: "",
  volume: name,
  destination,
  options,
  anonymous,
});

/** `-v`: `[source:]destination[:options]`, with empty parts left out. */
export function readVolume(text: string, { cwd, newName }: MountPlaces): Mount {
  const parts = text.replace(/^:/, "").split(":").filter(Boolean);
  const [source = "", destination, options = ""] = parts;
  if (parts.length === 0 || parts.length > 3) {
    throw new CommandError("invalidArgument", `invalid volume format ${text}`);
  }
  if (destination === undefined) return volumeMount(newName(), source, [], true);
  const list = options.split(",").filter(Boolean);
  if (!source.includes("/") && source !== "." && source !== "..") {
    checkVolumeName(source);
    return volumeMount(source, destination, list);
  }
  const full = path.resolve(cwd, source);
  if (!existsSync(full)) throw new CommandError("invalidArgument", `path '${source}' does not exist`);
  return { kind: "virtiofs", source: realpathSync(full), destination, options: list };
}

/** Directives of `--mount`; those without a value are single words. */
function readDirectives(text: string): ReadonlyMap<string, string> {
  const names: Readonly<Record<string, string>> = {
    src: "source",
    dst: "destination",
    target: "destination",
    ro: "readonly",
  };
  const known = new Set(["type", "source", "destination", "readonly", "size", "mode"]);
  const read = new Map<string, string>();
  for (const directive of text.split(",")) {
    const [key = "", value, ...more] = directive.split("=");
    const name = names[key] ?? key;
    if (!known.has(name))
      throw new CommandError("invalidArgument", `unknown directive ${key} when parsing mount ${text}`);
    if (more.length > 0 || (value === undefined && name !== "readonly")) {
      throw new CommandError("invalidArgument", `invalid directive format missing value ${directive} in ${text}`);
    }
    read.set(name, value ?? "");
  }
  return read;
}

/** `--mount`: a comma-separated list of directives. */
export function readMount(text: string, { cwd, newName }: MountPlaces): Mount {
  const directives = readDirectives(text);
  const type = directives.get("type") ?? "virtiofs";
  const source = directives.get("source");
  const destination = directives.get("destination") ?? "";
  const options = directives.has("readonly") ? ["ro"] : [];
  if (!["bind", "virtiofs", "tmpfs", "volume"].includes(type)) {
    throw new CommandError("invalidArgument", `unsupported mount type ${type}`);
  }
  if (destination === "") throw new CommandError("invalidArgument", "mount destination cannot be empty");
  const extra = ["size", "mode"].flatMap((name) => (directives.has(name) ? [`${name}=${directives.get(name)}`] : []));
  if (type === "tmpfs") {
    if (source !== undefined) throw new CommandError("invalidArgument", "cannot specify source for tmpfs mount");
    return { kind: "tmpfs", source: "", destination, options: [...options, ...extra] };
  }
  if (extra.length > 0)
    throw new CommandError("invalidArgument", `unsupported option ${extra[0]} for mount type ${type}`);
  if (type === "volume") {
    if (source !== undefined) checkVolumeName(source);
    return volumeMount(source ?? newName(), destination, options, source === undefined);
  }
  const full = path.resolve(cwd, source ?? "");
  if (!existsSync(full)) throw new CommandError("invalidArgument", `path '${source ?? ""}' does not exist`);
  if (!statSync(full).isDirectory())
    throw new CommandError("invalidArgument", `path '${source ?? ""}' is not a directory`);
  return { kind: "virtiofs", source: realpathSync(full), destination, options };
}
