import { randomBytes } from "node:crypto";
import type { Command } from "commander";
import { loadHostConfig } from "../../config/load-config.ts";
import { GloveboxError, invalidField } from "../../errors/glovebox-error.ts";
import { checkKeyRecord, idOf, makeKey, type KeyRecord, type NewKey } from "../../keys/key-record.ts";
import { keysPlace, changeKeys, readKeys, type KeysPlace } from "../../keys/keys-file.ts";
import type { CommandIo, SetExitCode } from "../command-io.ts";
import { formatTable } from "../output/terminal-text.ts";
import path from "node:path";
import { parseDuration } from "../../base/duration.ts";
import { engineNames } from "../../config/engine-words.ts";
import { checkChoice } from "../../policy/request/invalid-value.ts";

interface KeysOptions extends KeyOptions {
  readonly json?: boolean;
  readonly print?: boolean;
}

/** `glovebox keys`: who may use a server, and for what. */
export function addKeysCommand(program: Command, io: CommandIo, setExitCode: SetExitCode): void {
  const keys = program
    .command("keys")
    // Its options may also come after its subcommands.
    .enablePositionalOptions(false)
    .option("--json", "print one JSON object");
  const print = (value: object, text: string, { json }: KeysOptions): void => {
    io.stdout.write(json === true ? `${JSON.stringify(value)}\n` : text);
    setExitCode(0);
  };
  addKeyOptions(keys.command("add <name>").description("Create a key. It is printed once and stored only as a hash."))
    .option("--print", "store nothing: print the key and its entry for a deployment's keys file, as JSON")
    .action(async (name: string, _: unknown, command: Command) => {
      const options = command.optsWithGlobals<KeysOptions>();
      const made = makeKey(randomBytes);
      const record = keyRecordOf(name, made, options);
      if (options.print === true) {
        io.stdout.write(`${JSON.stringify({ key: made.text, entry: record }, null, 2)}\n`);
        return setExitCode(0);
      }
      await changeKeys(await place(), (known) => [...known, record], io.signal);
      if (options.json !== true) io.stderr.write(`glovebox: key ${record.id} for ${record.name}, shown only once:\n`);
      print({ key: made.text, ...shown(record) }, `${made.text}\n`, options);
    });
  keys
    .command("list", { isDefault: true })
    .description("List the keys and their rights.")
    .action(async (_: unknown, command: Command) => {
      const records = await readKeys(await place());
      print({ keys: records.map(shown) }, table(records), command.optsWithGlobals<KeysOptions>());
    });
  keys
    .command("revoke <id>")
    .description("Revoke a key and end everything that runs for it, including its sessions and environments.")
    .action(async (given: string, _: unknown, command: Command) => {
      const id = idOf(given) ?? given;
      await changeKeys(await place(), (known) => without(known, id), io.signal);
      print({ revoked: id }, `${id} revoked\n`, command.optsWithGlobals<KeysOptions>());
    });
}

async function place(): Promise<KeysPlace> {
  const { config, host } = await loadHostConfig({});
  return keysPlace(config, host);
}

function without(keys: readonly KeyRecord[], id: string): readonly KeyRecord[] {
  const rest = keys.filter((key) => key.id !== id);
  if (rest.length < keys.length) return rest;
  throw new GloveboxError("NOT_FOUND", `There is no key with the id ${JSON.stringify(id.slice(0, 80))}.`, {
    suggestion: "`glovebox keys list` shows the ids.",
  });
}

/** A record without its hash. */
function shown({ hash: _, ...record }: KeyRecord): Omit<KeyRecord, "hash"> {
  return record;
}

function table(records: readonly KeyRecord[]): string {
  if (records.length === 0) return "There are no keys. Create one with `glovebox keys add NAME`.\n";
  const cells = records.map((record) => {
    const { id, name, hash: _, created_at: made, expires_at: expires, ...rights } = record;
    const words = Object.entries(rights).map(
      ([right, value]) => `${right}=${Array.isArray(value) ? value.join(",") : value}`,
    );
    return [
      id,
      name,
      made.slice(0, 16).replace("T", " "),
      expires?.slice(0, 16).replace("T", " ") ?? "never",
      words.join(" "),
    ];
  });
  return formatTable(["ID", "NAME", "MADE", "EXPIRES", "RIGHTS"], cells);
}

/** What a key may do, as typed. */
interface KeyOptions {
  readonly sandboxes?: string;
  readonly requestsPerMinute?: string;
  readonly maxCpus?: string;
  readonly maxMemoryMb?: string;
  readonly maxTimeout?: string;
  readonly maxPids?: string;
  readonly maxDiskMb?: string;
  readonly engines?: string;
  readonly network?: string;
  readonly images?: string;
  readonly secrets?: string;
  readonly mountRoots?: string;
  readonly expires?: string;
}

const unitMs: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

/** The options of `glovebox keys add`. */
function addKeyOptions(command: Command): Command {
  return command
    .option("--sandboxes <number>", "sandboxes at once, sessions and environments included (default: MAX_CONTAINERS)")
    .option("--requests-per-minute <number>", "requests a minute (default: no limit)")
    .option("--max-cpus <number>", "ceiling of limits.cpus (default: the deployment's)")
    .option("--max-memory-mb <number>", "ceiling of limits.memory_mb (default: the deployment's)")
    .option("--max-timeout <duration>", "ceiling of timeouts, such as 90s (default: the deployment's)")
    .option("--max-pids <number>", "ceiling of limits.pids (default: the deployment's)")
    .option("--max-disk-mb <number>", "ceiling of limits.disk_mb (default: the deployment's)")
    .option("--engines <names>", `engines of ${engineNames.join(",")} (default: all)`)
    .option(
      "--network <policies>",
      "none, registries, open or domains such as *.example.com (default: the deployment's)",
    )
    .option(
      "--images <references>",
      "images and registries (HOST[:PORT]/*) besides the configured images (default: images.allow)",
    )
    .option("--secrets <names>", "names of secrets, or * for all that are offered (default: none)")
    .option("--mount-roots <folders>", "folders for host paths, within the deployment's, or * for all (default: none)")
    .option("--expires <time>", "when the key ends by itself, such as 12h, 30d or 8w (default: never)");
}

/** The record of a new key. @throws INVALID_REQUEST naming the option */
function keyRecordOf(name: string, { id, digest }: NewKey, options: KeyOptions): KeyRecord {
  const nowMs = Date.now();
  const timeout = options.maxTimeout === undefined ? undefined : parseDuration(options.maxTimeout, "--max-timeout");
  const engines = listOf(options.engines)?.map((engine) => checkChoice(engine, engineNames, "--engines"));
  const fields = {
    id,
    name,
    hash: `sha256:${Buffer.from(digest).toString("hex")}`,
    created_at: new Date(nowMs).toISOString(),
    expires_at: options.expires === undefined ? undefined : expiryOf(options.expires, nowMs),
    sandboxes: numberOf(options.sandboxes),
    requests_per_minute: numberOf(options.requestsPerMinute),
    max_cpus: numberOf(options.maxCpus),
    max_memory_mb: numberOf(options.maxMemoryMb),
    max_timeout_seconds: timeout === undefined ? undefined : timeout / 1000,
    max_pids: numberOf(options.maxPids),
    max_disk_mb: numberOf(options.maxDiskMb),
    engines,
    network: listOf(options.network),
    images: listOf(options.images),
    secrets: listOf(options.secrets),
    mount_roots: listOf(options.mountRoots)?.map((root) => (/^(?:\*$|~)/.test(root) ? root : path.resolve(root))),
  };
  const given = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
  return checkKeyRecord(given, (field) => optionOf(field));
}

function optionOf(field: string): string {
  return field === "name" ? "NAME" : `--${field.replace("_seconds", "").replaceAll("_", "-")}`;
}

/** Anything but a number is left as text, for the schema to reject. */
function numberOf(text: string | undefined): number | string | undefined {
  return text !== undefined && /^\d+(?:\.\d+)?$/.test(text) ? Number(text) : text;
}

function listOf(text: string | undefined): readonly string[] | undefined {
  return text
    ?.split(",")
    .map((item) => item.trim())
    .filter((item) => item !== "");
}

function expiryOf(text: string, nowMs: number): string {
  const { count, unit = "" } = /^(?<count>\d{1,5})(?<unit>[mhdw])$/.exec(text.trim())?.groups ?? {};
  const lastsMs = Number(count) * (unitMs[unit] ?? Number.NaN);
  if (!(lastsMs > 0)) throw invalidField("--expires", "a time such as 12h, 30d or 8w", text);
  return new Date(nowMs + lastsMs).toISOString();
}
