import {
  listSandboxesContract,
  pruneSandboxesContract,
  removeSandboxesContract,
  type SandboxRow,
} from "../../operations/sandboxes-contract.ts";
import { formatTable, escapeLine } from "../output/terminal-text.ts";
import type { Command } from "commander";
import { loadHostConfig } from "../../config/load-config.ts";
import { keysPlace, readKeys } from "../../keys/keys-file.ts";
import { openCalls } from "../open-calls.ts";
import type { CommandIo, SetExitCode } from "../command-io.ts";
import { sandboxWords } from "../output/option-words.ts";
import { sandboxStatsContract, type SandboxStatsRow } from "../../operations/metrics-contract.ts";
import { setTimeout as sleep } from "node:timers/promises";
import { parseBytes } from "../../base/bytes.ts";
import { invalidField } from "../../errors/glovebox-error.ts";
import { copyIntoSandboxContract, copyOutOfSandboxContract } from "../../operations/live-sandbox-contract.ts";

/** What the table needs besides its rows. */
interface SandboxTableFacts {
  readonly nowMs: number;
  /** Whether a server gave the rows: it shows the caller's own only. */
  readonly isRemote: boolean;
  /** Names of API keys by their ids, as far as they are known here. */
  readonly keyNames: ReadonlyMap<string, string>;
}

/** Characters of an id's own part that are shown, unless it takes more to tell ids apart. */
const shortLength = 8;
/** Maximum characters of a column that others follow. */
const maxWidth = { work: 48, image: 32 } as const;

/** Live sandboxes, a line each, in words that a person would use; what a column lacks is left out as `-`. */
export function sandboxTable(rows: readonly SandboxRow[], facts: SandboxTableFacts): string {
  if (rows.length === 0) {
    return "No sandbox is running. `glovebox shell` opens one, `glovebox run FILE` runs a program in one.\n";
  }
  const short = shortIds(rows.map(({ sandbox_id: id }) => id));
  return formatTable(
    ["ID", "NAME", "AGE", "KIND", "RUNS", "IMAGE", "ENGINE", "OWNER"],
    rows.map((row) => [
      short.get(row.sandbox_id) ?? row.sandbox_id,
      row.name ?? "-",
      age(facts.nowMs - Date.parse(row.created_at)),
      row.kind,
      row.running ? cut(row.work ?? "-", maxWidth.work) : "(stopped)",
      cut(imageWords(row.image), maxWidth.image),
      row.engine,
      ownerWords(row, facts),
    ]),
  );
}

const timeUnits = [
  ["d", 86_400],
  ["h", 3_600],
  ["min", 60],
] as const;

interface ListOptions {
  readonly engine?: string;
  readonly names?: boolean;
  readonly json?: boolean;
}

/** `glovebox ps`: what runs now. */
export function addListCommand(program: Command, io: CommandIo, setExitCode: SetExitCode): void {
  program
    .command("ps")
    .option("--engine <engine>", "only this engine's")
    .option("--names", "print only names and ids, as your processes have recorded them, without asking the engines")
    .option("--json", "print one JSON object")
    .action(async ({ engine, names, json }: ListOptions) => {
      await using calls = await openCalls();
      const request = { engine, recorded: names };
      const { sandboxes } = await calls.send(listSandboxesContract, request, { signal: io.signal });
      setExitCode(0);
      if (names === true && json !== true) return void io.stdout.write(namesOf(sandboxes));
      if (json === true) return void io.stdout.write(`${JSON.stringify({ sandboxes })}\n`);
      const { isRemote } = calls;
      const facts = { nowMs: Date.now(), isRemote, keyNames: await knownKeys(isRemote, sandboxes) };
      io.stdout.write(sandboxTable(sandboxes, facts));
    });
}

/** `glovebox rm`. */
export function addRemoveCommand(program: Command, io: CommandIo, setExitCode: SetExitCode): void {
  program
    .command("rm")
    .argument("<ids...>", `each ${sandboxWords}`)
    .option("--json", "print one JSON object")
    .action(async (ids: readonly string[], { json }: ListOptions) => {
      await using calls = await openCalls();
      const { removed } = await calls.send(removeSandboxesContract, { ids }, { signal: io.signal });
      report(removed, json, io);
      setExitCode(0);
    });
}

/** `glovebox prune`: removes sandboxes whose owner is gone. */
export function addPruneCommand(program: Command, io: CommandIo, setExitCode: SetExitCode): void {
  program
    .command("prune")
    .option("--all", "also the sandboxes of running processes")
    .option("--json", "print one JSON object")
    .action(async ({ all, json }: { readonly all?: boolean; readonly json?: boolean }) => {
      await using calls = await openCalls();
      const { removed } = await calls.send(pruneSandboxesContract, { all }, { signal: io.signal });
      report(removed, json, io);
      setExitCode(0);
    });
}

/** One line per sandbox; `-` for what its engine does not report. */
export function statsTable(rows: readonly SandboxStatsRow[]): string {
  return formatTable(
    ["SANDBOX", "NAME", "ENGINE", "KIND", "CPU %", "MEMORY MB", "NET IN/OUT", "DISK READ/WRITE", "UP"],
    rows.map(({ container_id: id, name, engine, kind, limits, sample }) => [
      id,
      name ?? "-",
      engine,
      kind,
      `${shown(sample?.cpu_percent)} of ${limits.cpus * 100}`,
      `${shown(sample?.memory_mb)} of ${limits.memory_mb}`,
      `${bytes(sample?.network_rx_bytes)}/${bytes(sample?.network_tx_bytes)}`,
      `${bytes(sample?.disk_read_bytes)}/${bytes(sample?.disk_write_bytes)}`,
      sample === null ? "-" : `${Math.round(sample.uptime_seconds)} s`,
    ]),
  );
}

const byteUnits = ["B", "kB", "MB", "GB", "TB"] as const;

interface StatsOptions {
  readonly once?: boolean;
  readonly json?: boolean;
}

const intervalMs = 1_000;
/** Moves up to the top of what was drawn, and clears everything below. */
const upAndClear = (lines: number): string => (lines === 0 ? "" : `\u001B[${lines}A\u001B[0J`);

/** `glovebox stats`: what live sandboxes use, redrawn each second on a terminal. */
export function addStatsCommand(program: Command, io: CommandIo, setExitCode: SetExitCode): void {
  program
    .command("stats")
    .argument("[id]", `only this sandbox: ${sandboxWords}`)
    .option("--once", "print it once")
    .option("--json", "print one JSON object each second")
    .action(async (id: string | undefined, { once, json }: StatsOptions) => {
      await using calls = await openCalls();
      const redraws = json !== true && once !== true && io.stdout.isTTY === true;
      let lines = 0;
      setExitCode(0);
      for (let first = true; ; first = false) {
        const { sandboxes } = await calls.send(sandboxStatsContract, { id }, { signal: io.signal });
        const text = json === true ? `${JSON.stringify({ sandboxes })}\n` : statsTable(sandboxes);
        io.stdout.write(redraws ? upAndClear(lines) + text : first || json === true ? text : `\n${text}`);
        lines = text.split("\n").length - 1;
        if (once === true) return;
        // Ctrl-C is the normal way to end it.
        if (!(await slept(intervalMs, io.signal))) return;
      }
    });
}

interface CopyOptions {
  readonly maxSize?: string;
  readonly maxEntries?: string;
  readonly json?: boolean;
}

/**
 * `ID:PATH`, where ID is an id or the beginning of one, or a name before an absolute path; anything else is a path of this
 * machine, such as one behind the letter of a drive.
 */
const insideForm = /^(sbx-[a-z0-9]{1,40}(?=:)|(?![A-Za-z]:[\\/])[A-Za-z0-9][A-Za-z0-9._-]{0,63}(?=:\/)):(.*)$/s;

/** `glovebox cp`: copies files and folders into and out of a live sandbox. */
export function addCopyCommand(program: Command, io: CommandIo, setExitCode: SetExitCode): void {
  program
    .command("cp")
    .argument("<source>", `host path, or ID:PATH inside a sandbox; ID: ${sandboxWords}`)
    .argument("<target>", "ID:PATH or a host path, whichever SOURCE is not; an existing folder, or the new name")
    .option("--max-size <size>", "all files together, such as 500m (default: 1g)")
    .option("--max-entries <number>", "files, folders and links (default: 100000)")
    .option("--json", "print one JSON object")
    .addHelpText(
      "after",
      "\nA host path with a colon begins with ./ or /. SOURCE/. means the contents of the folder. Copying out of a sandbox never writes outside TARGET, follows no links," +
        "\nand leaves out links that lead outside. Exit code: 0, 125 Glovebox failed or refused, 2 wrong usage.",
    )
    .action(async (source: string, target: string, { maxSize, maxEntries, json }: CopyOptions) => {
      const [from, to] = [insideForm.exec(source), insideForm.exec(target)];
      if ((from === null) === (to === null)) {
        throw invalidField("SOURCE and TARGET", "exactly one of them as ID:PATH", `${source} ${target}`);
      }
      const limits = {
        ...(maxSize === undefined ? {} : { max_bytes: parseBytes(maxSize, "--max-size") }),
        ...(maxEntries === undefined ? {} : { max_entries: Number(maxEntries) }),
      };
      const [, id = "", inside = ""] = from ?? to ?? [];
      await using calls = await openCalls();
      const call = { signal: io.signal };
      const response =
        from === null
          ? await calls.send(copyIntoSandboxContract, { source, sandbox_id: id, target: inside, ...limits }, call)
          : await calls.send(copyOutOfSandboxContract, { sandbox_id: id, source: inside, target, ...limits }, call);
      if (json === true) io.stdout.write(`${JSON.stringify(response)}\n`);
      else for (const warning of response.warnings) io.stderr.write(`glovebox: ${escapeLine(warning)}\n`);
      setExitCode(0);
    });
}

async function slept(milliseconds: number, signal: AbortSignal): Promise<boolean> {
  try {
    await sleep(milliseconds, undefined, { signal });
    return true;
  } catch {
    return false;
  }
}

/** The shortest beginnings, of eight characters at least, that are each the only one. */
function shortIds(ids: readonly string[]): ReadonlyMap<string, string> {
  const distinct = [...new Set(ids)];
  const longest = Math.max(...distinct.map((id) => id.length));
  return new Map(
    distinct.map((id) => {
      const first = id.indexOf("-") + 1 + shortLength;
      for (let length = first; length < longest; length += 1) {
        const short = id.slice(0, length);
        if (!distinct.some((other) => other !== id && other.startsWith(short))) return [id, short];
      }
      return [id, id];
    }),
  );
}

/** How long ago, in the largest unit that fits: `42 s`, `3 min`, `2 h`, `5 d`. */
function age(milliseconds: number): string {
  const seconds = Math.max(0, Math.floor(milliseconds / 1_000));
  const [unit, size] = timeUnits.find(([, each]) => seconds >= each) ?? ["s", 1];
  return `${Math.floor(seconds / size)} ${unit}`;
}

/** A digest says nothing to a person. */
function imageWords(image: string | null): string {
  if (image === null || image === "") return "-";
  return image.replace(/^sha256:([0-9a-f]{12})[0-9a-f]*$/, "$1").replace(/@sha256:[0-9a-f]+$/, "");
}

function ownerWords({ owner, principal }: SandboxRow, { isRemote, keyNames }: SandboxTableFacts): string {
  if (owner === "expired") return "gone (glovebox prune removes it)";
  if (owner === "unknown") return "another user or machine";
  if (isRemote || principal === "local") return "you";
  if (principal === "") return "nobody yet";
  const id = principal.replace(/^key:/, "");
  return `key ${keyNames.get(id) ?? id}`;
}

function cut(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length - 3)}...`;
}

function report(removed: readonly string[], json: boolean | undefined, io: CommandIo): void {
  if (json === true) io.stdout.write(`${JSON.stringify({ removed })}\n`);
  else io.stdout.write(removed.map((id) => `${escapeLine(id)}\n`).join(""));
}

/** A line each, for completion in shells. */
function namesOf(rows: readonly SandboxRow[]): string {
  const words = rows.flatMap(({ name, sandbox_id: id }) => (name === null ? [id] : [name, id]));
  return [...new Set(words)].map((word) => `${escapeLine(word)}\n`).join("");
}

/** Names of the keys of this machine's server by their ids; none where they cannot be read. */
async function knownKeys(isRemote: boolean, rows: readonly SandboxRow[]): Promise<ReadonlyMap<string, string>> {
  if (isRemote || rows.every(({ principal }) => !principal.startsWith("key:"))) return new Map();
  try {
    const { config, host } = await loadHostConfig({});
    const records = await readKeys(keysPlace(config, host));
    return new Map(records.map(({ id, name }) => [id, name]));
  } catch {
    // A list with the ids of keys says enough.
    return new Map();
  }
}

function shown(value: number | null | undefined): string {
  return value === null || value === undefined ? "-" : String(value);
}

/** Short, for a column: `1.5 MB`; 1 kB is 1024 bytes. */
function bytes(value: number | null | undefined): string {
  if (value === null || value === undefined) return "-";
  const step = Math.min(byteUnits.length - 1, Math.floor(Math.log2(Math.max(1, value)) / 10));
  const scaled = value / 1024 ** step;
  return `${scaled < 10 && step > 0 ? scaled.toFixed(1) : Math.round(scaled)} ${byteUnits[step] ?? ""}`;
}
