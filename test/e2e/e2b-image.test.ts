import { Sandbox as CodeSandbox } from "@e2b/code-interpreter";
import { Sandbox } from "e2b";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadHostConfig } from "../../src/config/load-config.ts";
import { toolsImagesOf } from "../../src/engines/tools-image.ts";
import { createPlatform } from "../../src/platform/platform.ts";
import { openE2bScene, type E2bScene } from "../helpers/e2b-scene.ts";
import { buildHostileImage } from "../helpers/hostile-image.ts";
import { rareTag } from "../lanes/lanes.ts";
import { useGlovebox } from "../helpers/open-glovebox.ts";
import { testImages } from "../helpers/test-images.ts";

/** Creates it as soon as its image is there; `refusals`: what it was told before. */
async function createOnceBuilt<T>(create: () => Promise<T>, refusals: string[]): Promise<T> {
  for (;;) {
    try {
      return await create();
    } catch (error) {
      refusals.push(String(error));
      if (!String(error).includes("is being made")) throw error;
    }
  }
}

describe.each(["docker", "podman"] as const)("the templates of E2B's clients on %s", (engine) => {
  const rare = engine === "docker" ? {} : { tags: [rareTag] };
  useGlovebox(engine);
  let scene: E2bScene;
  beforeAll(async () => {
    const templates = { mine: testImages.python, closed: "registry.example/closed:1" };
    scene = await openE2bScene({ GLOVEBOX_E2B_TEMPLATES: JSON.stringify(templates) }, engine);
  });
  afterAll(() => scene[Symbol.asyncDispose]());

  it(
    "base is built with Git, curl and a login shell, once for all who ask, and has no sudo",
    { ...rare, timeout: 300_000 },
    async () => {
      const create = (): Promise<Sandbox> => createOnceBuilt(() => Sandbox.create(), []);
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

  it(
    "code-interpreter-v1 is built with its packages, and until then refused in time",
    { ...rare, timeout: 900_000 },
    async () => {
      const refusals: string[] = [];
      const sandbox = await createOnceBuilt(() => CodeSandbox.create(), refusals);
      for (const refusal of refusals) {
        expect(refusal).toMatch(/^ServiceBusyError: .*The image of the template code-interpreter-v1 is being made/);
      }
      const code = `import numpy, pandas, PIL, matplotlib.pyplot as plt
plt.boxplot([1, 2, 9], patch_artist=True)
plt.show()
pandas.DataFrame({"a": numpy.arange(2)})`;
      const { results, error } = await sandbox.runCode(code);
      expect(error).toBeUndefined();
      expect(results.map(({ chart, data }) => chart?.type ?? data)).toEqual(["box_and_whisker", { a: [0, 1] }]);
      expect((await sandbox.commands.run("git --version")).exitCode).toBe(0);
      await sandbox.kill();
    },
  );

  it("others are those of the configuration, for keys that may name their images", rare, async () => {
    const mine = await Sandbox.create("mine:latest");
    expect((await mine.getInfo()).templateId).toBe("mine");
    // It has nothing that Glovebox adds.
    expect((await mine.commands.run("command -v git || echo none")).stdout).toBe("none\n");
    await mine.kill();
    const limited = await scene.server.addKey("limited", "--images", "python:3.13");
    await expect(Sandbox.create("closed", { apiKey: limited.text })).rejects.toThrow(/refused by the rule images/);
    const base = await Sandbox.create({ apiKey: limited.text });
    expect(await base.kill()).toBe(true);
  });
});

describe("code-interpreter-v1 on an image with a Python of its own on docker", () => {
  useGlovebox("docker");

  it(
    "has the packages of the index that pip asks here, by the certificates that it trusts here",
    { tags: [rareTag], timeout: 600_000 },
    async () => {
      const { config, host } = await loadHostConfig({ settings: {} });
      await using platform = await createPlatform({ config, host, door: "person" });
      const { engine } = await platform.chooseEngine("docker");
      const own = { programs: { python3: 'exec /usr/bin/python3 "$@"\n' } };
      const base = await buildHostileImage(engine, testImages.python, own);
      const images = toolsImagesOf(base.reference);
      try {
        await using scene = await openE2bScene(
          { GLOVEBOX_IMAGE_SESSION: base.reference, GLOVEBOX_E2B_TEMPLATES: "{}" },
          "docker",
        );
        expect(scene.server.e2bUrl).not.toBe("");
        const sandbox = await createOnceBuilt(() => CodeSandbox.create({ requestTimeoutMs: 60_000 }), []);
        const { text, error } = await sandbox.runCode(`import numpy, pandas, PIL, matplotlib
{each.__file__.split("/")[2] for each in (numpy, pandas, PIL, matplotlib)}`);
        expect(error).toBeUndefined();
        // Where pip installs, and the distribution does not.
        expect(text).toBe("{'local'}");
        const { stdout } = await sandbox.commands.run("ls /tmp; echo [$PIP_CERT]");
        expect(stdout).toBe("[]\n");
      } finally {
        for (const image of [images["code-interpreter"], images["session-tools"]]) await engine.images.remove(image);
        await base.remove();
      }
    },
  );
});
