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

  it.for(["shared", "orphan"])("counts memory that is %s", async (how, context) => {
    const { exitCode } = await run(context, "allocates-out-of-sight.py", ["--memory", "128m"], [how, "600"]);
    expect(exitCode).toBe(137);
  });

  it("ends a program that stops every process near it at its time", async (context) => {
    const { exitCode, stdout } = await run(context, "stops-everybody.py", ["--timeout", "2s"]);
    expect({ exitCode, stdout }).toEqual({ exitCode: 124, stdout: "ready\n" });
  });
});
