import { execFileSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createGlovebox, GloveboxError, type Glovebox } from "../helpers/wire-glovebox.ts";
import { MeddlingProxy } from "../helpers/meddling-proxy.ts";
import { useGlovebox } from "../helpers/open-glovebox.ts";
import { outcomeOf } from "../helpers/outcome-of.ts";
import { projectFolder } from "../helpers/project-folder.ts";
import { testImages } from "../helpers/test-images.ts";

const image = testImages.python;
/** Environments that are created while the folder is exchanged. */
const tries = 16;
const seenErrors: string[] = [];

const folder = realpathSync(mkdtempSync(path.join(os.tmpdir(), "glovebox-test-")));
const at = (...names: string[]): string => path.join(folder, ...names);
/** The only folder that may be used. */
const workingDirectory = at("allowed");

/** Project `work` contains `work/way/project`, whose name may later lead to `private/project` instead. */
const work = (...names: string[]): string => path.join(workingDirectory, "work", ...names);

beforeEach(() => {
  for (const [where, text] of [
    [work("way/project"), "mine"],
    [at("private/project"), "private"],
    [path.join(workingDirectory, "beside"), "beside"],
  ] as const) {
    mkdirSync(where, { recursive: true });
    writeFileSync(path.join(where, "file"), text);
    // The process that keeps the container up runs as an ordinary user.
    chmodSync(where, 0o777);
  }
});
afterEach(() => rmSync(folder, { recursive: true }));

const sockets = { docker: "/var/run/docker.sock", podman: "/run/podman/podman.sock" };
/** When each engine mounts: Podman prepares a container when it is attached to. */
const mounting = { docker: /^POST \S*\/containers\/\w+\/start[ ?]/, podman: /^POST \S+\/attach[ ?]/ };
const variable = { docker: "DOCKER_HOST", podman: "CONTAINER_HOST" };

async function openBehind(engine: "docker" | "podman", proxy: MeddlingProxy): Promise<Glovebox> {
  const name = variable[engine];
  const before = process.env[name];
  process.env[name] = `unix://${proxy.socketPath}`;
  try {
    return await createGlovebox({ engine, workingDirectory, settings: { images: testImages } });
  } finally {
    if (before === undefined) delete process.env[name];
    else process.env[name] = before;
  }
}

describe.each(["docker", "podman"] as const)("a folder exchanged on %s between check and mount", (engine) => {
  useGlovebox(engine);

  async function whileExchanged(use: (glovebox: Glovebox, proxy: MeddlingProxy) => Promise<void>): Promise<void> {
    await using proxy = await MeddlingProxy.start(sockets[engine], {
      at: mounting[engine],
      before: () => {
        renameSync(work("way"), work("kept"));
        symlinkSync(at("private"), work("way"));
      },
      after: () => {
        unlinkSync(work("way"));
        renameSync(work("kept"), work("way"));
      },
    });
    await using glovebox = await openBehind(engine, proxy);
    await use(glovebox, proxy);
  }

  /** The requested folder if it is mounted by handle; else the mount of something else is noticed. */
  async function expectHarmless(making: Promise<unknown>): Promise<boolean> {
    const isHeld = engine === "docker";
    const refused: unknown = expect.objectContaining({
      errorType: "POLICY_DENIED",
      message: expect.stringContaining("is not the folder that was checked") as unknown,
      context: expect.objectContaining({ rule: "changed" }) as unknown,
    });
    expect(await outcomeOf(making)).toEqual(isHeld ? "it was done" : refused);
    if (isHeld) return true;
    const labels = execFileSync(engine, ["ps", "--all", "--format", "{{.Labels}}"], { encoding: "utf8" });
    expect(labels).not.toContain(work("way/project"));
    return false;
  }

  it("reaches no command", async () => {
    await whileExchanged(async ({ environments }, proxy) => {
      const making = environments.create({ image, project_root: "work/way/project", env_id: "b" });
      const seen = (await expectHarmless(making)) ? await textOf(environments, "file") : "mine";
      expect(seen).toBe("mine");
      expect(proxy.count).toBe(1);
      expect(readdirSync(at("private/project"))).toEqual(["file"]);
    });
  });

  it("reaches no setup command, which would read it", async () => {
    await whileExchanged(async ({ environments }) => {
      const setup = [["sh", "-c", "cat /workdir/file >/seen"]];
      const making = environments.create({
        image,
        project_root: "work/way/project",
        setup_commands: setup,
        env_id: "b",
      });
      const seen = (await expectHarmless(making)) ? await textOf(environments, "/seen") : "mine";
      expect(seen).toBe("mine");
    });
  });

  it("reaches nothing of a hostile image, whose own shell nobody runs", async () => {
    using hostile = new HostileImage(engine);
    await whileExchanged(async ({ environments }) => {
      await expectHarmless(environments.create({ image: hostile.name, project_root: "work/way/project", env_id: "b" }));
      expect(readdirSync(at("private/project"))).toEqual(["file"]);
      // Nothing of ours needs the image's shell, which would have written here.
      expect(readdirSync(work("way/project"))).toEqual(["file"]);
    });
  });
});

async function textOf(environments: Glovebox["environments"], name: string): Promise<string> {
  return (await environments.runCommand({ env_id: "b", command: ["cat", name] })).stdout_tail;
}

/** An image whose shell first writes to the project. */
class HostileImage implements Disposable {
  readonly name = `glovebox-test/hostile-${process.pid}:1`;
  readonly #engine: string;

  constructor(engine: string) {
    this.#engine = engine;
    const shell = '#!/bin/dash\ntouch /workdir/taken\nexec /bin/dash "$@"\n';
    const script = `import os; os.unlink("/bin/sh"); open("/bin/sh", "w").write(${JSON.stringify(shell)}); os.chmod("/bin/sh", 0o755)`;
    const container = this.#run("create", "--network", "none", image, "python3", "-c", script);
    this.#run("start", "--attach", container);
    this.#run("commit", container, this.name);
    this.#run("rm", container);
  }

  [Symbol.dispose](): void {
    this.#run("rmi", "--force", this.name);
  }

  #run(...argv: readonly string[]): string {
    return execFileSync(this.#engine, argv, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
  }
}

describe.each(["docker", "podman"] as const)(
  "a program on %s that exchanges a folder above another project",
  (engine) => {
    const glovebox = useGlovebox(engine, { workingDirectory });

    it("never shows the other environment anything but its own folder", { timeout: 240_000 }, async () => {
      const { environments, processes } = glovebox();
      symlinkSync(at("private"), work("link"));
      copyFileSync(`${projectFolder}test/fixtures/programs/exchanges-folder.py`, work("exchanges.py"));
      await environments.create({ image, project_root: work(), env_id: "attacker" });
      const seen = { mine: 0, refused: 0, private: 0 };
      try {
        await processes.start({ env_id: "attacker", command: ["python3", "exchanges.py", "way", "link"] });
        for (let tried = 0; tried < tries; tried++) seen[await look(environments)]++;
      } finally {
        await environments.destroy({ env_id: "attacker" });
      }
      expect(seenErrors).toEqual([]);
      expect(seen).toMatchObject({ private: 0 });
      expect(seen.mine + seen.refused).toBe(tries);
      // It was really exchanged, and not every environment was refused.
      expect(seen.refused).toBeGreaterThan(0);
      expect(readdirSync(at("private/project"))).toEqual(["file"]);
    });

    /** What an environment of the project sees if it is created right now. */
    async function look(environments: Glovebox["environments"]): Promise<"mine" | "refused" | "private"> {
      try {
        await environments.create({ image, project_root: work("way/project"), env_id: "victim" });
      } catch (error) {
        if (error instanceof GloveboxError) return "refused";
        throw error;
      }
      try {
        const command = ["sh", "-c", "cat file; touch /workdir/written"];
        const { stdout_tail: text } = await environments.runCommand({ env_id: "victim", command });
        return text === "mine" ? "mine" : "private";
      } catch (error) {
        // Its container is gone, and a new one was refused.
        if (error instanceof GloveboxError) return "refused";
        throw error;
      } finally {
        await environments.destroy({ env_id: "victim" });
      }
    }
  },
);

describe("where mounts cannot be seen from here (gVisor)", () => {
  const runtime = { oci_runtime: "runsc" } as const;
  const glovebox = useGlovebox("docker", { workingDirectory }, runtime);
  const inner = { image, read_only_root: true, ...runtime, env_id: "inner" };

  // Programs run as the project's owner, who cannot be root under gVisor.
  beforeEach(() => {
    for (const where of [work(), work("way"), work("way/project"), path.join(workingDirectory, "beside")]) {
      chownSync(where, 10001, 10001);
    }
  });

  it.each(["this server", "another server"])(
    "a folder inside one that a sandbox of %s may write to is refused",
    async (where) => {
      await using other = await createGlovebox({
        engine: "docker",
        workingDirectory,
        settings: { images: testImages },
      });
      const { environments } = where === "this server" ? glovebox() : other;
      await environments.create({ image, project_root: work(), env_id: "outer" });
      try {
        for (const readOnly of [false, true]) {
          const made = glovebox().environments.create({
            ...inner,
            project_root: work("way/project"),
            read_only: readOnly,
          });
          expect(await outcomeOf(made)).toMatchObject({ errorType: "POLICY_DENIED", context: { rule: "nested-root" } });
        }
      } finally {
        await environments.destroy({ env_id: "outer" });
      }
      await glovebox().environments.create({ ...inner, project_root: work("way/project") });
      await glovebox().environments.destroy({ env_id: "inner" });
    },
  );

  it.each([
    ["the same folder", "work", false],
    ["a folder inside one that may only be read", "work/way/project", true],
    ["a folder beside", "beside", false],
  ])("%s is allowed", async (_, root, readOnly) => {
    const { environments } = glovebox();
    await environments.create({ image, project_root: work(), read_only: readOnly, env_id: "outer" });
    try {
      await environments.create({ ...inner, project_root: root });
      const result = await environments.runCommand({ env_id: "inner", command: ["ls"] });
      expect(result).toMatchObject({ outcome: "completed" });
      await environments.destroy({ env_id: "inner" });
    } finally {
      await environments.destroy({ env_id: "outer" });
    }
  });
});
