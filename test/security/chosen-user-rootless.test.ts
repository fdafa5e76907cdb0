import { randomInt } from "node:crypto";
import { chmodSync, mkdtempSync, readFileSync, realpathSync, rmSync, statSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { describe, expect, it, type TestContext } from "vitest";
import { mebibyte } from "../../src/base/bytes.ts";
import type { Container, Process } from "../../src/engines/engine.ts";
import { guardEngine } from "../../src/engines/guarded-engine.ts";
import { createPodmanEngine } from "../../src/engines/podman/podman-engine.ts";
import { SandboxFiles } from "../../src/sandbox/files/sandbox-files.ts";
import { chosenUser, type UserPlace } from "../../src/sandbox/added-program.ts";
import { outcomeOf } from "../helpers/outcome-of.ts";
import { sleepersFor, uniqueSeconds } from "../helpers/processes.ts";
import { rootlessSocket, rootlessSpec } from "../helpers/rootless-podman.ts";
import { until } from "../helpers/until.ts";

interface RootlessSandbox {
  readonly container: Container;
  readonly place: UserPlace;
  /** The person who runs the engine. */
  readonly person: number;
}

async function sandboxFor(context: TestContext): Promise<RootlessSandbox> {
  const service = rootlessSocket(context);
  const profiles = realpathSync(mkdtempSync(path.join(os.tmpdir(), "glovebox-test-")));
  chmodSync(profiles, 0o755);
  const engine = guardEngine(
    createPodmanEngine({
      environment: { CONTAINER_HOST: `unix://${service}` },
      platform: process.platform,
      uid: process.getuid?.() ?? null,
      randomInteger: randomInt,
      profileFolder: profiles,
    }),
  );
  const container = await engine.create({ ...rootlessSpec(), scratch: [{ path: "/tmp", sizeBytes: mebibyte }] });
  context.onTestFinished(async () => {
    await container.remove();
    await engine[Symbol.asyncDispose]();
    rmSync(profiles, { recursive: true });
  });
  await container.start();
  const capabilities = await engine.capabilities();
  const files = new SandboxFiles(container, capabilities);
  return {
    container,
    place: { capabilities, files, engineName: "podman", writablePaths: [] },
    person: statSync(service).uid,
  };
}

async function outputOf({ output }: Process): Promise<string> {
  const pieces: Uint8Array[] = [];
  for await (const { bytes } of output) pieces.push(bytes);
  return Buffer.concat(pieces).toString();
}

describe("a chosen user on Podman without root", () => {
  it("is that one inside, another than every user of the host outside, and has no capability", async (context) => {
    const { container, place, person } = await sandboxFor(context);
    const seconds = uniqueSeconds();
    const user = await chosenUser(place, "1000");
    const line = `id -u; id -g; grep Cap /proc/self/status; sleep ${seconds}`;
    const program = await container.exec({ command: ["sh", "-c", line], user });
    await until(() => sleepersFor(seconds).length > 0);
    const [pid] = sleepersFor(seconds);
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    const [, outside = ""] = /^Uid:\t(\d+)/m.exec(status) ?? [];
    expect(Number(outside)).toBeGreaterThan(100_000);
    expect(Number(outside)).not.toBe(person);
    await program.kill("SIGKILL");
    expect(await outputOf(program)).toMatch(/^1000\n1000\n(?:Cap\w+:\t0{16}\n){5}$/);
  });

  it("is no user of the host, no supervisor and no text that means one", async (context) => {
    const { place } = await sandboxFor(context);
    for (const asked of ["0", "root", "1000:0"]) {
      expect(await outcomeOf(chosenUser(place, asked)), asked).toMatchObject({ errorType: "UNSUPPORTED" });
    }
    // Of the sandbox's own programs, and of those that end them: no word leads there, nor does the file of names.
    for (const asked of ["glovebox", "nobody", "65533", "60706", "0x0", "-1", "4294967295", "../"]) {
      expect(await outcomeOf(chosenUser(place, asked)), asked).toMatchObject({ errorType: "INVALID_REQUEST" });
    }
  });

  it("can neither signal the sandbox's own programs nor read or change their files", async (context) => {
    const { container, place } = await sandboxFor(context);
    const seconds = uniqueSeconds();
    const owner = await container.exec({
      command: ["sh", "-c", `umask 077; echo own >/tmp/own; sleep ${seconds}`],
    });
    await until(() => sleepersFor(seconds).length > 0);
    const attack =
      "cat /tmp/own; echo x >/tmp/own; mv /tmp/own /tmp/other; kill -9 1; kill -9 -1; for p in /proc/[0-9]*; do kill -9 ${p#/proc/}; cat $p/environ; done; echo end";
    const stranger = await container.exec({
      command: ["sh", "-c", `trap '' 9; (${attack}) 2>/dev/null; echo end`],
      user: await chosenUser(place, "1000"),
    });
    await outputOf(stranger);
    expect(sleepersFor(seconds)).toHaveLength(1);
    const reader = await container.exec({ command: ["cat", "/tmp/own"] });
    expect(await outputOf(reader)).toBe("own\n");
    await owner.kill("SIGKILL");
    await outputOf(owner);
  });
});
