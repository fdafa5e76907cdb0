import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { skipOrFail } from "../helpers/require.ts";
import { testRegistryAddress, testRegistryFault } from "../helpers/test-registry.ts";
import { installAppleCli, type AppleCli } from "./install.ts";

const minimal = process.env["GLOVEBOX_TEST_IMAGE_MINIMAL"] ?? "glovebox-test/minimal:1";

describe.each(["docker"])("what the stand-in for Apple's command keeps beside containers, on %s", () => {
  let cli: AppleCli;
  let folder: string;
  beforeAll(async () => {
    cli = await installAppleCli();
    folder = await mkdtemp(path.join(tmpdir(), "apple-cli-test-"));
    await cli.call([
      "run",
      "-d",
      "--progress",
      "none",
      "--init",
      "--name",
      "box",
      "-v",
      "kept:/kept",
      "--",
      minimal,
      "sleep",
      "600",
    ]);
  });
  afterAll(async () => {
    await cli.remove();
    await rm(folder, { recursive: true });
  });

  it("volumes are listed with their size, and stay while a container has them", async () => {
    expect(await cli.call(["volume", "create", "-s", "2m", "--label", "a=b", "small"])).toMatchObject({
      stdout: "small\n",
    });
    expect((await cli.call(["volume", "create", "small"])).stderr).toBe("Error: volume 'small' already exists\n");
    expect(JSON.parse((await cli.call(["volume", "list", "--format", "json"])).stdout)).toMatchObject([
      { id: "kept", configuration: { sizeInBytes: 512 * 1024 ** 3, labels: {} } },
      { id: "small", configuration: { sizeInBytes: 2 * 1024 ** 2, labels: { a: "b" } } },
    ]);
    const fill = [
      "run",
      "--rm",
      "--progress",
      "none",
      "-v",
      "small:/small",
      minimal,
      "sh",
      "-c",
      "cat /dev/zero >/small/f",
    ];
    expect((await cli.call(fill)).stderr).toContain("No space left on device");
    const second = await cli.call(["run", "--progress", "none", "-v", "kept:/kept", minimal, "true"]);
    expect([second.exitCode, second.stderr]).toEqual([1, expect.stringContaining("VZErrorDomain Code=2")]);
    const used = await cli.call(["volume", "delete", "kept", "small"]);
    expect(used).toMatchObject({ exitCode: 1, stdout: "small\n" });
    expect(used.stderr).toContain("volume 'kept' is currently in use");
    expect(used.stderr).toContain('delete failed for one or more volumes: ["kept"]');
    expect((await cli.call(["volume", "inspect", "small"])).stderr).toBe("Error: volume not found: small\n");
  });

  it("networks are made, joined and deleted, the builtin one is not", async () => {
    expect((await cli.call(["network", "create", "--internal", "inner"])).stdout).toBe("inner\n");
    expect((await cli.call(["network", "create", "inner"])).stderr).toBe("Error: network inner already exists\n");
    const run = [
      "run",
      "-d",
      "--progress",
      "none",
      "--init",
      "--name",
      "member",
      "--network",
      "inner",
      minimal,
      "sleep",
      "600",
    ];
    expect((await cli.call(run)).exitCode).toBe(0);
    const [member] = JSON.parse((await cli.call(["inspect", "member"])).stdout) as { status: { networks: object[] } }[];
    expect(member?.status.networks).toMatchObject([
      { network: "inner", hostname: "member", ipv4Address: expect.stringMatching(/\/\d+$/) },
    ]);
    expect((await cli.call(["network", "delete", "inner"])).stderr).toContain("with referring containers: member");
    expect((await cli.call(["delete", "-f", "member"])).exitCode).toBe(0);
    expect((await cli.call(["network", "delete", "inner"])).stdout).toBe("inner\n");
    expect((await cli.call(["network", "list", "-q"])).stdout).toBe("default\n");
    expect((await cli.call(["network", "delete", "default"])).stderr).toBe(
      "Error: cannot delete a builtin network: default\n",
    );
    expect((await cli.call(["run", "--network", "inner", minimal])).stderr).toBe("Error: network inner not found\n");
  });

  it("images are fetched by a name that no other test sees", async (context) => {
    const fault = await testRegistryFault(testRegistryAddress());
    if (fault !== null) skipOrFail(context, "registry", fault);
    const reference = `${testRegistryAddress()}/glovebox-test/minimal:1`;
    expect((await cli.call(["image", "inspect", reference])).exitCode).toBe(1);
    expect(await cli.call(["image", "pull", "--progress", "none", reference])).toEqual({
      exitCode: 0,
      stdout: "",
      stderr: "",
    });
    expect((await cli.call(["image", "list", "-q"])).stdout.split("\n")).toContain(reference);
    expect((await cli.call(["run", "--rm", "--progress", "none", reference, "echo", "ran"])).stdout).toBe("ran\n");
    expect(await cli.call(["image", "tag", reference, "again:2"])).toMatchObject({ stdout: "again:2\n" });
    expect((await cli.call(["image", "delete", reference, "again:2"])).stdout).toBe(
      `${reference}\ndocker.io/library/again:2\n`,
    );
    expect((await cli.call(["image", "delete", reference])).stderr).toContain("failed to delete one or more images");
    expect((await cli.call(["image", "delete", "-f", reference])).exitCode).toBe(0);
    const missing = await cli.call([
      "image",
      "pull",
      "--progress",
      "none",
      `${testRegistryAddress()}/glovebox-test/none:1`,
    ]);
    expect(missing.stderr).toMatch(/^Error: HTTP request to \S+ failed with response: 404 Not Found\. Reason: /);
  });

  it("images are built, one on another", async () => {
    await writeFile(
      path.join(folder, "Dockerfile"),
      `FROM ${minimal}\nARG WORD\nENV WORD=$WORD\nCMD ["sh", "-c", "echo $WORD"]\n`,
    );
    const built = await cli.call(["build", "-t", "first:1", "--build-arg", "WORD=said", "-l", "a=b", folder]);
    expect([built.exitCode, built.stdout]).toEqual([0, "first:1\n"]);
    expect((await cli.call(["list", "-q"])).stdout).toContain("buildkit\n");
    await writeFile(path.join(folder, "Second"), "FROM first:1\nENV OTHER=1\n");
    expect((await cli.call(["build", "-t", "second:1", "-f", path.join(folder, "Second"), folder])).exitCode).toBe(0);
    expect((await cli.call(["run", "--rm", "--progress", "none", "second:1"])).stdout).toBe("said\n");
    await writeFile(path.join(folder, "Bad"), `FROM ${minimal}\nRUN exit 3\n`);
    const bad = await cli.call(["build", "-f", path.join(folder, "Bad"), folder]);
    expect([bad.exitCode, bad.stdout]).toEqual([1, ""]);
    expect(bad.stderr).toContain("returned a non-zero code: 3");
    expect((await cli.call(["build", "/no/such/folder"])).exitCode).toBe(64);
  });

  it("files go in with mode 0644, and out", async () => {
    const file = path.join(folder, "script");
    await writeFile(file, "content", { mode: 0o755 });
    expect((await cli.call(["cp", file, "box:/made/here"])).stdout).toBe("/made/here\n");
    expect((await cli.call(["exec", "box", "stat", "-c", "%a", "/made/here"])).stdout).toBe("644\n");
    expect((await cli.call(["cp", "box:/made/here", path.join(folder, "back")])).exitCode).toBe(0);
    expect(await readFile(path.join(folder, "back"), "utf8")).toBe("content");
    expect((await cli.call(["cp", "a", "b"])).stderr).toContain("must be a container reference");
    const tar = path.join(folder, "root.tar");
    expect((await cli.call(["export", "-o", tar, "box"])).exitCode).toBe(0);
    expect((await readFile(tar)).includes("made/here")).toBe(true);
  });

  it("reports the use of running containers", async () => {
    const call = await cli.call(["stats", "--no-stream", "--format", "json", "box"]);
    expect(JSON.parse(call.stdout)).toMatchObject([
      { id: "box", memoryLimitBytes: 1024 ** 3, cpuUsageUsec: expect.any(Number), numProcesses: expect.any(Number) },
    ]);
    expect((await cli.call(["stats", "--no-stream", "no-such"])).stderr).toBe("Error: no such container: no-such\n");
  });

  it("what it does not imitate has a code that Apple's command never has", async () => {
    expect((await cli.call(["image", "load"])).exitCode).toBe(70);
    expect((await cli.call(["list", "--format", "yaml"])).exitCode).toBe(70);
  });
});
