import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, it, onTestFinished, describe } from "vitest";
import { LastFound } from "../base/kept.ts";
import type { ContainerSummary } from "../engines/engine.ts";
import { labels } from "../engines/labels.ts";
import { containerName } from "../sandbox/sandbox-plan.ts";
import { SandboxRecords, type SandboxRecord } from "../sandbox/owners/sandbox-records.ts";
import { answeringEngines, listedSandboxes, meantSandbox, type SandboxesNeeds } from "./sandboxes-handler.ts";
import { createId } from "../base/id.ts";
import { nameSchema } from "./contract/request-schemas.ts";

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
  } as unknown as SandboxesNeeds;
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
    const answering = await answeringEngines({ records, engines, config, ...parts } as unknown as SandboxesNeeds);
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

const mine = { id: "sbx-4fz3k2m9q0r5t7w8x1y2", name: "build" };
const elsewhere = { id: "sbx-9fz3k2m9q0r5t7w8x1y2", name: "docs" };
const others = { id: "sbx-ab00k2m9q0r5t7w8x1y2", name: "deploy" };
const written = [
  { ...mine, principal: "local" },
  { ...elsewhere, principal: "local" },
  { ...others, principal: "key-1" },
];
const platform = {
  sandboxes: { recordsOf: (principal: string) => (principal === "local" ? [mine] : []) },
  records: { list: () => Promise.resolve(written) },
} as unknown as Pick<SandboxesNeeds, "sandboxes" | "records">;
const meant = (word: string, principal = "local", isOperator = true): Promise<string> =>
  meantSandbox(platform, word, { principal, isOperator });

it("no id that is made is a name", () => {
  for (const prefix of ["sbx", "run", "ses", "env", "proc"]) {
    expect(nameSchema.safeParse(createId(prefix)).success).toBe(false);
  }
});

describe("the sandbox that a word means", () => {
  it("is the operator's own in any process, by its name or the beginning of its id", async () => {
    expect(await meant("build")).toBe(mine.id);
    expect(await meant("docs")).toBe(elsewhere.id);
    expect(await meant("9fz3")).toBe(elsewhere.id);
  });

  it("is for the operator no other principal's by the name that that one gave, but by its id", async () => {
    expect(await meant("deploy")).toBe("deploy");
    expect(await meant("ab00")).toBe(others.id);
  });

  it("is for others only their own in this process", async () => {
    expect(await meant("deploy", "key-1", false)).toBe("deploy");
    expect(await meant("build", "key-1", false)).toBe("build");
    expect(await meant("4fz3", "key-1", false)).toBe("4fz3");
    expect(await meant("docs", "local", false)).toBe("docs");
  });
});
