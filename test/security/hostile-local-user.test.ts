import { execFileSync, spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import pino from "pino";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createGlovebox } from "../helpers/wire-glovebox.ts";
import { PeerFolder } from "../../src/peers/peer-folder.ts";
import { PeerServer } from "../../src/peers/peer-server.ts";
import { Peers } from "../../src/peers/peers.ts";
import { readLogsContract } from "../../src/operations/logs-contract.ts";
import { preloadEngine } from "../helpers/preload-engine.ts";

/** Another user of the same machine, created by the testbed. */
const stranger = Number(spawnSync("id", ["-u", "glovebox-testbed"], { encoding: "utf8" }).stdout.trim() || Number.NaN);
const isPossible = process.getuid?.() === 0 && !Number.isNaN(stranger);

function asStranger(script: string, ...args: readonly string[]): ChildProcess {
  const identity = [`--reuid=${stranger}`, `--regid=${stranger}`, "--clear-groups"];
  return spawn("/usr/bin/setpriv", [...identity, "/usr/bin/python3", "-c", script, ...args], {
    stdio: ["ignore", "pipe", "inherit"],
  });
}

/** An id that no process has. */
function deadProcess(): number {
  return spawnSync("true").pid;
}

const container = {
  name: "glovebox-hostile",
  image: "host",
  labels: {},
  command: undefined,
  limits: { cpus: 1, memoryBytes: 2 ** 28, pids: 16 },
  scratch: [{ path: "/work", sizeBytes: 2 ** 20 }],
  processUser: "1000:1000",
};

describe.runIf(isPossible)("another user of this machine", () => {
  let folder: string;
  let precious: string;
  const helpers: ChildProcess[] = [];
  beforeEach(() => {
    // Any user may create names in it, as in the system's folder for temporary files.
    folder = mkdtempSync(path.join(tmpdir(), "glovebox-hostile-"));
    chmodSync(folder, 0o1777);
    precious = mkdtempSync(path.join("/root", ".glovebox-precious-"));
    for (let n = 0; n < 20; n++) writeFileSync(path.join(precious, `${n}`), "x");
  });
  afterEach(async () => {
    for (const helper of helpers.splice(0)) {
      helper.kill("SIGKILL");
      if (helper.exitCode === null && helper.signalCode === null) await once(helper, "exit");
    }
    for (const place of [folder, precious]) rmSync(place, { recursive: true, force: true });
  });
  const isWhole = (): boolean => readdirSync(precious).length === 20;

  /** Exchanges folders with links as fast as it can, under every name that a sweep could mistake for its own. */
  const exchanges = `
import ctypes, os, sys
base, precious, dead, ns = sys.argv[1:]
os.umask(0)
names = [f"glovebox-preload-{dead}-{n}" for n in range(30)] + [f"{ns}.{dead}.1.preload-{n}" for n in range(30)]
links = os.path.join(base, "links"); os.mkdir(links)
for name in names:
    os.makedirs(os.path.join(base, name, *"abcdefgh"))
    os.symlink(precious, os.path.join(links, name))
libc = ctypes.CDLL(None)
print("ready", flush=True)
while True:
    for name in names: libc.renameat2(-100, os.path.join(base, name).encode(), -100, os.path.join(links, name).encode(), 2)
`;

  it("gets no folder swept through a link, neither in the shared place nor in one that looks like ours", async () => {
    const namespace = /\d+/.exec(execFileSync("readlink", ["/proc/self/ns/pid"], { encoding: "utf8" }))?.[0] ?? "";
    const helper = asStranger(exchanges, folder, precious, String(deadProcess()), namespace);
    helpers.push(helper);
    await once(helper.stdout ?? helper, "data");
    for (let round = 0; round < 10; round++) {
      const engine = preloadEngine({ environment: { ...process.env, TMPDIR: folder } });
      await engine.probe();
      await engine.close();
      expect(isWhole()).toBe(true);
    }
    // Even if the folder were mistaken for ours, its owner would have to be this user.
    const own = preloadEngine({ uid: null, preloadFolders: { own: folder, passable: folder } });
    await own.probe();
    await own.close();
    expect(isWhole()).toBe(true);
  });

  it.each([
    ["a folder", "os.mkdir(sys.argv[1])"],
    ["a folder that all may write to", "os.umask(0); os.mkdir(sys.argv[1], 0o777)"],
    ["a link", "os.symlink('/root', sys.argv[1])"],
    ["a pipe", "os.mkfifo(sys.argv[1])"],
    ["a file", "open(sys.argv[1], 'w').close()"],
  ])("who made %s in place of ours gets nothing, and we are told", async (_, make) => {
    for (const name of ["glovebox", "peers", "preload"]) {
      const helper = asStranger(`import os, sys\n${make}`, path.join(folder, name));
      await once(helper, "exit");
    }
    const before = readdirSync("/root").toSorted();
    const state = process.env["XDG_STATE_HOME"];
    process.env["XDG_STATE_HOME"] = folder;
    try {
      await using glovebox = await createGlovebox({ engine: "local" });
      const failure = await glovebox.execute({ language: "python", code: "1" }).catch((error: unknown) => error);
      expect(failure).toMatchObject(refusal);
    } finally {
      if (state === undefined) delete process.env["XDG_STATE_HOME"];
      else process.env["XDG_STATE_HOME"] = state;
    }

    const places = { own: path.join(folder, "preload"), passable: path.join(folder, "preload") };
    const engine = preloadEngine({ preloadFolders: places });
    await expect(engine.create(container)).rejects.toMatchObject(refusal);
    await engine.close();

    const own = peerFolder(path.join(folder, "peers"));
    const server = new PeerServer({
      ...{ folder: own, platform: "linux", logger: pino({ level: "silent" }) },
      call: () => Promise.reject(new Error("Nobody is let in.")),
    });
    await expect(server.open()).rejects.toMatchObject(refusal);
    await own.forgetLeft();
    expect(await own.others()).toEqual([]);
    await expect(askAt(own, own.ownAddress)).rejects.toMatchObject(refusal);
    expect(readdirSync("/root").toSorted()).toEqual(before);
    expect(isWhole()).toBe(true);
  });
  const refusal = {
    errorType: "PERMISSION_DENIED",
    message: expect.stringMatching(/^Glovebox does not use .*(another user|a link|not a folder|open to other users)/),
    suggestion: expect.stringContaining("chmod"),
  };

  it("cannot look into what programs of ours write, nor reach their folders' names", async () => {
    const engine = preloadEngine();
    const made = await engine.create(container);
    await made.start();
    const real = made.folderOf?.("/work") ?? "";
    expect(real).toMatch(/preload-/);
    const base = path.dirname(path.dirname(path.dirname(real)));
    const look = `
import os, sys
def tried(work):
    try: return work()
    except OSError as error: return error.strerror
print(tried(lambda: os.listdir(sys.argv[1])), tried(lambda: os.listdir(sys.argv[2])), tried(lambda: os.mkdir(sys.argv[1] + "/x")))
`;
    const helper = asStranger(look, base, real);
    const said: string[] = [];
    helper.stdout?.on("data", (data: Buffer) => said.push(data.toString()));
    await once(helper, "close");
    expect(said.join("")).toBe("Permission denied Permission denied Permission denied\n");
    expect(statSync(base).mode & 0o777).toBe(0o711);
    await made.remove();
    expect(existsSync(path.dirname(path.dirname(real)))).toBe(false);
    await engine.close();
  });

  it("receives nothing at their own socket in place of ours", async () => {
    const peers = path.join(folder, "peers");
    mkdirSync(peers);
    const heard: string[] = [];
    const server = createServer((socket) => {
      socket.on("error", () => undefined);
      socket.on("data", (data) => {
        heard.push(data.toString());
        socket.destroy();
      });
    });
    await new Promise<void>((resolve) => void server.listen(path.join(peers, "own-1"), resolve));
    execFileSync("chown", ["-R", String(stranger), peers]);
    await expect(askAt(peerFolder(peers), path.join(peers, "own-1"))).rejects.toMatchObject(refusal);
    // Nor at one that they could move into a folder of ours.
    execFileSync("chown", ["0", peers]);
    chmodSync(peers, 0o700);
    const failure = await askAt(peerFolder(peers), path.join(peers, "own-1")).catch((error: unknown) => error);
    expect(failure).toMatchObject({ errorType: "PERMISSION_DENIED", message: expect.stringContaining("another user") });
    expect(heard).toEqual([]);
    server.close();
  });

  it("cannot connect to the socket of ours, nor see its name", async () => {
    const own = peerFolder(path.join(folder, "peers"));
    const asked: string[] = [];
    const server = new PeerServer({
      ...{ folder: own, platform: "linux", logger: pino({ level: "silent" }) },
      call: ({ name }) => {
        asked.push(name);
        return Promise.reject(new Error("Nobody is let in."));
      },
    });
    const address = await server.open();
    // Even if the folder were open, only its own user could use the socket itself.
    const connects = `
import os, socket, sys
def tried(work):
    try: return work()
    except OSError as error: return error.strerror
print(tried(lambda: socket.socket(socket.AF_UNIX).connect(sys.argv[1])), tried(lambda: os.listdir(os.path.dirname(sys.argv[1]))))
`;
    const said: string[] = [];
    for (const mode of [0o700, 0o711]) {
      chmodSync(path.dirname(address), mode);
      const helper = asStranger(connects, address);
      helper.stdout?.on("data", (data: Buffer) => said.push(data.toString()));
      await once(helper, "close");
    }
    expect(said.join("")).toBe("Permission denied Permission denied\n".repeat(2));
    expect(asked).toEqual([]);
    await server.close();
  });

  function peerFolder(place: string): PeerFolder {
    const leases = { stateOf: () => Promise.resolve("expired" as const) };
    return new PeerFolder({ folder: place, owner: "own-1", uid: 0, platform: "linux", leases });
  }

  function askAt(own: PeerFolder, address: string): Promise<unknown> {
    return new Peers(own).at(address)(readLogsContract, { id: "sbx-1" }, { principal: "local" });
  }
});
