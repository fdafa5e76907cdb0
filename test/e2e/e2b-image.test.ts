import { Sandbox } from "e2b";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openE2bScene, type E2bScene } from "../helpers/e2b-scene.ts";
import { useGlovebox } from "../helpers/open-glovebox.ts";

describe("the template base on docker", () => {
  useGlovebox("docker");
  let scene: E2bScene;
  beforeAll(async () => {
    scene = await openE2bScene({}, "docker");
  });
  afterAll(() => scene[Symbol.asyncDispose]());

  it(
    "is built with Git, curl and a login shell, once for all who ask, and has no sudo",
    { timeout: 300_000 },
    async () => {
      const create = (): Promise<Sandbox> => Sandbox.create({ requestTimeoutMs: 280_000 });
      const [sandbox, other] = await Promise.all([create(), create()]);
      const { stdout } = await sandbox.commands.run(
        "git --version >/dev/null && curl --version >/dev/null && ! command -v sudo && echo $HOME $USER $PWD || echo missing",
      );
      expect(stdout).toBe("/home/user user /home/user\n");
      const { path } = await sandbox.files.write("a.txt", "a");
      expect(await sandbox.files.getInfo("a.txt")).toMatchObject({ path, owner: "user", group: "user" });
      // Nothing of the image does these two.
      await sandbox.files.write("marked.txt", "a", { metadata: { author: "mish" } });
      expect((await sandbox.files.getInfo("marked.txt")).metadata).toEqual({ author: "mish" });
      const told: string[] = [];
      const watch = await sandbox.files.watchDir(".", ({ type, name }) => void told.push(`${type} ${name}`));
      await sandbox.commands.run("echo 1 > watched");
      await expect.poll(() => told).toContain("write watched");
      await watch.stop();
      await sandbox.commands.run("git init -q repo");
      expect(await sandbox.files.exists("/home/user/repo/.git")).toBe(true);
      expect(await other?.kill()).toBe(true);
      expect(await sandbox.kill()).toBe(true);
    },
  );
});
