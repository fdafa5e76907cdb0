import { describe, expect, it } from "vitest";
import type { ToolingLook } from "../../sandbox/look-at-tooling.ts";
import type { ToolingReport } from "../run/explain-tooling.ts";
import { ToolingTraces } from "./tooling-traces.ts";

/** A project that a test writes to, and what is told of it. */
function open() {
  const files = new Map<string, string>();
  const told: string[] = [];
  const state = { isReadable: true };
  const traces = new ToolingTraces({
    look: (): Promise<ToolingLook | null> =>
      Promise.resolve(state.isReadable ? { snapshot: new Map(files), isWhole: true, gaps: [] } : null),
    redact: (text) => text,
    onEdge: () => Promise.resolve(),
    alerts: {
      happened: (_, { changed, gaps }: ToolingReport) => void told.push(...changed.map(({ path }) => path), ...gaps),
      ended: () => void told.push("ended"),
    },
  });
  const command = async (isGone: boolean): Promise<ToolingReport> =>
    traces.end(await traces.begin(false), { sandbox: "sbx-1", process: { isGone: () => Promise.resolve(isGone) } });
  return { files, told, state, traces, command };
}

const nothing = { changed: [], gaps: [] };

describe("ToolingTraces", () => {
  it("tells at the end what something left behind changed after the last command", async () => {
    const { files, told, traces, command } = open();
    expect(await command(false)).toEqual(nothing);
    files.set(".envrc", "1");
    const last = { changed: [{ path: ".envrc", change: "new" }], gaps: [] };
    expect(await traces.close()).toEqual(last);
    expect(await traces.close()).toEqual(last);
    expect(told).toEqual([".envrc", "ended"]);
  });

  it("remembers what an earlier command left until that has ended, whatever later ones say of their own", async () => {
    const { files, traces, command } = open();
    let isGone = false;
    const first = await traces.begin(false);
    await traces.end(first, { sandbox: "sbx-1", process: { isGone: () => Promise.resolve(isGone) } });
    await command(true);
    expect(traces.hasLeft).toBe(true);
    files.set(".envrc", "1");
    expect(await command(true)).toMatchObject({ changed: [{ path: ".envrc" }] });
    isGone = true;
    await command(true);
    expect(traces.hasLeft).toBe(false);
  });

  it("takes for the owner's what changes while nothing can be running", async () => {
    const { files, told, traces, command } = open();
    await command(true);
    files.set(".envrc", "1");
    expect(await traces.close()).toEqual(nothing);
    expect(told).toEqual(["ended"]);
  });

  it("tells at the end what a background process changed that had no end of its own, once", async () => {
    const { files, told, traces } = open();
    const key = {};
    const exit = Promise.withResolvers<never>();
    const trace = await traces.begin(false);
    traces.follow(key, trace, {
      sandbox: "sbx-1",
      process: { exit: exit.promise, isGone: () => Promise.resolve(true) },
    });
    files.set(".envrc", "1");
    expect(await traces.reportOf(key)).toMatchObject({ changed: [{ path: ".envrc" }] });
    files.set(".npmrc", "1");
    const last = await traces.close();
    expect(last.changed.map(({ path }) => path)).toEqual([".envrc", ".npmrc"]);
    exit.reject(new Error("its container is gone"));
    expect(await traces.reportOf(key)).toEqual(last);
    expect(told).toEqual([".envrc", ".npmrc", "ended"]);
  });

  it("tells at the end what background processes changed that its end has ended", async () => {
    const { files, traces } = open();
    const exit = Promise.withResolvers<{ readonly code: number }>();
    const trace = await traces.begin(false);
    traces.follow({}, trace, {
      sandbox: "sbx-1",
      process: { exit: exit.promise as never, isGone: () => Promise.resolve(true) },
    });
    files.set(".envrc", "1");
    traces.ending();
    exit.resolve({ code: 143 });
    await exit.promise;
    expect(await traces.close()).toEqual({ changed: [{ path: ".envrc", change: "new" }], gaps: [] });
  });

  it("does not take a look that failed for one that found nothing, at the next command and at the end", async () => {
    const { files, state, traces, command } = open();
    state.isReadable = false;
    expect(await command(false)).toEqual({ changed: [], gaps: ["gone"] });
    state.isReadable = true;
    files.set(".envrc", "1");
    expect(await command(false)).toEqual({ changed: [], gaps: ["gone"] });
    state.isReadable = false;
    expect(await traces.close()).toEqual({ changed: [], gaps: ["gone"] });
  });
});
