import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it, type TestContext } from "vitest";
import { fixtureProgram } from "../helpers/fixture-program.ts";
import { OrdinaryUser, ordinaryUserFault, type UserCommandResult } from "../helpers/ordinary-user.ts";
import { skipOrFail } from "../helpers/require.ts";

const commandMs = 60_000;

describe("glovebox run of an ordinary user, who cannot create control groups", () => {
  const fault = ordinaryUserFault();
  let user: OrdinaryUser | undefined;

  beforeAll(() => {
    if (fault === null) user = new OrdinaryUser();
  });
  afterAll(() => user?.[Symbol.dispose]());

  function run(
    context: TestContext,
    program: string,
    options: readonly string[],
    parameters: readonly string[] = [],
  ): Promise<UserCommandResult> {
    if (user === undefined) skipOrFail(context, "ordinary-user", fault ?? "its copy could not be made");
    const code = fixtureProgram(program).at(-1) ?? "";
    return user.run(
      ["bin/glovebox", "run", "--engine", "local", "--language", "python", ...options, "-c", code, ...parameters],
      commandMs,
    );
  }

  it("ends a program whose children together pass the memory limit, and says which limits are soft", async (context) => {
    const { exitCode, stdout, stderr } = await run(context, "greedy-children.py", ["--memory", "512m"]);
    expect({ exitCode, stdout }).toEqual({ exitCode: 137, stdout: "" });
    expect(stderr).toMatch(/^glovebox: Engine local replaces a memory limit with a check every 50 ms/m);
    expect(stderr).toMatch(/^glovebox: Engine local does not enforce a CPU limit/m);
  });

  it("answers that it ran out of memory, and how much it had", async (context) => {
    const { stdout } = await run(context, "greedy-children.py", ["--memory", "512m", "--json"]);
    expect(JSON.parse(stdout)).toMatchObject({ outcome: "oom_killed", stdout: "" });
  });

  it.for(["shared", "orphan", "first", "child"])("counts memory of what is out of sight (%s)", async (how, context) => {
    const { exitCode } = await run(context, "allocates-out-of-sight.py", ["--memory", "128m"], [how, "600"]);
    expect(exitCode).toBe(137);
  });

  it("ends a program that stops every process near it at its time", async (context) => {
    const { exitCode, stdout } = await run(context, "stops-everybody.py", ["--timeout", "2s"]);
    expect(stdout).toBe("ready\n");
    // What watches over it is of its own user here: stopped as well, it is ended as lost, else at its time.
    expect([124, 125]).toContain(exitCode);
  });

  it("leaves the user half of the file watchers, and most of what limits of processes bound", async (context) => {
    const { stdout } = await run(context, "counts-what-users-share.py", []);
    const [watchers = Number.NaN, signals, queues, locked] = stdout.trim().split(" ").map(Number);
    const all = Number(readFileSync("/proc/sys/fs/inotify/max_user_instances", "utf8"));
    expect(watchers).toBeGreaterThan(0);
    expect(watchers).toBeLessThanOrEqual(Math.ceil(all / 2));
    expect({ signals, queues, locked }).toEqual({ signals: 1_024, queues: 262_144, locked: 65_536 });
  });
});
