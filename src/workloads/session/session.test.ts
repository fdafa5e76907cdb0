import { expect, it } from "vitest";
import type { WorkArchives } from "../../sandbox/work-archives.ts";
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

function needsOf(opened: StuckSandbox[]): SandboxNeeds {
  const needs = {
    missing: () => Promise.resolve(null),
    prepare: (specs: unknown) => Promise.resolve({ specs } as SandboxPackages),
    open: (): Promise<SessionSandbox> => {
      const sandbox = new StuckSandbox();
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
