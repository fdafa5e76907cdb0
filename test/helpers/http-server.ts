import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { gloveboxCommand } from "./glovebox-command.ts";
import { gloveboxEnvironment } from "./mcp-client.ts";

/** A running `glovebox serve --port 0`. */
export interface HttpServerProcess extends AsyncDisposable {
  readonly url: string;
  /** The headers with its token, which it made in its own configuration folder. */
  readonly headers: Readonly<Record<string, string>>;
  /** What it has written to stderr so far. */
  notice(): string;
  readonly child: ChildProcess;
  /** Its exit code. */
  readonly ended: Promise<number | null>;
  /** A request with the token; a body is sent as JSON unless it is text. */
  ask(
    route: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>,
    signal?: AbortSignal,
  ): Promise<Response>;
}

/** Starts it and resolves once it listens. Its sessions run in the embedded sandbox, whichever engines the machine has. */
export async function startHttpServer(
  argv: readonly string[] = [],
  environment: Readonly<Record<string, string>> = {},
): Promise<HttpServerProcess> {
  const configHome = mkdtempSync(path.join(os.tmpdir(), "glovebox-test-"));
  const child = spawn(gloveboxCommand, ["serve", "--port", "0", ...argv], {
    env: gloveboxEnvironment({ XDG_CONFIG_HOME: configHome, EXECUTION_MODE: "preload", ...environment }),
    stdio: ["ignore", "inherit", "pipe"],
  });
  const ended = once(child, "exit").then(([code]) => code as number | null);
  let text = "";
  const url = await new Promise<string>((resolve, reject) => {
    child.stderr.on("data", (chunk) => {
      text += String(chunk);
      const found = /serving at (http:\S+).*\n.*\n/.exec(text)?.[1];
      if (found !== undefined) resolve(found);
    });
    void ended.then((code) => reject(new Error(`glovebox serve ended with ${code}: ${text}`)));
  });
  const hasToken = !argv.includes("--no-token");
  const token = hasToken ? readFileSync(path.join(configHome, "glovebox/token"), "utf8").trim() : "";
  const headers: Record<string, string> = hasToken ? { authorization: `Bearer ${token}` } : {};
  return {
    ...{ url, headers, notice: () => text, child, ended },
    ask: (route, body, more = {}, signal) => {
      const [method = "", target = ""] = route.split(" ");
      const type = body === undefined ? {} : { "content-type": "application/json" };
      return fetch(`${url}${target}`, {
        method,
        headers: { ...headers, ...type, ...more },
        ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
        ...(signal === undefined ? {} : { signal }),
      });
    },
    [Symbol.asyncDispose]: async () => {
      child.kill("SIGTERM");
      await ended;
      rmSync(configHome, { recursive: true });
    },
  };
}
