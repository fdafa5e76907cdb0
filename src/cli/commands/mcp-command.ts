import { engineChoices } from "../../config/engine-words.ts";
import type { Command } from "commander";
import { invalidField } from "../../errors/glovebox-error.ts";
import { accessTokenFile, openAccessToken } from "../../config/secrets/access-token.ts";
import { parseDuration } from "../../base/duration.ts";
import { exitCodes } from "../exit-code.ts";
import type { CommandIo, SetExitCode } from "../command-io.ts";
import { addMcpWrapCommand } from "../wrap/wrap-command.ts";
import { addMcpInstallCommand } from "./mcp-install-command.ts";

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
      const door = await openMcpDoor({
        door: address === null ? "stdio" : "server",
        engine,
        minIsolation,
        profiles: tools === undefined ? undefined : parseProfiles(tools),
        signal: io.signal,
        answerWithinMs: parseDuration(answerWithin, "--answer-within"),
      });
      let left: readonly string[] = [];
      try {
        if (address === null) {
          const { serveOverStdio } = await import("../../mcp/stdio/serve-over-stdio.ts");
          await serveOverStdio(door, { input: io.stdin, output: io.stdout, principal, signal: io.signal });
        } else {
          const { serveOverHttp } = await import("../../mcp/http/serve-over-http.ts");
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
