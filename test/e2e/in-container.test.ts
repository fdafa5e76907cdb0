import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { projectFolder } from "../helpers/project-folder.ts";
import { isRequired } from "../helpers/require.ts";
import { testImages } from "../helpers/test-images.ts";

const engineSocket = {
  docker: { variable: "DOCKER_HOST", file: process.env["DOCKER_HOST"] ?? "unix:///var/run/docker.sock" },
  podman: { variable: "CONTAINER_HOST", file: process.env["CONTAINER_HOST"] ?? "unix:///run/podman/podman.sock" },
} as const;

interface Answer {
  readonly isError?: boolean;
  readonly structuredContent?: Readonly<Record<string, unknown>>;
}

describe.each(["docker", "podman"] as const)("Glovebox in a container, on the %s that runs it,", (engine) => {
  const name = `glovebox-test-in-container-${engine}-${process.pid}`;
  let projects: string;
  let client: Client;
  beforeAll(() => {
    projects = realpathSync(mkdtempSync(path.join(tmpdir(), "glovebox-test-")));
    mkdirSync(path.join(projects, "one"));
  });
  afterAll(() => rmSync(projects, { recursive: true, force: true }));
  beforeEach(async (context) => {
    if (!isRequired(engine)) context.skip(`GLOVEBOX_TEST_REQUIRE does not list ${engine}`);
    const { variable, file } = engineSocket[engine];
    const modules = realpathSync(path.join(projectFolder, "node_modules"));
    const transport = new StdioClientTransport({
      command: engine,
      args: [
        ...["run", "--rm", "--interactive", "--name", name, "--network", "none", "--workdir", "/srv/projects"],
        ...["--volume", `${projectFolder}:${projectFolder}:ro`, "--volume", `${modules}:${modules}:ro`],
        ...["--volume", `${projects}:/srv/projects`, "--tmpfs", "/srv/projects/own"],
        ...["--volume", `${projects}/one:/srv/projects/given:ro`],
        ...[
          "--volume",
          `${file.replace("unix://", "")}:/run/engine.sock`,
          "--env",
          `${variable}=unix:///run/engine.sock`,
        ],
        testImages.javascript,
        ...[path.join(modules, ".bin/node"), path.join(projectFolder, "src/cli/main.ts"), "mcp", "--engine", engine],
      ],
      env: process.env as Record<string, string>,
      stderr: "inherit",
    });
    client = new Client({ name: "test", version: "1" });
    await client.connect(transport);
  });
  afterEach(async () => {
    await client.close();
    execFileSync(engine, ["rm", "--force", name], { stdio: "ignore" });
  });
  const call = async (tool: string, given: Record<string, unknown>): Promise<Answer> =>
    (await client.callTool({ name: tool, arguments: given })) as Answer;

  it("mounts a project by its path on the machine", { timeout: 120_000 }, async () => {
    chmodSync(path.join(projects, "one"), 0o777);
    const made = await call("create_environment", { project_root: "one", env_id: "one", image: testImages.python });
    expect(made.structuredContent).toMatchObject({ env_id: "one" });
    const ran = await call("run_command", { env_id: "one", command: ["sh", "-c", "echo written >file; pwd"] });
    expect(ran.structuredContent).toMatchObject({ outcome: "completed", stdout_tail: "/workdir\n" });
    expect(readFileSync(path.join(projects, "one/file"), "utf8")).toBe("written\n");
    await call("destroy_environment", { env_id: "one" });
  });

  it("lets a sandbox read what it may read only itself, and not write", { timeout: 120_000 }, async () => {
    const refused = await call("create_environment", { project_root: "given", image: testImages.python });
    expect(refused.structuredContent).toMatchObject({
      error: { error_type: "POLICY_DENIED", context: { rule: "read_only" } },
    });
    await call("create_environment", {
      project_root: "given",
      env_id: "given",
      read_only: true,
      image: testImages.python,
    });
    const ran = await call("run_command", { env_id: "given", command: ["sh", "-c", "ls; echo more >more"] });
    expect(ran.structuredContent).toMatchObject({ outcome: "failed" });
    await call("destroy_environment", { env_id: "given" });
  });

  it("refuses a folder that exists only in its own container, and says why", { timeout: 120_000 }, async () => {
    const refused = await call("create_environment", { project_root: "own", image: testImages.python });
    expect(refused.isError).toBe(true);
    expect(refused.structuredContent).toMatchObject({
      error: { error_type: "POLICY_DENIED", context: { rule: "not_shared" } },
    });
  });
});
