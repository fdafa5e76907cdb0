import { readFileSync, statSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { installAppleCli, type AppleCli } from "../apple-cli/install.ts";
import { groupOwner, success, useAgents } from "../helpers/agent-scene.ts";
import { owner, useEnvironments } from "../helpers/environment-scene.ts";
import { failureOf } from "../helpers/failure-of.ts";
import { useGlovebox } from "../helpers/open-glovebox.ts";
import { testImages } from "../helpers/test-images.ts";

const usualPath = process.env["PATH"];
const key = "sk-of-nobody-0123456789";
let cli: AppleCli;

beforeAll(async () => {
  cli = await installAppleCli();
  process.env["PATH"] = `${cli.binFolder}:${usualPath}`;
});

afterAll(async () => {
  process.env["PATH"] = usualPath;
  await cli.remove();
});

/** The containers and volumes of the service. */
async function left(): Promise<readonly string[]> {
  const [containers, volumes] = await Promise.all([cli.call(["ls", "-aq"]), cli.call(["volume", "ls", "-q"])]);
  return `${containers.stdout}${volumes.stdout}`.split("\n").filter((name) => name !== "" && name !== "buildkit");
}

describe("an agent over Apple's command", () => {
  const { run, at } = useAgents({ engine: "apple" }, {}, { ANTHROPIC_API_KEY: key });

  it("works in its group's folders with its variables, has its scratch on disk, and leaves nothing", async () => {
    const look = `id -u; pwd; echo \${#ANTHROPIC_API_KEY}; df -m /home/node | awk 'END { print ($2 > 5000) }'`;
    const mounts =
      "cat /workspace/global/shared.md; touch /workspace/global/x /workspace/env-dir/x; ls /workspace/project";
    const result = await run(`${look}; ${mounts}; echo made >made; ${success("it is done")}`);
    expect(result).toMatchObject({ status: "success", result: "it is done", engine: "apple", isolation: "vm" });
    expect(result.output).toBe(`${groupOwner.uid}\n/workspace/group\n${key.length}\n1\nof all groups\n`);
    expect(result.stderr.match(/Read-only file system/g)).toHaveLength(2);
    expect(result.stderr).toContain("/workspace/project");
    expect(readFileSync(at("groups", "family", "made"), "utf8")).toBe("made\n");
    expect(statSync(at("groups", "family", "made"))).toMatchObject(groupOwner);
    expect(readFileSync(at(result.log), "utf8")).not.toContain(key);
    expect(await left()).toEqual([]);
  });
});

describe("an agent over Apple's command whose network is dead", () => {
  const { run } = useAgents({ engine: "apple" });

  it("runs once more after the service was restarted", async () => {
    const since = (await cli.calls()).length;
    const failOnce = "[ -e tried ] || { touch tried; echo 'connect ETIMEDOUT 192.0.2.1:443' >&2; exit 1; }";
    expect(await run(`${failOnce}; ${success("second time")}`)).toMatchObject({
      status: "success",
      result: "second time",
    });
    const calls = (await cli.calls()).slice(since).map(({ words }) => words.slice(0, 2).join(" "));
    expect(calls.filter((words) => /^system st(?:art|op)$/.test(words))).toEqual(["system stop", "system start"]);
    expect(await left()).toEqual([]);
  });
});

describe("an environment over Apple's command", () => {
  const { open, at } = useEnvironments("apple");

  it("has its project, and as much disk as it was given", async () => {
    await using env = await open({ project_root: "project", read_only_root: true, limits: { disk_mb: 4_096 } });
    const room = "df -m /tmp | awk 'END { print ($2 > 800 && $2 <= 1024) }'";
    const result = await env.sh(`id -u; ${room}; echo made >made; touch /new || echo read-only`);
    expect(result).toMatchObject({ exit_code: 0, stdout_tail: `${owner.uid}\n1\nread-only\n` });
    expect(statSync(at("project", "made"))).toMatchObject(owner);
    await env.environments.destroy({ env_id: env.id });
    expect(await left()).toEqual([]);
  });

  it("is refused a root that it could write to without a limit, with what it can have instead", async () => {
    const root = await failureOf(open({ project_root: "project" }), "UNSUPPORTED");
    expect(root).toMatchObject({ suggestion: expect.stringContaining("read_only_root") });
    const request = { project_root: "project", read_only_root: true, setup_commands: [["touch", "/made"]] };
    const setup = await failureOf(open(request), "UNSUPPORTED");
    expect(setup).toMatchObject({ suggestion: expect.stringContaining("use an image that has") });
    expect(await left()).toEqual([]);
  });
});

describe("images that Glovebox builds over Apple's command", () => {
  const glovebox = useGlovebox("apple", { settings: { images: { ...testImages, session_base: testImages.python } } });
  const bad = process.env["GLOVEBOX_TEST_IMAGE_MINIMAL"] ?? "glovebox-test/minimal:1";
  const broken = useGlovebox("apple", { settings: { images: { ...testImages, session_base: bad } } });

  it("are used from then on", async () => {
    const messages: string[] = [];
    const onEvent = (event: { readonly type: string; readonly message?: string }): void => {
      if (event.type === "progress") messages.push(event.message ?? "");
    };
    expect(await glovebox().buildImages({}, { onEvent })).toMatchObject([{ image: "bun-runner-base", present: true }]);
    expect((await cli.call(["image", "ls", "-q"])).stdout.split("\n")).toContain("bun-runner-base:latest");
    const response = await glovebox().runCode({ code: "console.log(Bun.version)", packages: [] });
    expect(response).toMatchObject({ outcome: "completed", stdout: "1.4.5\n", engine: "apple" });
    expect(messages.join("\n")).toContain("Building bun-runner-base");
    await glovebox().endSession();
    expect(await left()).toEqual([]);
  });

  it("that cannot be built say which step failed, and why", async () => {
    const error = await failureOf(broken().buildImages(), "IMAGE_UNAVAILABLE");
    expect(error.message).toContain("neither apk nor apt-get");
    expect(error.message).not.toContain("glovebox-build-");
  });
});
