import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { gloveboxCommand } from "./glovebox-command.ts";
import { gloveboxEnvironment } from "./mcp-client.ts";
import { runCommand } from "./run-command.ts";
import { sessionImages } from "./test-images.ts";

/** One key of a server under test. */
export interface TestKey {
  readonly id: string;
  readonly text: string;
  /** A request with the key, its body as JSON. */
  ask(route: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<Response>;
}

/** `glovebox serve`, on `local` unless `--engine` is given, with its own keys, which may name the images of the testbed. */
export interface KeyServer extends AsyncDisposable {
  readonly url: string;
  /** Where it answers E2B's SDKs; empty without `--e2b`. */
  readonly e2bUrl: string;
  /** The id of its process. */
  readonly pid: number;
  readonly keysFile: string;
  /** The token of the user, which opens a server on loopback; empty for a server that listens beyond loopback. */
  readonly userToken: string;
  /** Makes a key with `glovebox keys add`, and waits until the server knows it. */
  addKey(name: string, ...rights: readonly string[]): Promise<TestKey>;
  revoke(key: TestKey): Promise<void>;
}

/** Starts it and resolves once it listens. */
export async function startKeyServer(
  argv: readonly string[] = [],
  more: Readonly<Record<string, string>> = {},
): Promise<KeyServer> {
  const configHome = mkdtempSync(path.join(os.tmpdir(), "glovebox-test-"));
  const images = [...new Set(Object.values(sessionImages))].join(",");
  const environment = {
    XDG_CONFIG_HOME: configHome,
    GLOVEBOX_DRAIN_TIMEOUT: "1s",
    GLOVEBOX_IMAGES_ALLOW: images,
    ...more,
  };
  const keys = async (...words: readonly string[]): Promise<string> => {
    const { exitCode, stdout, stderr } = await runCommand(["keys", ...words, "--json"], { environment });
    if (exitCode !== 0) throw new Error(stderr);
    return stdout;
  };
  const engine = argv.includes("--engine") ? [] : ["--engine", "local"];
  const child = spawn(gloveboxCommand, ["serve", "--port", "0", ...engine, ...argv], {
    env: gloveboxEnvironment(environment),
    stdio: ["ignore", "inherit", "pipe"],
  });
  const ended = once(child, "exit");
  let text = "";
  const url = await new Promise<string>((resolve, reject) => {
    child.stderr.on("data", (chunk) => {
      text += String(chunk);
      const found = /serving at (http:\S+).*\n.*\n/.exec(text)?.[1];
      if (found !== undefined) resolve(found);
    });
    void ended.then(() => reject(new Error(`glovebox serve ended: ${text}`)));
  });
  const token = path.join(configHome, "glovebox/token");
  const isKnown = async (key: string): Promise<boolean> => {
    const response = await fetch(`${url}/api/sessions`, { headers: { authorization: `Bearer ${key}` } });
    await response.arrayBuffer();
    return response.status !== 401;
  };
  return {
    url,
    // In one piece with the other lines of the start.
    e2bUrl: /E2B's SDKs are answered at (\S+)/.exec(text)?.[1] ?? "",
    pid: child.pid ?? 0,
    keysFile: path.join(configHome, "glovebox/keys.json"),
    userToken: existsSync(token) ? readFileSync(token, "utf8").trim() : "",
    addKey: async (name, ...rights) => {
      const { id, key } = JSON.parse(await keys("add", name, ...rights)) as { id: string; key: string };
      while (!(await isKnown(key))) await new Promise((resolve) => setTimeout(resolve, 50));
      return { id, text: key, ask: (...request) => ask(url, key, ...request) };
    },
    revoke: async ({ id }) => void (await keys("revoke", id)),
    [Symbol.asyncDispose]: async () => {
      child.kill("SIGTERM");
      await ended;
      rmSync(configHome, { recursive: true });
    },
  };
}

/** A request such as `POST /api/sandbox/execute` with a token. */
export function ask(
  url: string,
  token: string,
  route: string,
  body?: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  const [method = "", target = ""] = route.split(" ");
  const type: Record<string, string> = body === undefined ? {} : { "content-type": "application/json" };
  return fetch(`${url}${target}`, {
    method,
    headers: { authorization: `Bearer ${token}`, ...type, ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}
