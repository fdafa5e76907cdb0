import { describe, expect, it, type TestContext } from "vitest";
import { createGlovebox, type Glovebox } from "../helpers/wire-glovebox.ts";
import { failureOf } from "../helpers/failure-of.ts";
import { skipOrFail } from "../helpers/require.ts";
import { testImages } from "../helpers/test-images.ts";

const gvisor = { language: "python", engine: "docker", oci_runtime: "runsc" } as const;

/** A Glovebox whose Docker has gVisor; otherwise the test is a failure or a visible skip. */
async function withGvisor(context: TestContext): Promise<Glovebox> {
  const glovebox = await createGlovebox({ settings: { images: testImages } });
  context.onTestFinished(() => glovebox.close());
  const problem = await glovebox.execute({ ...gvisor, code: "pass" }).then(
    () => null,
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
  if (problem !== null) skipOrFail(context, "runsc", problem);
  return glovebox;
}

describe("a chosen OCI runtime", () => {
  it("runs the program, and the result says so and what stands in for what", async (context) => {
    const glovebox = await withGvisor(context);
    const code = "print(open('/proc/version').read())";
    const response = await glovebox.execute({ ...gvisor, code });
    expect(response).toMatchObject({ outcome: "completed", isolation: "container", oci_runtime: "runsc" });
    expect(response.memory_used_mb).toBeGreaterThan(0);
    expect(response.warnings.join(" ")).toMatch(/seccomp filter with gVisor's own kernel/);
    const other = await glovebox.execute({ language: "python", engine: "docker", code });
    expect(other).not.toHaveProperty("oci_runtime");
    expect(response.stdout, "another kernel answers").not.toBe(other.stdout);
  });

  it("distinguishes time-outs, running out of memory and failures", async (context) => {
    const glovebox = await withGvisor(context);
    const late = "import os, time\nos.fork() or os.setsid()\nprint('up', flush=True)\ntime.sleep(1000)";
    expect(await glovebox.execute({ ...gvisor, code: late, timeout_seconds: 12 })).toMatchObject({
      outcome: "timed_out",
      stdout: "up\nup\n",
    });
    const greedy = "held = b'1' * (512 * 2**20)";
    expect(await glovebox.execute({ ...gvisor, code: greedy, limits: { memory_mb: 128 } })).toMatchObject({
      outcome: "oom_killed",
      error: { error_type: "OOM_KILLED", context: { limit_mb: 128 } },
    });
    expect(await glovebox.execute({ ...gvisor, code: "raise SystemExit(3)" })).toMatchObject({
      outcome: "failed",
      exit_code: 3,
    });
  });

  it.for([
    ["docker", "nosuch", /runsc|runc/],
    ["podman", "nosuch", /podman --runtime NAME system service/],
    ["local", "runsc", /engine that runs containers/],
  ] as const)("is refused on %s when it is not there: %s", async ([engine, runtime, suggestion], context) => {
    await using glovebox = await createGlovebox({ settings: { images: testImages } });
    const running = glovebox.execute({ language: "python", code: "pass", engine, oci_runtime: runtime });
    const error = await Promise.any([failureOf(running, "UNSUPPORTED"), failureOf(running, "ENGINE_UNAVAILABLE")]);
    if (error.errorType === "ENGINE_UNAVAILABLE") skipOrFail(context, engine, error.message);
    expect(error.suggestion).toMatch(suggestion);
  });
});
