import { expect } from "vitest";
import { SandboxFiles } from "../../src/sandbox/files/sandbox-files.ts";
import { runSandboxCommand } from "../../src/sandbox/sandbox-command.ts";
import { bytesOf } from "../helpers/bytes-of.ts";
import { fixtureProgram } from "../helpers/fixture-program.ts";
import type { Topic } from "./behaviour.ts";

const planted = "/work/planted";
const told = "/work/told";
const ownPath = { PATH: "/usr/local/bin:/usr/bin:/bin" };
const missing = "/no/such/library.so";

/** A caller's variables affect its programs only, and nothing of ours that runs beside or before them. */
export const variables: Topic = (behaviour) => {
  behaviour(
    "variables.program-only",
    "a library that a variable names is loaded into the program, and into nothing before it",
    async (scene) => {
      const environment = { LD_PRELOAD: missing, GCONV_PATH: "/work" };
      const container = await scene.idle({ image: scene.subject.images.python, environment });
      const { exitCode, stdout, stderr } = await scene.run(container, ["env"]);
      expect(exitCode).toBe(0);
      expect(stdout.toString().split("\n")).toEqual(
        expect.arrayContaining([`LD_PRELOAD=${missing}`, "GCONV_PATH=/work"]),
      );
      expect(stdout.toString()).not.toMatch(/GLOVEBOX_VARIABLE/);
      // The loader complains once for each program into which it should load the library.
      expect(stderr.toString().split(missing).length - 1).toBeLessThanOrEqual(1);
    },
    { capability: "programs" },
  );

  behaviour(
    "variables.helpers",
    "helpers run none of the commands that a container's PATH leads to, and load none of its libraries",
    async (scene) => {
      const environment = { PATH: `${planted}:${ownPath.PATH}`, LD_PRELOAD: missing, ENV: `${planted}/sh` };
      const container = await scene.idle({ image: scene.subject.images.python, environment });
      const plant = fixtureProgram("plants-commands.sh", planted, told);
      expect(await scene.run(container, plant, { environment: ownPath })).toMatchObject({ exitCode: 0 });

      const files = new SandboxFiles(container, scene.capabilities);
      const written = files.write("/work/file", Buffer.from("content\n")).then(() => "written", String);
      expect(await written).toBe("written");
      expect((await bytesOf((await files.read("/work/file")).chunks)).toString()).toBe("content\n");
      expect((await files.list("/work")).entries.map(({ path }) => path)).toContain("file");
      const limits = { maxOutputBytes: 100, timeLimitMs: 30_000 };
      const { stderr } = await runSandboxCommand(container, { command: ["env"], ...limits });
      expect(stderr.text()).toBe("");
      const sleeper = await scene.exec(container, ["/bin/sleep", "60"]);
      await sleeper.process.kill("SIGTERM");
      await sleeper.process.kill("SIGKILL");

      const found = await scene.run(container, ["/bin/cat", told], { environment: { ...ownPath, LD_PRELOAD: "" } });
      expect(found.stdout.toString()).toBe("");
    },
    { capability: "programs" },
  );
};
