import { engineChoices } from "../../config/engine-words.ts";
import type { Command } from "commander";
import { invalidField } from "../../errors/glovebox-error.ts";
import { accessTokenFile, openAccessToken } from "../../config/server-access.ts";
import { parseDuration } from "../../base/duration.ts";
import { exitCodes } from "../exit-code.ts";
import type { CommandIo, SetExitCode } from "../command-io.ts";
import { addMcpWrapCommand, addWrapOptions, argumentsOfWrap, type WrapOptions } from "../wrap-command.ts";
import { readHost } from "../../config/host/host.ts";
import { ownCommand, readPackageVersion } from "../../config/host/own-package.ts";
import { mcpClients, type ServerCommand } from "../../mcp/clients.ts";
import {
  unwrapEntry,
  wrapEntry,
  clientOf,
  entryText,
  planChange,
  planInstall,
  writeInstall,
} from "../../mcp/install-server.ts";
import { parseProfiles } from "../../mcp/tools/tool-profiles.ts";

/** The principal for callers without a key: the user of this process. */
const principal = "local";

interface McpOptions {
  readonly http?: string;
  readonly engine?: string;
  readonly minIsolation?: string;
  readonly tools?: string;
  readonly answerWithin: string;
  readonly token: boolean;
}

const openToAll = "--no-token: every user and program on this machine can run code here, and see and end what runs";

/** `glovebox mcp`: the tools for agents, over stdio or a port of loopback. */
export function addMcpCommand(program: Command, io: CommandIo, setExitCode: SetExitCode): void {
  const mcp = program
    .command("mcp")
    // Its options may also come after its subcommands.
    .enablePositionalOptions(false)
    .option("--http <port>", "serve Streamable HTTP at http://127.0.0.1:PORT/mcp instead; 0 takes a free port")
    .option("--no-token", "with --http: require no token, so every user of this machine can run code")
    .option("--engine <engine>", `${engineChoices} (default: auto)`)
    .option(
      "--min-isolation <level>",
      "preload, namespaces, container or vm: refuse engines with weaker isolation (default: namespaces)",
    )
    .option(
      "--tools <profiles>",
      "which tools: run, session, project, process, test, preview, agent or all, comma-separated (default: run,session,project)",
    )
    .option("--answer-within <duration>", "answer long calls after this time with a run_id; they continue", "45s")
    .addHelpText(
      "after",
      "\nExit code: 0 when the client disconnects or on SIGINT or SIGTERM, once everything is removed; 1 if an engine did not remove everything within 10 s; the next start does.",
    )
    .action(async ({ http, engine, minIsolation, tools, answerWithin, token }: McpOptions) => {
      // Loaded on use: the other commands start faster without the protocol.
      const { openMcpDoor } = await import("../../mcp/open-mcp-door.ts");
      const { parseProfiles } = await import("../../mcp/tools/tool-profiles.ts");
      const address = http === undefined ? null : parseAddress(http);
      const { door } = await openMcpDoor({
        door: address === null ? "stdio" : "server",
        engine,
        settings: { min_isolation: minIsolation },
        profiles: tools === undefined ? undefined : parseProfiles(tools),
        signal: io.signal,
        answerWithinMs: parseDuration(answerWithin, "--answer-within"),
      });
      let left: readonly string[] = [];
      try {
        if (address === null) {
          const { serveOverStdio } = await import("../../mcp/serve-over-stdio.ts");
          await serveOverStdio(door, { input: io.stdin, output: io.stdout, principal, signal: io.signal });
        } else {
          const { serveOverHttp } = await import("../../mcp/serve-over-http.ts");
          const { config, host } = door.platform;
          const onListening = (url: string): void =>
            void io.stderr.write(
              `glovebox: MCP at ${url}\nglovebox: ${token ? `it requires the token in ${accessTokenFile(host)}` : openToAll}\n`,
            );
          await serveOverHttp(door, {
            ...address,
            principal,
            token: token ? await openAccessToken(host) : null,
            allowedOrigins: config.allowedOrigins,
            signal: io.signal,
            onListening,
          });
        }
      } finally {
        left = await door.close();
      }
      setExitCode(left.length === 0 ? 0 : exitCodes.leftBehind);
    });
  addMcpInstallCommand(mcp, io, setExitCode);
  addMcpWrapCommand(mcp, io, setExitCode);
}

function parseAddress(text: string): { readonly host: string; readonly port: number } {
  const { host = "127.0.0.1", port } = /^(?:\[?(?<host>[^\]]+)\]?:)?(?<port>\d{1,5})$/.exec(text)?.groups ?? {};
  if (port === undefined || Number(port) > 65_535) throw invalidField("--http", "a port such as 8080", text);
  return { host, port: Number(port) };
}

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
function addMcpInstallCommand(mcp: Command, io: CommandIo, setExitCode: SetExitCode): void {
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
