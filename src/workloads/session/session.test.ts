import { expect, it } from "vitest";
import type { WorkArchive, WorkArchives } from "../../sandbox/work-archives.ts";
import type { SandboxPackages } from "./packages/sandbox-packages.ts";
import type { SandboxNeeds } from "./sandbox-needs.ts";
import type { SessionSettings } from "./session-call.ts";
import type { SessionSandbox } from "./session-sandbox.ts";
import { Sessions } from "./sessions.ts";

const ignore = (): void => undefined;
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
  const sessions = new Sessions({
    archives: {} as WorkArchives,
    idleMs: 60_000,
    waiting: () => 0,
    now: () => 0,
    logger: { debug: ignore, info: ignore, warn: ignore, error: ignore },
  });
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
  const sessions = new Sessions({
    archives: { save: async () => archive } as unknown as WorkArchives,
    idleMs: 60_000,
    waiting: () => 0,
    now: () => 0,
    logger: { debug: ignore, info: ignore, warn: ignore, error: ignore },
  });
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
  const sessions = new Sessions({
    archives: {} as WorkArchives,
    idleMs: 60_000,
    waiting: () => 0,
    now: () => 0,
    logger: { debug: ignore, info: ignore, warn: ignore, error: ignore },
  });
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
