import { describe, expect, it, vi } from "vitest";
import type { WorkArchive, WorkArchives } from "../../sandbox/work-archives.ts";
import type { SandboxPackages } from "./session-packages.ts";
import type { SandboxNeeds, SessionSandbox } from "./session-sandbox.ts";
import type { SessionSettings } from "./session-call.ts";
import { Sessions } from "./sessions.ts";

const ignore = (): void => undefined;
const parts = {
  archives: {} as WorkArchives,
  idleMs: 60_000,
  waiting: () => 0,
  now: () => 0,
  logger: { debug: ignore, info: ignore, warn: ignore, error: ignore },
};
const caller = { principal: "ann" };

/** A sandbox that has to be replaced after its first call, and that its engine cannot remove. */
class StuckSandbox {
  readonly sandbox = { id: "sbx-stuck", state: "running" };
  mustReplace = false;

  isAlive(): Promise<boolean> {
    return Promise.resolve(!this.mustReplace);
  }

  check(): Promise<object> {
    return Promise.resolve({});
  }

  remove(): Promise<void> {
    return Promise.reject(new Error("The engine is away."));
  }
}

/** One whose files can be kept. */
class IdleSandbox {
  readonly sandbox = { id: "sbx-idle", state: "running", files: { pack: noBytes, unpack: async () => undefined } };
  readonly capabilities = { programs: "any" };
  readonly profile = { scratch: { places: [] } };
  readonly runner = { dismiss: async () => undefined };
  readonly endInterpreters = async (): Promise<void> => undefined;
  readonly mustReplace = false;
  readonly isAlive = async (): Promise<boolean> => true;
  readonly check = async (): Promise<object> => ({});
  readonly remove = async (): Promise<void> => undefined;
}

async function* noBytes(): AsyncGenerator<Uint8Array, void, undefined> {
  // An empty archive.
}

function needsOf(opened: object[], make: () => object = () => new StuckSandbox()): SandboxNeeds {
  const needs = {
    missing: () => Promise.resolve(null),
    prepare: (specs: unknown) => Promise.resolve({ specs } as SandboxPackages),
    open: (): Promise<SessionSandbox> => {
      const sandbox = make();
      opened.push(sandbox);
      return Promise.resolve(sandbox as unknown as SessionSandbox);
    },
  };
  return needs as unknown as SandboxNeeds;
}

it("a sandbox that cannot be removed after a call takes neither that call's result nor the turn of those that follow", async () => {
  const sessions = new Sessions(parts);
  const session = sessions.create({} as SessionSettings, caller);
  const opened: StuckSandbox[] = [];
  const use = (): Promise<string> =>
    session.use(caller, needsOf(opened), ({ live }) => {
      (live as unknown as StuckSandbox).mustReplace = true;
      return Promise.resolve("done");
    });
  await expect(use()).resolves.toBe("done");
  await expect(use()).resolves.toBe("done");
  expect(opened).toHaveLength(2);
  await session.end();
});

it("a session that was stopped is told that its kept files had to go, and only then", async () => {
  let gaveWay = false;
  const archive: WorkArchive = {
    get gaveWay() {
      return gaveWay;
    },
    read: noBytes,
    [Symbol.asyncDispose]: async () => undefined,
  };
  const sessions = new Sessions({ ...parts, archives: { save: async () => archive } as unknown as WorkArchives });
  const session = sessions.create({} as SessionSettings, caller);
  const use = () =>
    session.use(
      caller,
      needsOf([], () => new IdleSandbox()),
      async ({ warnings }) => warnings.join(),
    );
  expect(await use()).toBe("");
  await session.stop();
  expect(await use()).toContain("a new one with the same files in /work");
  await session.stop();
  gaveWay = true;
  expect(await use()).toContain("the files that were kept of it had to go");
  await session.end();
});

it("a session has a bound of calls that wait for their turn, which others do not feel", async () => {
  const sessions = new Sessions(parts);
  const needs = needsOf([], () => new IdleSandbox());
  const [session, other] = [
    sessions.create({} as SessionSettings, caller),
    sessions.create({} as SessionSettings, caller),
  ];
  const { promise, resolve } = Promise.withResolvers<string>();
  const gone = new AbortController();
  const first = session.use(caller, needs, () => promise);
  const waiting = Array.from({ length: 99 }, () => session.use(caller, needs, async () => "its turn"));
  const leaves = session.use({ ...caller, signal: gone.signal }, needs, async () => "never");
  const tooMany = session.use(caller, needs, async () => "too many").catch((error: unknown) => error);
  await expect(other.use(caller, needs, async () => "another's")).resolves.toBe("another's");
  // One that leaves makes room.
  gone.abort();
  await expect(leaves).rejects.toMatchObject({ errorType: "CANCELLED" });
  const last = session.use(caller, needs, async () => "last");
  resolve("first");
  expect(await Promise.all([first, waiting[0], last])).toEqual(["first", "its turn", "last"]);
  expect(await tooMany).toMatchObject({
    errorType: "CAPACITY",
    message: "100 calls of this session wait already.",
    context: { session_id: session.id, limit: 100, retry_after_seconds: 5 },
  });
  await Promise.all(waiting);
  await sessions.close();
});

describe("calls of different contexts", () => {
  const python = { language: "python", toolchain: "python" } as const;

  /** A session with contexts whose sandboxes are counted. */
  function open(archives: WorkArchives = parts.archives) {
    const sessions = new Sessions({ ...parts, archives });
    const session = sessions.create({} as SessionSettings, caller);
    const opened: IdleSandbox[] = [];
    const begun: string[] = [];
    const needs = needsOf(opened, () => new IdleSandbox());
    /** A call that lasts until it is told to end. */
    const call = (context: string, name: string, more: Partial<SandboxNeeds> = {}) => {
      const { promise, resolve } = Promise.withResolvers<string>();
      const used = session.use(
        caller,
        { ...needs, ...more },
        async ({ live }) => {
          begun.push(name);
          return `${await promise} in ${opened.indexOf(live as unknown as IdleSandbox)}`;
        },
        session.contexts.ofCall(context, python),
      );
      return { used, end: () => resolve(name) };
    };
    return { sessions, session, opened, begun, call };
  }

  it("run at once in one sandbox, and those of one context one after another", async () => {
    const { sessions, opened, begun, call } = open();
    const [a1, a2, b1] = [call("a", "a1"), call("a", "a2"), call("b", "b1")];
    await vi.waitFor(() => expect(begun).toEqual(["a1", "b1"]));
    b1.end();
    expect(await b1.used).toBe("b1 in 0");
    expect(begun).toEqual(["a1", "b1"]);
    a1.end();
    await vi.waitFor(() => expect(begun).toEqual(["a1", "b1", "a2"]));
    a2.end();
    expect(await Promise.all([a1.used, a2.used])).toEqual(["a1 in 0", "a2 in 0"]);
    expect(opened).toHaveLength(1);
    await sessions.close();
  });

  it("are waited for by one that needs another sandbox, before which no other begins", async () => {
    const archive = { gaveWay: false, read: noBytes, [Symbol.asyncDispose]: async () => undefined };
    const { sessions, opened, begun, call } = open({ save: async () => archive } as unknown as WorkArchives);
    const first = call("a", "first");
    await vi.waitFor(() => expect(begun).toEqual(["first"]));
    const wanted = { python: ["six"], npm: [] };
    const replaces = call("b", "replaces", {
      missing: async (known) => (known === wanted ? null : wanted),
      grow: async () => false,
    });
    const later = call("c", "later");
    const removed = vi.spyOn(opened[0] ?? new IdleSandbox(), "remove");
    // However long it takes.
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(begun).toEqual(["first"]);
    expect(removed).not.toHaveBeenCalled();
    first.end();
    await vi.waitFor(() => expect(begun).toEqual(["first", "replaces", "later"]));
    expect(removed).toHaveBeenCalledOnce();
    replaces.end();
    later.end();
    expect(await Promise.all([first.used, replaces.used, later.used])).toEqual([
      "first in 0",
      "replaces in 1",
      "later in 1",
    ]);
    await sessions.close();
  });

  it("end before their sandbox is given up, by whichever of them it cannot be used any more", async () => {
    const { sessions, opened, begun, call } = open();
    const [bad, good] = [call("a", "bad"), call("b", "good")];
    await vi.waitFor(() => expect(begun).toHaveLength(2));
    const sandbox = opened[0] ?? new IdleSandbox();
    const removed = vi.spyOn(sandbox, "remove");
    Object.assign(sandbox, { mustReplace: true, isAlive: async () => false });
    bad.end();
    await bad.used;
    const next = call("a", "next");
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(begun).toEqual(["bad", "good"]);
    expect(removed).not.toHaveBeenCalled();
    good.end();
    expect(await good.used).toBe("good in 0");
    await vi.waitFor(() => expect(begun).toEqual(["bad", "good", "next"]));
    expect(removed).toHaveBeenCalledOnce();
    next.end();
    expect(await next.used).toBe("next in 1");
    await sessions.close();
  });

  it("keep their session from being stopped, and end before its sandbox does", async () => {
    const { sessions, session, opened, begun, call } = open();
    const running = call("a", "running");
    await vi.waitFor(() => expect(begun).toEqual(["running"]));
    expect(session.canStop).toBe(false);
    await session.stop();
    const removed = vi.spyOn(opened[0] ?? new IdleSandbox(), "remove");
    const ended = session.end();
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(removed).not.toHaveBeenCalled();
    running.end();
    await ended;
    expect(removed).toHaveBeenCalledOnce();
    expect(await running.used).toBe("running in 0");
    await sessions.close();
  });

  it("count together among those that wait", async () => {
    const { sessions, begun, call } = open();
    const running = [call("a", "a"), call("b", "b")];
    await vi.waitFor(() => expect(begun).toHaveLength(2));
    const waiting = Array.from({ length: 100 }, (_, index) => call(index % 2 === 0 ? "a" : "b", `w${index}`));
    const tooMany = call("c", "too many");
    const refused = tooMany.used.catch((error: unknown) => error);
    for (const each of [...running, ...waiting, tooMany]) each.end();
    expect(await refused).toMatchObject({ errorType: "CAPACITY", context: { limit: 100 } });
    await Promise.all([...running, ...waiting].map(({ used }) => used));
    await sessions.close();
  });
});
