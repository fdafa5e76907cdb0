import type { Command } from "commander";
import { readHost } from "../../config/host/host.ts";
import { ownCommand } from "../../config/host/own-command.ts";
import { readPackageVersion } from "../../config/host/package-version.ts";
import type { ServerCommand } from "../../mcp/install/client.ts";
import { mcpClients } from "../../mcp/install/clients.ts";
import { unwrapEntry, wrapEntry } from "../../mcp/install/wrap-entry.ts";
import { clientOf, entryText, planChange, planInstall, writeInstall } from "../../mcp/install/install-server.ts";
import { parseProfiles } from "../../mcp/tools/tool-profiles.ts";
import { invalidField } from "../../errors/glovebox-error.ts";
import { addWrapOptions, argumentsOfWrap, type WrapOptions } from "../wrap/wrap-options.ts";
import type { CommandIo, SetExitCode } from "../command-io.ts";

interface InstallOptions extends WrapOptions {
  readonly wrap?: string;
  readonly unwrap?: string;
  readonly project?: boolean;
  readonly print?: boolean;
  readonly engine?: string;
  readonly json?: boolean;
  readonly tools?: string;
}

/** `glovebox mcp install CLIENT`: registers the server with a client. */
export function addMcpInstallCommand(mcp: Command, io: CommandIo, setExitCode: SetExitCode): void {
  const names = mcpClients.map(({ name }) => name).join(", ");
  const command = mcp
    .command("install")
    .description("Add the server to a client's configuration, keeping its other contents and a copy of the file.")
    .argument("<client>", names)
    .option("--project", "for the project in this folder instead of for your user")
    .option("--print", "only print what would be added")
    .option(
      "--wrap <server>",
      "seal a server that the client already has, by running its command with glovebox mcp wrap",
    )
    .option("--unwrap <server>", "restore that server's own command")
    .option("--json", "print one JSON object: client, command, and file, changed, backup, next or, with --print, text")
    .addHelpText("after", "\nThe options of glovebox mcp wrap, such as --network and --mount, are for --wrap.")
    .action(async (name: string, _: unknown, own: Command) => {
      await install(name, own.optsWithGlobals<InstallOptions>(), io);
      setExitCode(0);
    });
  addWrapOptions(command);
}

/** `--wrap` and `--unwrap`: another server's entry of the client. */
async function changeEntry(name: string, options: InstallOptions, io: CommandIo): Promise<void> {
  const { project = false, wrap, unwrap, json, print } = options;
  if (wrap !== undefined && unwrap !== undefined)
    throw invalidField("--unwrap", "to be left out beside --wrap", unwrap);
  if (print === true) throw invalidField("--print", "to be left out beside --wrap and --unwrap", "--print");
  const host = readHost();
  const own = ownCommand({ ...host, portable: project, version: readPackageVersion() });
  const server = wrap ?? unwrap ?? "";
  const plan = await planChange({
    ...{ name, project, server, place: { ...host, projectDirectory: host.workingDirectory } },
    change: (entry) =>
      wrap === undefined ? unwrapEntry(entry) : wrapEntry(entry, own, argumentsOfWrap(options, host.workingDirectory)),
  });
  const { client, file, text } = plan;
  const backup = text === null ? null : await writeInstall({ ...plan, text });
  const facts = { client: name, server, file, changed: text !== null, backup, next: client.next };
  const kept = backup === null ? "Nothing to change." : `The old file is kept as ${backup}.`;
  const words = `${client.title}: ${server} is ${wrap === undefined ? "not wrapped" : "wrapped"} in ${file}. ${kept}\n${client.next}\n`;
  io.stdout.write(json === true ? `${JSON.stringify(facts)}\n` : words);
}

async function install(name: string, options: InstallOptions, io: CommandIo): Promise<void> {
  const { project = false, print, engine, json, tools } = options;
  if (tools !== undefined) parseProfiles(tools);
  if (options.wrap !== undefined || options.unwrap !== undefined) return changeEntry(name, options, io);
  const host = readHost();
  const own = ownCommand({ ...host, portable: project, version: readPackageVersion() });
  const command: ServerCommand = {
    command: own.command,
    args: [
      ...own.args,
      "mcp",
      ...(engine === undefined ? [] : ["--engine", engine]),
      ...(tools === undefined ? [] : ["--tools", tools]),
    ],
  };
  const tell = (facts: object, text: string): void =>
    void io.stdout.write(json === true ? `${JSON.stringify({ client: name, ...command, ...facts })}\n` : text);
  if (print === true) {
    const text = entryText(clientOf(name), command);
    tell({ text }, text);
    return;
  }
  const place = { ...host, projectDirectory: host.workingDirectory };
  const plan = await planInstall({ name, project, place, command });
  const { client, file, text } = plan;
  const { next } = client;
  if (text === null) {
    tell({ file, changed: false, backup: null, next }, `${client.title} already has it: ${file}\n`);
    return;
  }
  const backup = await writeInstall({ ...plan, text });
  const kept = backup === null ? "" : ` The old file is kept as ${backup}.`;
  tell({ file, changed: true, backup, next }, `${client.title}: wrote ${file}.${kept}\n${next}\n`);
}
