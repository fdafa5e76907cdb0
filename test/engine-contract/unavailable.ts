import { mkdtemp, rename, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";
import type { Engine } from "../../src/engines/engine.ts";
import { failureOf } from "../helpers/failure-of.ts";
import type { Topic } from "./behaviour.ts";
import type { Scene } from "./scene.ts";

/** A folder with the socket of a server that is gone, as a crashed engine leaves it. */
async function folderWithDeadSocket(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "glovebox-contract-"));
  const server = createServer();
  server.listen(join(folder, "live.sock"));
  await once(server, "listening");
  // When the server closes, it would remove the socket under its original name.
  await rename(join(folder, "live.sock"), join(folder, "dead.sock"));
  server.close();
  return folder;
}

async function expectUnavailable(scene: Scene, engine: Engine): Promise<void> {
  const probe = await engine.probe();
  if (probe.available) throw new Error("The probe says that the engine is available.");
  expect(probe.reason).not.toMatch(/\bE[A-Z]{4,}\b/);
  expect(probe.reason).not.toBe("");
  expect(probe.howToStart).not.toBe("");
  const reference = scene.subject.images.minimal;
  const calls = {
    capabilities: () => engine.capabilities(),
    create: () => engine.create(scene.spec()),
    list: () => engine.list(scene.labels),
    has: () => engine.images.has(reference),
    pull: () => engine.images.pull(reference, { useCredentials: true }),
  };
  for (const [name, call] of Object.entries(calls)) {
    const error = await failureOf(call(), "ENGINE_UNAVAILABLE");
    expect(error.message, name).not.toMatch(/\bE[A-Z]{4,}\b/);
    expect(error.suggestion, name).not.toBe("");
  }
}

/** An engine that is not there says so, and how to start it. */
export const unavailable: Topic = (behaviour) => {
  for (const [id, socket] of [
    ["unavailable.no-socket", "absent.sock"],
    ["unavailable.nobody-listens", "dead.sock"],
  ] as const) {
    behaviour(
      id,
      "the probe tells how to start it, and every call says that it is unavailable",
      async (scene) => {
        if (scene.subject.makeAt === undefined) throw new Error("The behaviour needs makeAt.");
        const folder = await folderWithDeadSocket();
        const engine = await scene.subject.makeAt(join(folder, socket));
        try {
          await expectUnavailable(scene, engine);
        } finally {
          await engine.close();
          await rm(folder, { recursive: true });
        }
      },
      { subject: "makeAt" },
    );
  }
};
