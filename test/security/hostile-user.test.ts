import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createId } from "../../src/base/id.ts";
import { projectFolder } from "../helpers/project-folder.ts";
import { runCommand } from "../helpers/run-command.ts";

/** Neither root nor an existing user of the machine. */
const hostile = { uid: 54_321, gid: 54_321 };
const isRoot = process.getuid?.() === 0;

/** Only the embedded engine: the others play no part in this. */
const noEngines = { DOCKER_HOST: "unix:///nowhere", CONTAINER_HOST: "unix:///nowhere" };

let base = "";
const at = (...names: readonly string[]): string => path.join(base, ...names);
beforeEach(() => (base = mkdtempSync(path.join(os.tmpdir(), "glovebox-test-hostile-"))));
afterEach(() => rmSync(base, { recursive: true, force: true }));

/** Runs a program as the hostile user; returns what it printed. */
const asHostile = (code: string): string => {
  const options = ["--reuid", String(hostile.uid), "--regid", String(hostile.gid), "--clear-groups"];
  return execFileSync("setpriv", [...options, process.execPath, "-e", code], { cwd: "/", encoding: "utf8" });
};

describe("another user of this machine", () => {
  beforeEach((context) => {
    if (!isRoot) context.skip("only root can become another user");
  });

  it("gets at nothing of a live server's: its socket for peers, its lease, its records", async () => {
    const environment = { ...noEngines, XDG_STATE_HOME: at("state") };
    const server = spawn(process.execPath, [path.join(projectFolder, "test/fixtures/idle-session.ts"), "local"], {
      env: { ...process.env, ...environment },
      stdio: ["ignore", "pipe", "inherit"],
    });
    try {
      await once(server.stdout, "data");
      // The parent folder belongs to the test and is open: each of our folders must protect itself.
      execFileSync("chmod", ["755", base, at("state")]);
      const paths = ["peers", "leases", "sandboxes"].flatMap((name) => {
        const folder = at("state", "glovebox", name);
        return [folder, ...readdirSync(folder).map((file) => path.join(folder, file))];
      });
      expect(paths.length).toBeGreaterThanOrEqual(6);
      const told = asHostile(`
        const fs = require("node:fs"), net = require("node:net");
        const tries = { list: fs.readdirSync, read: fs.readFileSync, write: (p) => fs.writeFileSync(p, "x"),
          remove: fs.rmSync, move: (p) => fs.renameSync(p, p + "x"), make: (p) => fs.mkdirSync(p + "/x") };
        for (const path of ${JSON.stringify(paths)}) for (const [name, attempt] of Object.entries(tries)) {
          try { attempt(path); console.log(name, path); } catch {}
        }
        for (const path of ${JSON.stringify(paths)})
          net.connect(path).on("connect", () => console.log("connected", path)).on("error", () => {});
      `);
      expect(told).toBe("");
      expect((await runCommand(["ps", "--json"], { environment })).stdout).toContain('"owner":"living"');
    } finally {
      server.kill("SIGTERM");
      if (server.exitCode === null && server.signalCode === null) await once(server, "exit");
    }
  });

  it("cannot have root's sweep remove files through a state folder of theirs", async () => {
    mkdirSync(at("victim", "kept"), { recursive: true });
    writeFileSync(at("victim", "file"), "kept");
    mkdirSync(at("theirs", "glovebox"), { recursive: true });
    for (const name of ["sessions", "peers", "leases", "sandboxes"]) {
      symlinkSync(at("victim"), at("theirs", "glovebox", name));
    }
    execFileSync("chown", ["-hR", `${hostile.uid}:${hostile.gid}`, at("theirs")]);
    const { exitCode, stderr } = await runCommand(["prune", "--json"], {
      environment: { ...noEngines, XDG_STATE_HOME: at("theirs") },
    });
    expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 });
    expect(readdirSync(at("victim")).toSorted()).toEqual(["file", "kept"]);
  });

  it("cannot have root's command visit a socket of theirs by a record of theirs", async () => {
    const sandbox = createId("sbx");
    const folder = at("theirs", "glovebox");
    for (const name of ["sandboxes", "leases"]) mkdirSync(path.join(folder, name), { recursive: true });
    let visits = 0;
    const trap = createServer((socket) => {
      visits += 1;
      socket.destroy();
    }).listen(at("trap"));
    await once(trap, "listening");
    const owner = createId("own");
    const lease = {
      process: { machine: "elsewhere", pid: 1, startTicks: null },
      renewedAtMs: Date.now(),
      renewedUptimeMs: 0,
    };
    writeFileSync(path.join(folder, "leases", `${owner}.json`), JSON.stringify(lease));
    const record = { id: sandbox, engine: "local", kind: "session", principal: "local", owner, createdAtMs: 0 };
    const text = JSON.stringify({ ...record, peerAddress: at("trap") });
    writeFileSync(path.join(folder, "sandboxes", `${sandbox}.json`), text);
    execFileSync("chown", ["-hR", `${hostile.uid}:${hostile.gid}`, at("theirs")]);
    chownSync(at("trap"), hostile.uid, hostile.gid);
    try {
      const environment = { ...noEngines, XDG_STATE_HOME: at("theirs") };
      const visited = await runCommand(["exec", sandbox, "--", "true"], { environment });
      expect(visited.exitCode).not.toBe(0);
      expect(visited.stderr).toContain("NOT_FOUND");
      expect((await runCommand(["ps", "--json"], { environment })).stdout).not.toContain(sandbox);
      expect(visits).toBe(0);
    } finally {
      trap.close();
    }
    expect(existsSync(at("trap"))).toBe(false);
  });
});
