import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { chmod, mkdtemp, mkdir, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { createRequire } from "node:module";
import { createServer as createSocketServer, type Server as SocketServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

/** A program that tries one thing and says ESCAPED or BLOCKED. */
export interface PreloadProbe {
  readonly name: string;
  readonly code: string;
}

/** The probes of `test/fixtures/preload-probes/FOLDER`. */
export function readPreloadProbes(folder: "python" | "javascript"): readonly PreloadProbe[] {
  const place = new URL(`../fixtures/preload-probes/${folder}/`, import.meta.url);
  return readdirSync(place).map((name) => ({ name, code: readFileSync(new URL(name, place), "utf8") }));
}

/** What probes try to get: a folder, a server and a variable of the host, all harmless. */
export class Outside implements AsyncDisposable {
  readonly environment: Readonly<Record<string, string>>;
  readonly #folder: string;
  readonly #servers: readonly (Server | SocketServer)[];

  private constructor(folder: string, servers: readonly (Server | SocketServer)[], port: number) {
    this.#folder = folder;
    this.#servers = servers;
    this.environment = { PROBE_OUTSIDE: folder, PROBE_PORT: String(port), PROBE_ADDON: someAddon() };
  }

  static async open(): Promise<Outside> {
    const folder = await mkdtemp(join(tmpdir(), "glovebox-outside-"));
    // Open to all users, so that no file permission of the host is what refuses.
    await chmod(folder, 0o777);
    const server = createServer((_request, response) => response.end("page"));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const local = createSocketServer((socket) => socket.end());
    await new Promise<void>((resolve) => local.listen(join(folder, "socket"), resolve));
    await chmod(join(folder, "socket"), 0o777);
    const address = server.address();
    if (address === null || typeof address === "string") throw new Error("The server has no port.");
    return new Outside(folder, [server, local], address.port);
  }

  /** Restores the state before any probe. */
  async restore(): Promise<void> {
    const files = {
      secret: "s3cret",
      cut: "text",
      "removable-python": "",
      "removable-javascript": "",
      "module.json": "{}",
      variables: "A=1\n",
    };
    for (const [name, text] of Object.entries(files)) {
      await writeFile(join(this.#folder, name), text);
      await chmod(join(this.#folder, name), 0o666);
    }
  }

  /** Runs a probe without any guard, in a new empty folder, with the host's variable in its environment. */
  async runBare(file: string, probe: PreloadProbe, mainFile: string): Promise<string> {
    const folder = join(this.#folder, "bare");
    await mkdir(folder);
    try {
      await writeFile(join(folder, mainFile), probe.code);
      const { stdout } = await promisify(execFile)(file, [join(folder, mainFile)], {
        cwd: folder,
        env: { ...process.env, ...this.environment, PROBE_HOST_SECRET: "1" },
        timeout: 30_000,
      });
      return stdout;
    } finally {
      await rm(folder, { recursive: true });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const server of this.#servers) {
      if ("closeAllConnections" in server) server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    }
    await rm(this.#folder, { recursive: true, force: true });
  }
}

/** Native code that this checkout already has. */
function someAddon(): string {
  const require = createRequire(createRequire(import.meta.url).resolve("oxc-parser/package.json"));
  const names = ["gnu", "musl"].map((libc) => `@oxc-parser/binding-${process.platform}-${process.arch}-${libc}`);
  for (const name of [...names, `@oxc-parser/binding-${process.platform}-${process.arch}`]) {
    try {
      return require.resolve(name);
    } catch {
      // Built for another system.
    }
  }
  throw new Error("No native addon was found among the development dependencies.");
}
