import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { createId } from "../../src/base/id.ts";
import { mebibyte } from "../../src/base/bytes.ts";
import type { ContainerSpec } from "../../src/engines/container-spec.ts";
import { labels, managed } from "../../src/engines/labels.ts";
import { subjects } from "../engine-contract/subjects.ts";
import { useGlovebox } from "../helpers/open-glovebox.ts";
import { useOwnSandboxes } from "../helpers/own-sandboxes.ts";
import { projectFolder } from "../helpers/project-folder.ts";
import { runCommand } from "../helpers/run-command.ts";

const image = process.env["GLOVEBOX_TEST_IMAGE_MINIMAL"] ?? "glovebox-test/minimal:1";
const past = "2020-01-01T00:00:00.000Z";
const future = (): string => new Date(Date.now() + 600_000).toISOString();

const state = useOwnSandboxes();
const glovebox = (...argv: readonly string[]) => runCommand(argv, { environment: state.environment() });
const listedIds = async (): Promise<readonly string[]> => {
  const { sandboxes } = JSON.parse((await glovebox("ps", "--json")).stdout) as {
    readonly sandboxes: readonly { readonly sandbox_id: string }[];
  };
  return sandboxes.map((row) => row.sandbox_id);
};

/** A sandbox like that of a server whose state no other user can read. */
function sandboxOfAnother(expiresAt: string): ContainerSpec & { readonly name: string } {
  const sandbox = createId("sbx");
  return {
    name: `glovebox-${sandbox}`,
    image,
    labels: {
      ...managed,
      [labels.owner]: createId("own"),
      [labels.kind]: "session",
      [labels.sandbox]: sandbox,
      [labels.expiresAt]: expiresAt,
    },
    limits: { cpus: 1, memoryBytes: 64 * mebibyte, pids: 64 },
    scratch: [{ path: "/work", sizeBytes: 4 * mebibyte }],
  };
}

describe.each(["docker", "podman"] as const)("a sweep on %s", (kind) => {
  useGlovebox(kind);
  const engineCommand = (...argv: readonly string[]): string =>
    execFileSync(kind, argv, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] }).trim();
  const isThere = (name: string): boolean => engineCommand("ps", "-aq", "--filter", `name=^${name}$`) !== "";

  it("leaves another user's sandbox that runs, however long, and takes what is left of one that does not", async () => {
    const engine = await subjects[kind].make();
    const [live, fresh, old] = [sandboxOfAnother(past), sandboxOfAnother(future()), sandboxOfAnother(past)];
    const made = await Promise.all([live, fresh, old].map((spec) => engine.create(spec)));
    try {
      await made[0]?.start();
      expect((await glovebox("prune", "--json")).exitCode).toBe(0);
      expect({ live: isThere(live.name), fresh: isThere(fresh.name), old: isThere(old.name) }).toEqual({
        live: true,
        fresh: true,
        old: false,
      });
      expect(await made[0]?.inspect()).toMatchObject({ running: true });
    } finally {
      await Promise.all(made.map((container) => container.remove()));
      await engine.close();
    }
  });

  it("is not needed for a sandbox that is running when its server is killed", async () => {
    const server = spawn(process.execPath, [path.join(projectFolder, "test/fixtures/idle-session.ts"), kind], {
      env: { ...process.env, ...state.environment() },
      stdio: ["ignore", "pipe", "inherit"],
    });
    await once(server.stdout, "data");
    const [row] = await state.on(kind);
    server.kill("SIGKILL");
    await once(server, "exit");
    const running = (): string => engineCommand("ps", "-q", "--filter", `name=glovebox-${row?.sandbox_id ?? "none"}`);
    await expect.poll(running, { timeout: 10_000 }).toBe("");
    await glovebox("prune", "--json");
  });

  it("does not trust labels of an image: what a user makes from such an image stays, and is not listed", async () => {
    const sandbox = createId("sbx");
    const trap = {
      ...managed,
      [labels.owner]: createId("own"),
      [labels.sandbox]: sandbox,
      [labels.expiresAt]: past,
      [labels.image]: createId("img"),
    };
    const lines = Object.entries(trap).map(([name, value]) => `LABEL ${name}=${value}`);
    const tag = `glovebox-test/trap-${createId("it")}:1`;
    const build = (more: string): string =>
      execFileSync(kind, ["build", "-q", "-t", tag, "-"], {
        input: ["FROM", image, "\n", lines.join("\n"), "\n", more].join(" "),
        encoding: "utf8",
      }).trim();
    const container = createId("its-owners-own");
    const nameless = build("ENV ROUND=1");
    try {
      // The first one loses its name.
      build("ENV ROUND=2");
      engineCommand("create", "--name", container, tag, "true");
      await glovebox("prune", "--json");
      expect(isThere(container)).toBe(true);
      expect(engineCommand("image", "inspect", "--format", "{{.Id}}", nameless)).not.toBe("");
      expect(await listedIds()).not.toContain(sandbox);
    } finally {
      engineCommand("rm", "-f", container);
      engineCommand("rmi", "-f", tag, nameless);
    }
  });
});
