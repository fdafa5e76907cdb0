import path from "node:path";
import type { Command } from "commander";
import { parseDuration } from "../../base/duration.ts";
import { engineNames } from "../../config/engine-words.ts";
import { invalidField } from "../../errors/glovebox-error.ts";
import { checkKeyRecord, type KeyRecord } from "../../keys/key-record.ts";
import type { NewKey } from "../../keys/key-text.ts";
import { checkChoice } from "../../policy/choice.ts";

/** What a key may do, as typed. */
export interface KeyOptions {
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
export function addKeyOptions(command: Command): Command {
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
export function keyRecordOf(name: string, { id, digest }: NewKey, options: KeyOptions): KeyRecord {
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
