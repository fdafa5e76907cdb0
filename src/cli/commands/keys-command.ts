import { randomBytes } from "node:crypto";
import type { Command } from "commander";
import { loadHostConfig } from "../../config/host-config.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import type { KeyRecord } from "../../keys/key-record.ts";
import { idOf, makeKey } from "../../keys/key-text.ts";
import { keysPlace, type KeysPlace } from "../../keys/keys-place.ts";
import { changeKeys, readKeys } from "../../keys/write-keys-file.ts";
import type { CommandIo, SetExitCode } from "../command-io.ts";
import { formatTable } from "../output/format-table.ts";
import { addKeyOptions, keyRecordOf, type KeyOptions } from "./key-options.ts";

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
