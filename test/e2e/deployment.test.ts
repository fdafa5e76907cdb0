import { execFile, execFileSync } from "node:child_process";
import { mkdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import path from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { projectFolder } from "../helpers/project-folder.ts";
import { isRequired, skipOrFail } from "../helpers/require.ts";
import { serverImageContext } from "../helpers/server-image-context.ts";
import { until } from "../helpers/until.ts";
import { testImages } from "../helpers/test-images.ts";

const run = promisify(execFile);
const here = isRequired("docker");
const buildMs = 900_000;

describe("docker compose up", () => {
  const name = `glovebox-test-${process.pid}`;
  let folder: string;
  let environment: NodeJS.ProcessEnv;
  let url: string;
  let key: string;
  let environmentId: string;

  beforeEach((context) => {
    if (!here) skipOrFail(context, "docker", "it takes minutes, and runs where GLOVEBOX_TEST_REQUIRE lists docker");
  });

  beforeAll(async () => {
    if (!here) return;
    folder = serverImageContext();
    mkdirSync(path.join(folder, "projects/sums"), { recursive: true });
    writeFileSync(path.join(folder, "projects/sums/data.txt"), "41\n");
    for (const service of ["redis", "postgres"]) {
      const context = path.join(projectFolder, "test/fixtures/compose-images", service);
      await run("docker", [
        "build",
        "-q",
        "--build-arg",
        `BASE=${testImages.python}`,
        "-t",
        `${name}-${service}`,
        context,
      ]);
    }
    const port = await freePort();
    url = `http://127.0.0.1:${port}`;
    environment = {
      ...process.env,
      COMPOSE_PROJECT_NAME: name,
      GLOVEBOX_IMAGE: `${name}-sandbox`,
      NODE_IMAGE: testImages.javascript,
      GLOVEBOX_IMAGES_ALLOW: testImages.python,
      REDIS_IMAGE: `${name}-redis`,
      POSTGRES_IMAGE: `${name}-postgres`,
      SANDBOX_NETWORK: `${name}_out`,
      DOCKER_GID: String(statSync("/var/run/docker.sock").gid),
      GLOVEBOX_PORT: String(port),
    };
    await compose("build", "sandbox");
    key = (
      await compose("run", "--rm", "--no-deps", "-T", "sandbox", "keys", "add", "team", "--mount-roots", "*")
    ).trim();
    await compose("up", "--detach");
    await until(async () => (await ready()) === 200);
  }, buildMs);

  afterAll(async () => {
    if (environment === undefined) return;
    await compose("down", "--volumes", "--timeout", "45").catch(() => undefined);
    execFileSync("docker", ["rmi", "--force", ...["sandbox", "redis", "postgres"].map((each) => `${name}-${each}`)], {
      stdio: "ignore",
    });
    rmSync(folder, { recursive: true, force: true });
  }, 120_000);

  const compose = async (...argv: string[]): Promise<string> => {
    const { stdout } = await run("docker-compose", argv, { cwd: folder, env: environment, maxBuffer: 64 * 1024 ** 2 });
    return stdout;
  };
  const ask = async (where: string, body?: object): Promise<{ readonly status: number; readonly answer: object }> => {
    const response = await fetch(`${url}${where}`, {
      method: body === undefined ? "GET" : "POST",
      headers: {
        authorization: `Bearer ${key}`,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: response.status, answer: (await response.json()) as object };
  };
  const ready = async (): Promise<number> => {
    try {
      return (await ask("/readyz")).status;
    } catch {
      return 0;
    }
  };

  it("runs a program", { timeout: 60_000 }, async () => {
    const program = { language: "python", code: "print(6 * 7)", image: testImages.python };
    expect(await ask("/api/sandbox/execute", program)).toMatchObject({
      status: 200,
      answer: { outcome: "completed", stdout: "42\n", engine: "docker" },
    });
  });

  it("lets a command read a project of the machine, and not change it", { timeout: 60_000 }, async () => {
    const project = { project_root: "/projects/sums", image: testImages.python, env_id: "sums", read_only: true };
    const { answer } = await ask("/api/environments", project);
    expect(answer).toMatchObject({ env_id: "sums", container_id: expect.any(String) });
    environmentId = (answer as { readonly container_id: string }).container_id;
    const command = ["sh", "-c", "cat data.txt; touch new 2>/dev/null || echo refused"];
    expect((await ask("/api/environments/sums/commands", { command })).answer).toMatchObject({
      outcome: "completed",
      stdout_tail: "41\nrefused\n",
    });
  });

  it("has no right that it does not need", async () => {
    const id = (await compose("ps", "--quiet", "sandbox")).trim();
    const shape = "{{.Config.User}} {{.HostConfig.Privileged}} {{.HostConfig.ReadonlyRootfs}} {{.HostConfig.CapDrop}}";
    const { stdout } = await run("docker", ["inspect", "--format", shape, id]);
    expect(stdout.trim()).toBe("10001:10001 false true [ALL]");
    const status = await compose("exec", "-T", "sandbox", "cat", "/proc/1/status");
    expect(status).toMatch(/^CapEff:\s+0+$/m);
    expect(status).toMatch(/^NoNewPrivs:\s+1$/m);
    expect(status).toMatch(/^Seccomp:\s+2$/m);
  });

  it("leaves no sandbox when it is stopped", { timeout: 90_000 }, async () => {
    const sandboxes = async (): Promise<string> => {
      return (await run("docker", ["ps", "--all", "--quiet", "--filter", `id=${environmentId}`])).stdout;
    };
    expect(await sandboxes()).not.toBe("");
    await compose("stop", "--timeout", "45", "sandbox");
    expect(await sandboxes()).toBe("");
  });
});

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => void server.close(resolve));
  return port;
}
