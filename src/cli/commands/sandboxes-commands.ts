import type { Command } from "commander";
import { loadHostConfig } from "../../config/host-config.ts";
import { keysPlace } from "../../keys/keys-place.ts";
import { readKeys } from "../../keys/write-keys-file.ts";
import { openCalls } from "../open-calls.ts";
import {
  listSandboxesContract,
  pruneSandboxesContract,
  removeSandboxesContract,
  type SandboxRow,
} from "../../operations/sandboxes-contract.ts";
import type { CommandIo, SetExitCode } from "../command-io.ts";
import { sandboxTable } from "../output/sandbox-table.ts";
import { sandboxWords } from "../output/name-option.ts";
import { escapeLine } from "../output/terminal-escape.ts";

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
