import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import type { Glovebox } from "../../src/index.ts";

/** What a step works with. */
export interface SmokeScene {
  readonly glovebox: Glovebox;
  readonly engine: string;
  /** Image with Python; null if the engine does not use images. */
  readonly image: string | null;
  /** An empty folder on this machine, below the library's working directory, with a space in its name. */
  readonly folder: string;
  /** Ids of sandboxes that were made. */
  readonly made: Set<string>;
}

export interface SmokeStep {
  readonly name: string;
  /** Whether the engine can do this at all. */
  readonly applies?: (scene: SmokeScene) => boolean;
  /** Rejects when it does not work. */
  readonly run: (scene: SmokeScene) => Promise<void>;
}

/** What a run asks for: it accepts even the weakest level, the only one of the embedded engine on macOS and Windows. */
const askedOf = ({ engine }: SmokeScene) => ({ engine, minIsolation: "preload" }) as const;

/** A program that starts another one if it may; neither ends. */
const endless = `import subprocess, sys, time
try: subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
except BaseException: pass
print("started", flush=True)
time.sleep(600)
`;

type Program = Omit<Parameters<Glovebox["execute"]>[0], "engine" | "minIsolation">;

async function execute(scene: SmokeScene, program: Program): Promise<Awaited<ReturnType<Glovebox["execute"]>>> {
  const result = await scene.glovebox.execute({ ...askedOf(scene), ...program });
  if (result.sandboxId !== null) scene.made.add(result.sandboxId);
  return result;
}

/** What differs most between systems: paths, pipes, line ends, and how processes end. */
export const smokeSteps: readonly SmokeStep[] = [
  ...(["python", "javascript", "typescript"] as const).map((language) => ({
    name: `a program in ${language}`,
    run: async (scene: SmokeScene): Promise<void> => {
      const code = language === "python" ? "print(6 * 7)" : "console.log(6 * 7)";
      const { stdout, stderr } = await execute(scene, { language, code });
      assert.deepEqual([stdout, stderr], ["42\n", ""]);
    },
  })),
  {
    name: "code keeps the line ends of Windows",
    run: async (scene) => {
      const code = 'print(open(__file__, "rb").read().count(b"\\r\\n"))\r\n# two\r\n';
      const { stdout } = await execute(scene, { language: "python", code });
      assert.equal(stdout.trim(), "2");
    },
  },
  {
    name: "a program that runs out of time ends with all that it started",
    run: async (scene) => {
      const limits = { timeoutSeconds: 5 };
      const { outcome, stdout } = await execute(scene, { language: "python", code: endless, limits });
      assert.deepEqual([outcome, stdout], ["timed_out", "started\n"]);
    },
  },
  {
    name: "a file of this machine beside the code",
    run: async (scene) => {
      await writeFile(path.join(scene.folder, "data.txt"), "of the host");
      const code = 'import pathlib\nprint(next(pathlib.Path(".").rglob("data.txt")).read_text())';
      const contextFiles = [path.join(scene.folder, "data.txt")];
      const { stdout } = await execute(scene, { language: "python", code, contextFiles });
      assert.equal(stdout, "of the host\n");
    },
  },
  {
    name: "a session keeps its files from run to run",
    run: async (scene) => {
      await using session = await scene.glovebox.sessions.open(askedOf(scene));
      await session.run({ language: "python", code: 'open("n.txt", "w").write("42")' });
      assert.equal(await session.files.readText("n.txt"), "42");
    },
  },
  {
    name: "a project of this machine, mounted to be written",
    applies: ({ image }) => image !== null,
    run: async (scene) => {
      await writeFile(path.join(scene.folder, "in.txt"), "read\n");
      const { folder: projectRoot, image } = scene;
      assert(image !== null);
      await using environment = await scene.glovebox.environments.create({ ...askedOf(scene), image, projectRoot });
      scene.made.add(environment.details?.containerId ?? "");
      const { stdoutTail } = await environment.run(["sh", "-c", "cat in.txt && printf written > 'an answer.txt'"]);
      assert.equal(stdoutTail, "read\n");
      assert.equal(await readFile(path.join(scene.folder, "an answer.txt"), "utf8"), "written");
    },
  },
  {
    name: "nothing is left",
    run: async ({ glovebox, made }) => {
      const left = (await glovebox.sandboxes.list()).filter(({ sandboxId }) => made.has(sandboxId));
      assert.deepEqual([left, made.size > 0], [[], true]);
    },
  },
];
