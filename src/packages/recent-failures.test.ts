import { describe, expect, it } from "vitest";
import { GloveboxError } from "../errors/glovebox-error.ts";
import { installFailed } from "./install.ts";
import { RecentFailures } from "./packages.ts";

describe("RecentFailures", () => {
  it("tries what failed again after ten minutes, and what was cancelled at once", async () => {
    let now = 0;
    let tries = 0;
    const failures = new RecentFailures(() => now);
    const attempt = (id: string, error: GloveboxError): Promise<unknown> =>
      failures
        .unlessRecent(id, () => {
          tries += 1;
          return Promise.reject(error);
        })
        .catch((caught: unknown) => caught);
    const failed = installFailed(["a"], "x");
    expect(await attempt("a", failed)).toBe(failed);
    expect(await attempt("a", new GloveboxError("INTERNAL", "never seen"))).toBe(failed);
    expect(tries).toBe(1);
    now = 600_001;
    await attempt("a", failed);
    expect(tries).toBe(2);
    const cancelled = new GloveboxError("CANCELLED", "x");
    await attempt("b", cancelled);
    expect(await attempt("b", cancelled)).toBe(cancelled);
    expect(tries).toBe(4);
  });

  it("keeps a bounded number of them", async () => {
    const failures = new RecentFailures(() => 0);
    const failed = installFailed(["a"], "x");
    for (let index = 0; index < 501; index += 1)
      await failures.unlessRecent(String(index), () => Promise.reject(failed)).catch(() => undefined);
    await expect(failures.unlessRecent("0", () => Promise.resolve("again"))).resolves.toBe("again");
    await expect(failures.unlessRecent("500", () => Promise.resolve("again"))).rejects.toBe(failed);
  });
});
