import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { installAppleCli, type AppleCli } from "./install.ts";

interface Listed {
  readonly id: string;
  readonly configuration: { readonly labels: object; readonly resources: object };
  readonly status: { readonly state: string; readonly networks: readonly object[]; readonly startedDate?: string };
}

describe.each(["docker"])("the stand-in for Apple's command, on %s", () => {
  let cli: AppleCli;
  beforeAll(async () => {
    cli = await installAppleCli();
  });
  afterAll(() => cli.remove());

  const minimal = process.env["GLOVEBOX_TEST_IMAGE_MINIMAL"] ?? "glovebox-test/minimal:1";
  const list = async (): Promise<readonly Listed[]> =>
    JSON.parse((await cli.call(["list", "-a", "--format", "json"])).stdout) as readonly Listed[];

  it("runs a program with its input, its two streams and its code", async () => {
    const script = "cat; echo fault >&2; exit 7";
    const words = ["run", "--rm", "-i", "--progress", "none", "--", minimal, "sh", "-c", script];
    expect(await cli.call(words, "read")).toEqual({ exitCode: 7, stdout: "read", stderr: "fault\n" });
    expect(await list()).toEqual([]);
  });

  it("writes progress to standard error unless told to be quiet", async () => {
    const { stdout, stderr } = await cli.call(["run", "--rm", minimal, "echo", "said"]);
    expect(stdout).toBe("said\n");
    expect(stderr).toMatch(/^\[\d\/\d\] /);
  });

  it("reports a missing program with a special code, and leaves no container", async () => {
    const { exitCode, stderr } = await cli.call(["run", "--progress", "none", minimal, "no-such-program"]);
    expect(exitCode).toBe(1);
    expect(stderr).toContain("failed to find target executable no-such-program");
    expect(await list()).toEqual([]);
  });

  it("keeps a container through its states", async () => {
    const options = ["--name", "box", "-l", "k=v", "-m", "256m", "--network", "none", "--init"];
    expect(await cli.call(["create", ...options, "--", minimal, "sh", "-c", "echo begun; sleep 600"])).toMatchObject({
      exitCode: 0,
      stdout: "box\n",
    });
    expect(await list()).toMatchObject([
      {
        id: "box",
        configuration: { labels: { k: "v" }, resources: { cpus: 4, memoryInBytes: 256 * 1024 ** 2 } },
        status: { state: "stopped", networks: [] },
      },
    ]);
    expect((await cli.call(["create", ...options, minimal])).stderr).toBe("Error: container already exists: box\n");
    expect((await cli.call(["run", ...options, minimal])).stderr).toBe("Error: container with id box already exists\n");
    expect(await cli.call(["start", "box"])).toMatchObject({ exitCode: 0, stdout: "box\n" });
    expect(await cli.call(["start", "box"]), "again").toMatchObject({ exitCode: 0, stdout: "box\n" });
    const [running] = await list();
    expect(running?.status.state).toBe("running");
    expect(running?.status.startedDate).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);

    const fed = await cli.call(["exec", "-i", "-e", "A=b", "--", "box", "sh", "-c", "cat; echo $A >&2; exit 3"], "in");
    expect(fed).toEqual({ exitCode: 3, stdout: "in", stderr: "b\n" });
    expect((await cli.call(["exec", "box", "no-such-program"])).stderr).toContain("failed to find target executable");
    expect((await cli.call(["logs", "box"])).stdout).toBe("begun\n");
    expect(await cli.call(["delete", "box"])).toEqual({
      exitCode: 1,
      stdout: "",
      stderr:
        'Error: internalError: "failed to delete container" (cause: "invalidState: "container box is running and can not be deleted"")\n',
    });
    expect(await cli.call(["stop", "-t", "30", "box"])).toMatchObject({ exitCode: 0, stdout: "box\n" });
    expect((await cli.call(["exec", "box", "true"])).stderr).toBe("Error: container box is not running\n");
    expect((await cli.call(["kill", "box"])).stderr).toContain("no runtime client exists: container is stopped");
    expect(await cli.call(["delete", "box", "other"])).toEqual({
      exitCode: 1,
      stdout: "box\n",
      stderr:
        'Error: internalError: "failed to delete container" (cause: "notFound: "container with ID other not found"")\n',
    });
  });

  it("ends a program's output with the program, even if others go on writing", async () => {
    const run = ["run", "-d", "--rm", "--progress", "none", "--init", "--name", "loud", minimal, "sleep", "600"];
    expect((await cli.call(run)).exitCode).toBe(0);
    const { exitCode, stdout } = await cli.call(["exec", "loud", "sh", "-c", "(sleep 0.2; exec yes) & echo END"]);
    expect(exitCode).toBe(0);
    expect(stdout.startsWith("END\n")).toBe(true);
    expect(stdout.length).toBeLessThan(32 * 1024 ** 2);
    expect(await cli.call(["kill", "loud"])).toMatchObject({ stdout: "loud\n" });
  });

  it("knows images that are there, and those that are not", async () => {
    const { exitCode, stdout } = await cli.call(["image", "inspect", minimal]);
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject([{ configuration: { name: `docker.io/${minimal}` } }]);
    expect(stdout.split("\n").slice(0, 3)).toEqual(["[", "  {", '    "configuration" : {']);
    expect(stdout).toContain(String.raw`"docker.io\/`);
    expect(await cli.call(["image", "inspect", "b:1", "a:1"])).toEqual({
      exitCode: 1,
      stdout: "",
      stderr: "Error: image not found: a:1, b:1\n",
    });
  });
});
