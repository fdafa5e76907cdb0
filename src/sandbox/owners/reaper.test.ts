import { mkdtemp, rm } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createId } from "../../base/id.ts";
import type { ContainerSummary, Engine } from "../../engines/engine.ts";
import { labels, managed } from "../../engines/labels.ts";
import { Leases } from "./leases.ts";
import { containerName } from "../sandbox-plan.ts";
import { identityOf } from "./process-identity.ts";
import { Reaper } from "./reaper.ts";
import { SandboxRecords } from "./sandbox-records.ts";

const quiet = (): undefined => undefined;
const logger = { debug: quiet, info: quiet, warn: quiet, error: quiet };
const nowMs = Date.parse("2026-11-22T12:00:00Z");
let folder = "";
beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), "glovebox-test-reaper-"));
});
afterEach(() => rm(folder, { recursive: true }));

/** What an engine has, as its list tells it. */
interface Listed {
  readonly owner: string;
  readonly expiresInMs: number;
  readonly running?: boolean;
  readonly name?: string;
}

/** An engine that has these containers, and nothing else that a sweep asks for. */
function engineWith(listed: readonly Listed[]) {
  const there = new Map<string, ContainerSummary>();
  const stuck = new Set<string>();
  let lists = 0;
  for (const { owner, expiresInMs, running = false, name } of listed) {
    const sandbox = createId("sbx");
    const expiresAt = new Date(nowMs + expiresInMs).toISOString();
    there.set(sandbox, {
      id: sandbox,
      name: name ?? containerName(sandbox),
      labels: { ...managed, [labels.owner]: owner, [labels.sandbox]: sandbox, [labels.expiresAt]: expiresAt },
      running,
      createdAtMs: nowMs,
      remove: async () => {
        if (stuck.has(sandbox)) throw new Error("no removal");
        there.delete(sandbox);
      },
    });
  }
  const engine = {
    name: "docker",
    images: { list: () => Promise.resolve([]) },
    list: () => {
      lists += 1;
      return Promise.resolve([...there.values()]);
    },
  } as unknown as Engine;
  return {
    engine,
    stuck,
    ids: () => [...there.keys()],
    owners: () => [...there.values()].map((left) => left.labels[labels.owner]),
    lists: () => lists,
  };
}

function reaperOf(stranded: Map<string, string> = new Map()): Reaper {
  const leases = new Leases({
    folder,
    uid: process.getuid?.() ?? null,
    owner: "own-this",
    identity: identityOf(process.pid, "this-host"),
    logger,
    now: () => nowMs,
    uptimeMs: () => 0,
  });
  const nothingLeft = { forgetLeft: () => Promise.resolve() };
  const records = new SandboxRecords(path.join(folder, "records"), process.getuid?.() ?? null);
  return new Reaper({
    leases,
    records,
    archives: nothingLeft,
    diskScratch: nothingLeft,
    peerFolder: nothingLeft,
    stranded,
    logger,
    now: () => nowMs,
  });
}

describe("a sweep", () => {
  it("removes what is left of unknown owners after their time, and nothing before it", async () => {
    const { engine, owners } = engineWith([
      { owner: "own-this", expiresInMs: -1 },
      { owner: "own-late", expiresInMs: -1 },
      { owner: "own-in-time", expiresInMs: 1 },
      { owner: "own-runs", expiresInMs: -1, running: true },
      { owner: "own-not-ours", expiresInMs: -1, name: "quiet_turing" },
    ]);
    expect(await reaperOf().sweep(engine)).toHaveLength(1);
    expect(owners()).toEqual(["own-this", "own-in-time", "own-runs", "own-not-ours"]);
  });
});

describe("a sweep of a server that lives", () => {
  it("removes its own sandboxes that could not be removed when they ended, and no other of its own", async () => {
    const { engine, owners, ids } = engineWith([
      { owner: "own-this", expiresInMs: 1 },
      { owner: "own-this", expiresInMs: 1, running: true },
    ]);
    const [first = "", second = ""] = ids();
    const stranded = new Map([[first, "docker"]]);
    expect(await reaperOf(stranded).sweep(engine)).toEqual([first]);
    expect(owners()).toEqual(["own-this"]);
    expect(ids()).toEqual([second]);
    expect([...stranded]).toEqual([]);
  });

  it("at the server's end looks once more on the engines of those that could not be removed, and on no other", async () => {
    const of = (engine: Engine, name: string): Engine => Object.assign(engine, { name });
    const docker = engineWith([{ owner: "own-this", expiresInMs: 1 }]);
    const podman = engineWith([]);
    const [id = ""] = docker.ids();
    const stranded = new Map<string, string>();
    const reaper = reaperOf(stranded);
    reaper.watch(of(docker.engine, "docker"));
    reaper.watch(of(podman.engine, "podman"));
    await reaper.close();
    expect([docker.lists(), podman.lists()]).toEqual([1, 1]);
    stranded.set(id, "docker");
    await reaper.sweepStranded();
    expect([docker.lists(), podman.lists()]).toEqual([2, 1]);
    expect([docker.ids(), [...stranded]]).toEqual([[], []]);
  });

  it("looks again for one that it cannot remove, and no longer for one that its engine does not have", async () => {
    const { engine, ids, stuck } = engineWith([{ owner: "own-this", expiresInMs: 1 }]);
    const [there = ""] = ids();
    const stranded = new Map([
      [there, "docker"],
      [createId("sbx"), "docker"],
      ["sbx-of-podman", "podman"],
    ]);
    stuck.add(there);
    expect(await reaperOf(stranded).sweep(engine)).toEqual([]);
    expect([...stranded.keys()]).toEqual([there, "sbx-of-podman"]);
    stuck.clear();
    expect(await reaperOf(stranded).sweep(engine)).toEqual([there]);
    expect([...stranded.keys()]).toEqual(["sbx-of-podman"]);
  });
});

describe("watching an engine", () => {
  it("sweeps it at once and each minute, until it is closed", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    try {
      const { engine, lists } = engineWith([]);
      const reaper = reaperOf();
      reaper.watch(engine);
      reaper.watch(engine);
      await expect.poll(lists).toBe(1);
      for (const minute of [1, 2, 3]) {
        vi.advanceTimersByTime(60_000);
        await expect.poll(lists).toBe(minute + 1);
      }
      await reaper.close();
      vi.advanceTimersByTime(600_000);
      expect(lists()).toBe(4);
    } finally {
      vi.useRealTimers();
    }
  });

  it("goes on after an engine that was down", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    try {
      const { engine, lists } = engineWith([{ owner: "own-late", expiresInMs: -1 }]);
      let isDown = true;
      const flaky = {
        ...engine,
        list: (wanted: Readonly<Record<string, string>>) =>
          isDown ? Promise.reject(new Error("down")) : engine.list(wanted),
      };
      const reaper = reaperOf();
      reaper.watch(flaky);
      isDown = false;
      vi.advanceTimersByTime(60_000);
      await expect.poll(lists).toBe(1);
      await reaper.close();
    } finally {
      vi.useRealTimers();
    }
  });
});
