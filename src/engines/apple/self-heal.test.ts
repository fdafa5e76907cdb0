import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Engine } from "../engine.ts";
import { runMended } from "../run-mended.ts";
import { fileRecord, SelfHeal, type SelfHealOptions } from "./open-apple.ts";

const text = "connect ETIMEDOUT 1.2.3.4:443";
let folder: string;
let folders = 0;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "self-heal-"));
});
afterAll(() => rm(folder, { recursive: true }));

interface Scene {
  readonly heal: SelfHeal;
  readonly logged: string[];
  readonly restarts: () => number;
  readonly clock: { atMs: number };
}

function scene(changes: Partial<SelfHealOptions> = {}): Scene {
  const clock = { atMs: 1_000_000 };
  const logged: string[] = [];
  const log = (_fields: object, message: string): void => void logged.push(message);
  let restarts = 0;
  const heal = new SelfHeal({
    rule: "idle",
    live: async () => [],
    restart: async () => {
      restarts += 1;
      clock.atMs += 10;
    },
    record: fileRecord(path.join(folder, String(++folders))),
    now: () => clock.atMs,
    logger: { info: log, warn: log },
    patience: { waitMs: 20, lookMs: 5 },
    ...changes,
  });
  return { heal, logged, restarts: () => restarts, clock };
}

describe("self-heal", () => {
  it("restarts the service after what looks like a network timeout, and says so", async () => {
    const { heal, logged, restarts, clock } = scene();
    expect(await heal.mend({ text, beganAtMs: clock.atMs })).toBe(true);
    expect(restarts()).toBe(1);
    expect(logged).toEqual([expect.stringContaining("is restarted"), expect.stringContaining("it was restarted")]);
  });

  it("leaves it alone after any other error", async () => {
    const { heal, restarts } = scene();
    expect(await heal.mend({ text: "401 Unauthorized", beganAtMs: 0 })).toBe(false);
    expect(restarts()).toBe(0);
  });

  it("does so once however many runs fail together, and each of them is tried once more", async () => {
    const ids = Array.from({ length: 20 }, (_, index) => `sb-${index}`);
    const { heal, restarts, clock } = scene({ live: async () => ids });
    const engine = { mend: (trouble) => heal.mend(trouble) } as Engine;
    const tries = new Map<string, number>();
    const runs = ids.map((id) =>
      runMended({
        engine,
        now: () => clock.atMs,
        run: async () => {
          tries.set(id, (tries.get(id) ?? 0) + 1);
          return tries.get(id) === 1 ? `${id}: ${text}` : "done";
        },
        troubleOf: (result) => (result === "done" ? null : { text: result, container: id }),
      }),
    );
    expect(await Promise.all(runs)).toEqual(ids.map(() => "done"));
    expect(restarts()).toBe(1);
    expect([...tries.values()]).toEqual(ids.map(() => 2));
  });

  it("does not restart again for a run that began before the last restart", async () => {
    const { heal, restarts, clock, logged } = scene();
    const beganAtMs = clock.atMs;
    await heal.mend({ text, beganAtMs });
    expect(await heal.mend({ text, beganAtMs })).toBe(true);
    expect(restarts()).toBe(1);
    expect(logged.at(-1)).toContain("since the run began");
  });

  it("waits 60 s before the next one", async () => {
    const { heal, restarts, clock, logged } = scene();
    await heal.mend({ text, beganAtMs: clock.atMs });
    clock.atMs += 59_000;
    expect(await heal.mend({ text, beganAtMs: clock.atMs })).toBe(false);
    expect(logged.at(-1)).toContain("too short ago");
    clock.atMs += 1_001;
    expect(await heal.mend({ text, beganAtMs: clock.atMs })).toBe(true);
    expect(restarts()).toBe(2);
  });

  it("remembers the last one across processes, and lets one of them do it", async () => {
    const place = path.join(folder, "shared");
    const first = scene({ record: fileRecord(place) });
    expect(await first.heal.mend({ text, beganAtMs: first.clock.atMs })).toBe(true);
    const second = scene({ record: fileRecord(place) });
    second.clock.atMs += 1_000;
    expect(await second.heal.mend({ text, beganAtMs: second.clock.atMs })).toBe(false);
    second.clock.atMs += 60_000;
    using lock = fileRecord(place).lock();
    expect(lock).not.toBeNull();
    expect(await second.heal.mend({ text, beganAtMs: second.clock.atMs })).toBe(false);
    expect(second.logged.at(-1)).toContain("another process");
    expect(second.restarts()).toBe(0);
  });

  it.each([
    ["idle", false, "other sandboxes are live"],
    ["always", true, "it was restarted"],
    ["never", false, "the configuration allows no restart"],
  ] as const)("beside another live sandbox, with the rule %s: %s", async (rule, mended, why) => {
    const { heal, logged, clock } = scene({ rule, live: async () => ["other", "own"] });
    expect(await heal.mend({ text, container: "own", beganAtMs: clock.atMs })).toBe(mended);
    expect(logged.at(-1)).toContain(why);
  });

  it("gives up on a restart that fails, and does not try it again at once", async () => {
    const restart = async (): Promise<void> => {
      throw new Error("it hangs");
    };
    const { heal, logged, clock } = scene({ restart });
    expect(await heal.mend({ text, beganAtMs: clock.atMs })).toBe(false);
    expect(logged.at(-1)).toContain("the restart failed");
    expect(await heal.mend({ text, beganAtMs: clock.atMs + 1 })).toBe(false);
    expect(logged.at(-1)).toContain("too short ago");
  });
});

describe("runMended", () => {
  const failing = async (): Promise<string> => {
    throw new Error("outer", { cause: new Error(text) });
  };

  it("looks at what an error and its causes say, and throws the second one", async () => {
    const { heal, restarts } = scene();
    const engine = { mend: (trouble) => heal.mend(trouble) } as Engine;
    const parts = { now: () => 0, troubleOf: () => null };
    await expect(runMended({ engine, run: failing, ...parts })).rejects.toThrow("outer");
    expect(restarts()).toBe(1);
  });

  it("has one run where an engine cannot be mended", async () => {
    let runs = 0;
    const run = async (): Promise<string> => `${text} ${++runs}`;
    const parts = { now: () => 0, troubleOf: (result: string) => ({ text: result }) };
    expect(await runMended({ engine: {} as Engine, run, ...parts })).toBe(`${text} 1`);
  });
});
