import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { gloveboxCommand } from "./glovebox-command.ts";
import { gloveboxEnvironment } from "./mcp-client.ts";

/** A running `glovebox serve` with its own state and configuration folders. */
export interface ServedGlovebox extends AsyncDisposable {
  readonly url: string;
  readonly token: string;
  /** The folder in which a later server finds what this one has left. */
  readonly home: string;
  readonly child: ChildProcess;
  /** Its exit code. */
  readonly ended: Promise<number | null>;
  /** The answer to a request, whatever its status. */
  call(method: string, path: string, body?: unknown): Promise<{ readonly status: number; readonly body: unknown }>;
}

/**
 * Starts it and resolves once it listens; `home`: that of an earlier one; `engine`: default the embedded one; `command`:
 * one other than that of the tests.
 */
export async function serveGlovebox(
  environment: Readonly<Record<string, string>> = {},
  home: string = mkdtempSync(path.join(os.tmpdir(), "glovebox-test-served-")),
  engine = "local",
  command: readonly string[] = [gloveboxCommand],
): Promise<ServedGlovebox> {
  const own = { XDG_CONFIG_HOME: path.join(home, "config"), XDG_STATE_HOME: path.join(home, "state") };
  const [file = "", ...before] = command;
  const child = spawn(file, [...before, "serve", "--port", "0", "--engine", engine], {
    env: gloveboxEnvironment({ ...own, ...environment }),
    stdio: ["ignore", "inherit", "pipe"],
  });
  const ended = once(child, "exit").then(([code]) => code as number | null);
  const url = await addressOf(child);
  const token = readFileSync(path.join(home, "config/glovebox/token"), "utf8").trim();
  return {
    ...{ url, token, home, child, ended },
    call: async (method, route, body) => {
      const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
      const answer = await fetch(`${url}${route}`, {
        ...{ method, headers },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await answer.text();
      return { status: answer.status, body: text === "" ? null : JSON.parse(text) };
    },
    [Symbol.asyncDispose]: async () => {
      child.kill("SIGTERM");
      await ended;
      rmSync(home, { recursive: true, force: true });
    },
  };
}

/** Standard error is read to its end, even if others read it too, so that the server never waits for a reader. */
async function addressOf(child: ChildProcess): Promise<string> {
  let text = "";
  let isFound = false;
  return new Promise((resolve, reject) => {
    child.stderr?.on("data", (chunk) => {
      if (isFound) return;
      text += String(chunk);
      const url = /serving at (http:\S+)\s/.exec(text)?.[1];
      if (url === undefined) return;
      isFound = true;
      resolve(url);
    });
    child.once("close", () => reject(new Error(`glovebox serve ended: ${text}`)));
  });
}
