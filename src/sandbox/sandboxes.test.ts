import { describe, expect, it } from "vitest";
import type { Container, Engine, Process } from "../engines/engine.ts";
import type { ContainerSpec } from "../engines/container-spec.ts";
import { Admission } from "./admission.ts";
import type { SandboxRecord } from "./owners/sandbox-records.ts";
import { until } from "../../test/helpers/until.ts";
import { GloveboxError } from "../errors/glovebox-error.ts";
import { Sandbox } from "./sandbox.ts";
import type { SandboxPlan } from "./sandbox-plan.ts";
import { Sandboxes, type SandboxesOptions } from "./sandboxes.ts";

const quiet = (): undefined => undefined;
const warned: string[] = [];
const warn = (_: unknown, message: string): void => void warned.push(message);
const logger = { debug: quiet, info: quiet, warn, error: quiet };
const caller = { principal: "somebody" };
const limits = { cpus: 1, memoryBytes: 1, pids: 1 };
const plan = { kind: "execute", lifetimeMs: 1_000, image: "any:1", limits, scratch: [] } as unknown as SandboxPlan;

/** What goes wrong in an engine's next container. */
type Fault = "none" | "create" | "answer" | "answer and list" | "start" | "start and remove";

/** An engine that can make containers and start them, or not; and sandboxes of which one may live at a time by default. */
function scene({
  maxSandboxes = 1,
  startsAtOnce,
  room = 100,
}: { maxSandboxes?: number; startsAtOnce?: number; room?: number } = {}) {
  const there = new Set<string>();
  const specs: (ContainerSpec & { readonly name: string })[] = [];
  const records: SandboxRecord[] = [];
  const stranded = new Map<string, string>();
  const clock = { ms: 0 };
  let fault: Fault = "none";
  let removal: Promise<void> = Promise.resolve();
  let starting: Promise<void> = Promise.resolve();
  const containerOf = (name: string): Container =>
    ({
      id: name,
      start: () => (fault.startsWith("start") ? Promise.reject(new Error("no start")) : starting),
      remove: async () => {
        if (fault === "start and remove") throw new Error("no removal");
        await removal;
        there.delete(name);
      },
    }) as unknown as Container;
  const engine = {
    name: "docker",
    capabilities: () => Promise.resolve({}),
    create: (spec: ContainerSpec & { readonly name: string }) => {
      const { name } = spec;
      if (fault === "create") return Promise.reject(new Error("no container"));
      const used = specs.filter((each) => there.has(each.name)).map((each) => each.limits.memoryBytes);
      if (used.reduce((sum, bytes) => sum + bytes, spec.limits.memoryBytes) > room)
        return Promise.reject(new GloveboxError("CAPACITY", "The quota is used up."));
      there.add(name);
      specs.push(spec);
      if (fault.startsWith("answer")) return Promise.reject(new Error("no answer"));
      return Promise.resolve(containerOf(name));
    },
    list: (wanted: Readonly<Record<string, string>>) => {
      if (fault === "answer and list") return Promise.reject(new Error("no list"));
      const found = specs.filter(({ labels: own }) =>
        Object.entries(wanted).every(([key, value]) => own[key] === value),
      );
      const named = found.filter(({ name }) => there.has(name));
      return Promise.resolve(named.map(({ name, labels: own }) => ({ name, labels: own, ...containerOf(name) })));
    },
  } as unknown as Engine;
  const sandboxes = new Sandboxes({
    admission: new Admission({ maxSandboxes, queueLimit: 0, queueTimeoutMs: 60_000 }),
    leases: { hold: () => Promise.resolve() } as SandboxesOptions["leases"],
    records: {
      add: (record: SandboxRecord) => Promise.resolve(void records.push(record)),
      delete: () => Promise.resolve(),
    } as unknown as SandboxesOptions["records"],
    peerServer: { open: () => Promise.resolve("address") },
    platform: "linux",
    owner: "own-this",
    stranded,
    startsAtOnce,
    logger,
    now: () => clock.ms,
  });
  /** Starts from now on take until the function that comes back is called. */
  const holdStarts = (): (() => void) => {
    const held = Promise.withResolvers<void>();
    starting = held.promise;
    return held.resolve;
  };
  /** Removals from now on take until the function that comes back is called. */
  const holdRemovals = (): (() => void) => {
    const held = Promise.withResolvers<void>();
    removal = held.promise;
    return held.resolve;
  };
  return {
    sandboxes,
    engine,
    there,
    stranded,
    specs,
    records,
    holdStarts,
    holdRemovals,
    clock,
    break: (next: Fault) => void (fault = next),
  };
}

describe("a start that fails", () => {
  it.each(["create", "answer", "start"] as const)(
    "(%s) leaves no container and gives its place back",
    async (fault) => {
      const { sandboxes, engine, there, break: breakIt } = scene();
      breakIt(fault);
      await expect(sandboxes.open(engine, plan, caller)).rejects.toThrow(/^no /);
      expect([...there], "nothing is left on the engine").toEqual([]);
      breakIt("none");
      const next: unknown = await sandboxes.open(engine, plan, caller).catch((error: unknown) => error);
      expect(next, "its place is free").toBeInstanceOf(Sandbox);
      expect(sandboxes.live).toEqual([next]);
    },
  );

  it("is told as it was when its rest stays behind, which is named as left; its place is free all the same", async () => {
    const { sandboxes, engine, there, break: breakIt } = scene();
    breakIt("start and remove");
    await expect(sandboxes.open(engine, plan, caller)).rejects.toThrow("no start");
    const [stuck = ""] = there;
    expect(sandboxes.left).toEqual([stuck.replace("glovebox-", "")]);
    breakIt("none");
    await (await sandboxes.open(engine, plan, caller)).remove();
  });
});

describe("a start whose engine went away before it answered", () => {
  it("names its sandbox as left, for the sweep of its engine, and gives its place back", async () => {
    const { sandboxes, engine, there, stranded, break: breakIt } = scene();
    breakIt("answer and list");
    await expect(sandboxes.open(engine, plan, caller)).rejects.toThrow("no answer");
    const [made = ""] = there;
    const id = made.replace("glovebox-", "");
    expect([...stranded]).toEqual([[id, "docker"]]);
    expect(sandboxes.left).toEqual([id]);
    breakIt("none");
    expect(await sandboxes.open(engine, plan, caller)).toBeInstanceOf(Sandbox);
  });
});

describe("a sandbox", () => {
  it("holds its place until it is removed", async () => {
    const { sandboxes, engine } = scene();
    const first = await sandboxes.open(engine, plan, caller);
    await expect(sandboxes.open(engine, plan, caller)).rejects.toMatchObject({ errorType: "CAPACITY" });
    await first.remove();
    await (await sandboxes.open(engine, plan, caller)).remove();
  });
});

describe("a program of a sandbox that cannot be ended", () => {
  it("is in the log, unless the sandbox is being removed with all that runs in it", async () => {
    const { sandboxes, engine, holdRemovals } = scene();
    const sandbox = await sandboxes.open(engine, plan, caller);
    const release = holdRemovals();
    const process = { kill: () => Promise.reject(new Error("no kill")) } as unknown as Process;
    warned.length = 0;
    expect(await sandbox.endLeftBehind(process)).toBe("unclean");
    expect(warned).toEqual(["a process may not have ended"]);
    const removed = sandbox.remove();
    expect(await sandbox.endLeftBehind(process)).toBe("unclean");
    expect(warned).toHaveLength(1);
    release();
    await removed;
  });
});

describe("a sandbox that is left", () => {
  it("holds its place until it is gone; nobody waits for that but the next request, which is not refused", async () => {
    const { sandboxes, engine, there, holdRemovals } = scene();
    const letGo = holdRemovals();
    {
      await using left = await sandboxes.open(engine, plan, caller);
      left.leave();
      expect(sandboxes.find(left.id), "it is not to be had any more").toBeUndefined();
      expect(sandboxes.left).toEqual([left.id]);
    }
    expect(there.size, "its scope has ended before it").toBe(1);
    let next: Sandbox | undefined;
    const opening = sandboxes.open(engine, plan, caller).then((opened) => (next = opened));
    await expect(sandboxes.open(engine, plan, caller), "one place serves one").rejects.toMatchObject({
      errorType: "CAPACITY",
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect(next, "two would live at once").toBeUndefined();
    letGo();
    expect(await opening).toBe(next);
    expect([...there]).toEqual([next?.containerId]);
  });

  it("is waited for when the sandboxes are closed", async () => {
    const { sandboxes, engine, there, holdRemovals } = scene();
    const letGo = holdRemovals();
    (await sandboxes.open(engine, plan, caller)).leave();
    let isClosed = false;
    const closing = sandboxes.close().then(() => (isClosed = true));
    await new Promise((resolve) => setImmediate(resolve));
    expect(isClosed).toBe(false);
    letGo();
    await closing;
    expect([there.size, sandboxes.left]).toEqual([0, []]);
  });

  it("is named as left when it could not be removed, and its place is free", async () => {
    const { sandboxes, engine, break: breakIt } = scene();
    const sandbox = await sandboxes.open(engine, plan, caller);
    breakIt("start and remove");
    sandbox.leave();
    breakIt("none");
    await sandboxes.open(engine, plan, caller);
    expect(sandboxes.left).toContain(sandbox.id);
  });
});

describe("admission and creation", () => {
  it("starts as many at once as may, and one that nobody has asked for delays none of them", async () => {
    const { sandboxes, engine, there, holdStarts } = scene({ maxSandboxes: 4, startsAtOnce: 1 });
    const goOn = holdStarts();
    const spare = sandboxes.create(engine, plan);
    const [first, second] = [sandboxes.open(engine, plan, caller), sandboxes.open(engine, plan, caller)];
    await until(() => there.size === 2);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(there.size, "the spare one and the first").toBe(2);
    goOn();
    await Promise.all([spare, first, second]);
    expect(there.size).toBe(3);
  });

  it("create takes no place, admit makes no container", async () => {
    const { sandboxes, engine, there } = scene();
    await sandboxes.create(engine, plan);
    await sandboxes.create(engine, plan);
    expect(there.size).toBe(2);
    const place = await sandboxes.admit(caller);
    expect(there.size).toBe(2);
    await expect(sandboxes.admit(caller)).rejects.toMatchObject({ errorType: "CAPACITY" });
    place.release();
    expect(sandboxes.left, "both are known").toHaveLength(2);
    expect(sandboxes.live, "and nobody's").toEqual([]);
    await sandboxes.close();
    expect([...there], "nobody's sandboxes end with the rest").toEqual([]);
  });

  it("give way where the engine has no room, once, and only to somebody's sandbox", async () => {
    const { engine, sandboxes, there } = scene({ maxSandboxes: 9, room: 2 });
    await sandboxes.create(engine, plan);
    await sandboxes.create(engine, plan);
    await expect(sandboxes.create(engine, plan)).rejects.toMatchObject({ errorType: "CAPACITY" });
    expect(there.size).toBe(2);
    const opened = await sandboxes.open(engine, plan, caller).catch((error: unknown) => error);
    expect(opened).toBeInstanceOf(Sandbox);
    expect([...there]).toEqual([`glovebox-${(opened as Sandbox).id}`]);
    await sandboxes.open(engine, plan, caller);
    await expect(sandboxes.open(engine, plan, caller)).rejects.toMatchObject({ errorType: "CAPACITY" });
    expect(there.size, "what is somebody's stays").toBe(2);
  });

  it("stay where their going did not help one no larger, until something ends or a minute is over", async () => {
    const { engine, sandboxes, there, clock } = scene({ maxSandboxes: 9, room: 3 });
    const asked = async (memoryBytes: number, more: Partial<SandboxPlan> = {}): Promise<string> => {
      for (let free = 2 - there.size; free > 0; free -= 1) await sandboxes.create(engine, plan);
      const opened = sandboxes.open(engine, { ...plan, limits: { ...limits, memoryBytes }, ...more }, caller);
      const outcome = await opened.then(
        (sandbox) => sandbox.remove().then(() => "has room"),
        (error: unknown) => (error as GloveboxError).errorType,
      );
      return `${outcome}, ${there.size} wait`;
    };
    expect(await asked(4)).toBe("CAPACITY, 0 wait");
    expect(await asked(4)).toBe("CAPACITY, 2 wait");
    expect(await asked(5, { mounts: [{ source: "/a", target: "/b", readOnly: true }] })).toBe("CAPACITY, 2 wait");
    // On other nodes there may be room.
    expect(await asked(4, { ociRuntime: "kata" })).toBe("CAPACITY, 0 wait");
    clock.ms = 59_999;
    expect(await asked(4)).toBe("CAPACITY, 2 wait");
    clock.ms = 60_000;
    expect(await asked(4)).toBe("CAPACITY, 0 wait");
    expect(await asked(4)).toBe("CAPACITY, 2 wait");
    expect(await asked(3)).toBe("has room, 0 wait");
    expect(await asked(4)).toBe("CAPACITY, 0 wait");
  });

  it("an adopted sandbox takes its principal's place until it is removed, and the record says whose it is", async () => {
    const { sandboxes, engine, records } = scene();
    const sandbox = await sandboxes.create(engine, plan);
    expect(records, "nobody's").toEqual([]);
    const place = await sandboxes.admit({ principal: "ann" });
    const id = "sbx-00000000000000000009";
    sandboxes.adopt(sandbox, { principal: "ann", place, begunMs: 0, identity: { id, labels: { of: "ann" } } });
    expect(sandboxes.find(id)).toBe(sandbox);
    await until(() => records.length === 1);
    expect(records).toMatchObject([{ id, principal: "ann", labels: { of: "ann" } }]);
    await expect(sandboxes.admit(caller)).rejects.toMatchObject({ errorType: "CAPACITY" });
    await sandbox.remove();
    (await sandboxes.admit(caller)).release();
  });

  it("labels say nothing of who asks, however a sandbox comes to be", async () => {
    const { sandboxes, engine, specs } = scene();
    await sandboxes.create(engine, plan);
    await sandboxes.open(engine, plan, { principal: "ann" });
    const names = specs.map(({ labels }) => Object.keys(labels).toSorted());
    expect(names[0]).toEqual(names[1]);
    expect(names[0]).toEqual(["expires-at", "kind", "managed", "owner", "sandbox"].map((name) => `glovebox.${name}`));
    expect(JSON.stringify(specs)).not.toContain("ann");
  });

  it("nobody gets a sandbox that has ended, or that somebody has", async () => {
    const { sandboxes, engine } = scene();
    const ended = await sandboxes.create(engine, plan);
    await ended.remove();
    const place = await sandboxes.admit(caller);
    const adopt = (sandbox: Sandbox, principal: string): void =>
      sandboxes.adopt(sandbox, { principal, place, begunMs: 0 });
    expect(() => adopt(ended, "ann")).toThrow("has ended");
    const taken = await sandboxes.create(engine, plan);
    adopt(taken, "ann");
    expect(() => adopt(taken, "bob")).toThrow("belongs to somebody");
  });
});
