import type { Command } from "commander";
import { readHost } from "../../config/host/host.ts";
import { ownCommand } from "../../config/host/own-command.ts";
import { readPackageVersion } from "../../config/host/package-version.ts";
import type { ServerCommand } from "../../mcp/install/client.ts";
import { mcpClients } from "../../mcp/install/clients.ts";
import { clientOf, entryText, planInstall, writeInstall } from "../../mcp/install/install-server.ts";
import { parseProfiles } from "../../mcp/tools/tool-profiles.ts";
import type { CommandIo, SetExitCode } from "../command-io.ts";

interface InstallOptions {
  readonly project?: boolean;
  readonly print?: boolean;
  readonly engine?: string;
  readonly json?: boolean;
  readonly tools?: string;
}

/** `glovebox mcp install CLIENT`: tells a client of the server. */
export function addMcpInstallCommand(mcp: Command, io: CommandIo, setExitCode: SetExitCode): void {
  const names = mcpClients.map(({ name }) => name).join(", ");
  mcp
    .command("install")
    .description("Write the server into a client's configuration; what it holds already is kept, and a copy made.")
    .argument("<client>", names)
    .option("--project", "for this folder's project instead of for you")
    .option("--print", "only show what would be added")
    .option("--json", "print one JSON object: client, command, and file, changed, backup, next or, with --print, text")
    .action(async (name: string, _: unknown, command: Command) => {
      await install(name, command.optsWithGlobals<InstallOptions>(), io);
      setExitCode(0);
    });
}

async function install(name: string, options: InstallOptions, io: CommandIo): Promise<void> {
  const { project = false, print, engine, json, tools } = options;
  if (tools !== undefined) parseProfiles(tools);
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
    tell({ file, changed: false, backup: null, next }, `${client.title} has it already: ${file}\n`);
    return;
  }
  const backup = await writeInstall({ ...plan, text });
  const kept = backup === null ? "" : ` What was there is kept in ${backup}.`;
  tell({ file, changed: true, backup, next }, `${client.title}: wrote ${file}.${kept}\n${next}\n`);
}
