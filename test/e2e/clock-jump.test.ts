import { afterEach, describe, expect, it, vi } from "vitest";
import { engines, useGlovebox } from "../helpers/open-glovebox.ts";
import { useOwnSandboxes } from "../helpers/own-sandboxes.ts";
import { runCommand } from "../helpers/run-command.ts";
import { sessionImages } from "../helpers/test-images.ts";

const day = 24 * 3_600_000;
const state = useOwnSandboxes();
afterEach(() => void vi.useRealTimers());

/** A command of another user whose clock is wrong by this much. */
const pruneWithClock = (byMs: number) =>
  runCommand(["prune", "--json"], {
    environment: {
      ...state.environment(),
      NODE_OPTIONS: `--import=data:text/javascript,const%20real=Date.now;Date.now=()=>real()+${byMs}`,
    },
  });

describe.each(engines)("a clock that is set on %s", (engine) => {
  const glovebox = useGlovebox(engine, { settings: { images: sessionImages, session: { idle_timeout: "1h" } } });

  it.each([400 * day, -400 * day])("by %d ms ends no session, and no time limit", async (jumpMs) => {
    const python = (code: string, timeout_seconds = 30) =>
      glovebox().runCode({ language: "python", packages: [], code, timeout_seconds });
    const before = await python("open('kept', 'w').write('here')");
    // The server's own clock; its timers use the kernel's clock, which cannot be set.
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + jumpMs });
    expect((await pruneWithClock(jumpMs)).exitCode).toBe(0);
    const after = await python("print(open('kept').read())");
    expect(after).toMatchObject({ stdout: "here\n", restarted: false, container_id: before.container_id });
    const late = await python("import time\ntime.sleep(60)", 1);
    expect(late).toMatchObject({ outcome: "timed_out" });
    expect(late.duration_ms).toBeGreaterThanOrEqual(1_000);
    expect(late.duration_ms).toBeLessThan(10_000);
  });
});
