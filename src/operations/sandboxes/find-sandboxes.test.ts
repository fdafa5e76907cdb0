import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { LastFound } from "../../base/last-found.ts";
import type { ContainerSummary } from "../../engines/engine.ts";
import { labels } from "../../engines/labels.ts";
import { containerName } from "../../sandbox/owners/left-over.ts";
import { SandboxRecords, type SandboxRecord } from "../../sandbox/owners/sandbox-records.ts";
import type { PlatformParts } from "../handling/platform-parts.ts";
import { answeringEngines, listedSandboxes } from "./find-sandboxes.ts";

/** The id of a sandbox, of which the lists below show the word. */
const id = (word: string): string => `sbx-${word.padEnd(20, "0")}`;

const startMs = 1_700_000_000_000;

interface Scene {
  readonly records: SandboxRecords;
  /** What is on the engine; replaced by a test. */
  containers: ContainerSummary[];
  /** How often the engine was asked. */
  asked: number;
  readonly list: () => Promise<readonly string[]>;
}

async function scene(): Promise<Scene> {
  const folder = await mkdtemp(path.join(tmpdir(), "glovebox-records-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const records = new SandboxRecords(folder, process.getuid?.() ?? null);
  const made: Scene = {
    records,
    containers: [],
    asked: 0,
    list: async () =>
      (await listedSandboxes(platform, "docker")).map(
        (row) => `${row.sandbox_id.slice(4).replaceAll("0", "")} ${row.principal}`,
      ),
  };
  const list = async (): Promise<readonly ContainerSummary[]> => {
    made.asked += 1;
    return made.containers;
  };
  const platform = {
    records,
    leases: { stateOf: async (owner: string) => (owner === "me" ? "living" : "expired") },
    engines: { embedded: "local" },
    chooseEngine: async () => ({ engine: { name: "docker", list } }),
    lastFound: new LastFound({ maxAgeMs: 10_000, now: () => startMs }),
  } as unknown as PlatformParts;
  return made;
}

function container(sandbox: string, owner: string): ContainerSummary {
  return {
    ...{ id: `c-${sandbox}`, name: containerName(sandbox), running: true, createdAtMs: startMs },
    labels: { [labels.sandbox]: sandbox, [labels.owner]: owner, [labels.kind]: "execute", [labels.managed]: "true" },
    remove: () => Promise.resolve(),
  };
}

function record(sandbox: string, instead: Partial<SandboxRecord> = {}): SandboxRecord {
  const fixed = { engine: "docker", kind: "execute", principal: "ann", owner: "me", createdAtMs: startMs };
  return { id: sandbox, ...fixed, ...instead };
}

it("lists what it knows at once, and asks the engine behind it", async () => {
  const made = await scene();
  made.containers = [container(id("kept"), "me"), container(id("ends"), "me"), container(id("left"), "gone")];
  await made.records.add(record(id("kept")));
  await made.records.add(record(id("ends")));
  expect(await made.list()).toEqual(["kept ann", "ends ann", "left "]);
  await made.records.delete(id("ends"));
  await made.records.add(record(id("new")));
  made.containers = [container(id("kept"), "me"), container(id("new"), "me")];
  expect(await made.list()).toEqual(["kept ann", "left ", "new ann"]);
  await expect.poll(made.list).toEqual(["kept ann", "new ann"]);
});

it("knows a sandbox that was started before anybody asked by the id that it has now", async () => {
  const made = await scene();
  made.containers = [container(id("warm"), "me")];
  await made.records.add(record(id("warm"), { principal: null }));
  expect(await made.list()).toEqual(["warm "]);
  await made.records.delete(id("warm"));
  await made.records.add(record(id("given"), { startedAs: id("warm") }));
  expect(await made.list()).toEqual(["given ann"]);
});

it("does not believe a record of a sandbox that the engine did not have, nor one of a dead server", async () => {
  const made = await scene();
  await made.records.add(record(id("lost"), { createdAtMs: startMs - 60_000 }));
  expect(await made.list()).toEqual([]);
  await made.records.add(record(id("dead"), { owner: "gone" }));
  expect(await made.list()).toEqual([]);
  expect(made.asked).toBeGreaterThan(0);
});

it("asks no cluster that neither the configuration nor a sandbox on it has named", async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "glovebox-records-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const records = new SandboxRecords(folder, process.getuid?.() ?? null);
  const opened: string[] = [];
  const asked = async (parts: object): Promise<readonly string[]> => {
    opened.length = 0;
    const engines = {
      names: ["docker", "kubernetes"],
      get: async (name: string) => {
        opened.push(name);
        return { name, probe: () => Promise.resolve({ available: true }) };
      },
    };
    const config = { containerRuntime: "auto" };
    const answering = await answeringEngines({ records, engines, config, ...parts } as unknown as PlatformParts);
    expect(answering.map(({ name }) => name)).toEqual(opened);
    return opened;
  };
  expect(await asked({})).toEqual(["docker"]);
  expect(await asked({ config: { containerRuntime: "kubernetes" } })).toEqual(["docker", "kubernetes"]);
  expect(await asked({ defaultEngine: "kubernetes" })).toEqual(["docker", "kubernetes"]);
  expect(await asked({ defaultEngine: "docker", config: { containerRuntime: "kubernetes" } })).toEqual(["docker"]);
  await records.add(record(id("one"), { engine: "kubernetes" }));
  expect(await asked({})).toEqual(["docker", "kubernetes"]);
});
