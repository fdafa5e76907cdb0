import { beforeEach, describe, expect, it } from "vitest";
import { isRequired } from "../helpers/require.ts";
import { runCommand, type CommandResult } from "../helpers/run-command.ts";

describe.each(["docker", "podman"] as const)("a deployment that is prebuilt_only, on %s,", (engine) => {
  beforeEach((context) => {
    if (!isRequired(engine)) context.skip(`GLOVEBOX_TEST_REQUIRE does not list ${engine}`);
  });
  const glovebox = (...argv: string[]): Promise<CommandResult> =>
    runCommand([...argv, "--engine", engine], { environment: { GLOVEBOX_PREBUILT_ONLY: "true" } });

  it("runs in the images that are there", async () => {
    expect(await glovebox("run", "-c", "print(1)")).toMatchObject({ exitCode: 0, stdout: "1\n" });
  });

  it.each([
    ["runs in no other", ["run", "--image", "localhost:1/no/such:image", "-c", "print(1)"]],
    ["pulls none", ["images", "pull", "localhost:1/no/such:image"]],
    ["builds none", ["images", "build"]],
  ])("%s", async (_, argv) => {
    const { exitCode, stderr } = await glovebox(...argv);
    expect(stderr).toMatch(/would have to be pulled or built, which this deployment does not allow \(prebuilt_only\)/);
    expect(exitCode).not.toBe(0);
  });
});
