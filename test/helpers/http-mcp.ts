import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { gloveboxCommand } from "./glovebox-command.ts";
import { gloveboxEnvironment } from "./mcp-client.ts";

/** A running `glovebox mcp --http 0`. */
export interface HttpMcp extends AsyncDisposable {
  readonly url: string;
  /** The headers with its token, which it made in its own configuration folder. */
  readonly headers: Readonly<Record<string, string>>;
  /** That folder. */
  readonly configFolder: string;
  /** What it has written to stderr so far. */
  notice(): string;
  readonly child: ChildProcess;
  /** Its exit code. */
  readonly ended: Promise<number | null>;
}

/** Starts it and resolves once it listens. */
export async function startHttpMcp(
  argv: readonly string[] = [],
  environment: Readonly<Record<string, string>> = {},
): Promise<HttpMcp> {
  const configHome = mkdtempSync(path.join(os.tmpdir(), "glovebox-test-"));
  const configFolder = path.join(configHome, "glovebox");
  const child = spawn(gloveboxCommand, ["mcp", "--http", "0", ...argv], {
    env: gloveboxEnvironment({ XDG_CONFIG_HOME: configHome, ...environment }),
    stdio: ["ignore", "inherit", "pipe"],
  });
  const ended = once(child, "exit").then(([code]) => code as number | null);
  let text = "";
  for await (const chunk of child.stderr) {
    text += String(chunk);
    const url = /MCP at (http:\S+)/.exec(text)?.[1];
    if (url === undefined) continue;
    const token = argv.includes("--no-token") ? null : readFileSync(path.join(configFolder, "token"), "utf8").trim();
    return {
      url,
      headers: token === null ? {} : { authorization: `Bearer ${token}` },
      configFolder,
      notice: () => text,
      child,
      ended,
      [Symbol.asyncDispose]: async () => {
        child.kill("SIGTERM");
        await ended;
        rmSync(configHome, { recursive: true });
      },
    };
  }
  throw new Error(`glovebox mcp --http ended: ${text}`);
}
