import type { Command } from "commander";
import { openCalls } from "../open-calls.ts";
import {
  listSandboxesContract,
  pruneSandboxesContract,
  removeSandboxesContract,
  type SandboxRow,
} from "../../operations/sandboxes/sandboxes-contract.ts";
import type { CommandIo, SetExitCode } from "../command-io.ts";
import { formatTable } from "../output/format-table.ts";
import { escapeLine } from "../output/terminal-escape.ts";

interface ListOptions {
  readonly engine?: string;
  readonly json?: boolean;
}

/** `glovebox ps`: what runs now. */
export function addListCommand(program: Command, io: CommandIo, setExitCode: SetExitCode): void {
  program
    .command("ps")
    .option("--engine <engine>", "only this engine's")
    .option("--json", "print one JSON object")
    .action(async ({ engine, json }: ListOptions) => {
      await using calls = await openCalls();
      const { sandboxes } = await calls.send(listSandboxesContract, { engine }, { signal: io.signal });
      io.stdout.write(json === true ? `${JSON.stringify({ sandboxes })}\n` : sandboxTable(sandboxes));
      setExitCode(0);
    });
}

/** `glovebox rm`. */
export function addRemoveCommand(program: Command, io: CommandIo, setExitCode: SetExitCode): void {
  program
    .command("rm")
    .argument("<ids...>", "ids as glovebox ps shows them")
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

function sandboxTable(rows: readonly SandboxRow[]): string {
  return formatTable(
    ["SANDBOX", "ENGINE", "KIND", "STATE", "CREATED", "OWNER"],
    rows.map((row) => [
      row.sandbox_id,
      row.engine,
      row.kind,
      row.running ? "running" : "stopped",
      row.created_at,
      row.owner,
    ]),
  );
}
