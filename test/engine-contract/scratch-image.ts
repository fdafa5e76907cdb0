import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";
import { createId } from "../../src/base/id.ts";
import { tarOf } from "../../src/base/tar.ts";
import type { Engine } from "../../src/engines/engine.ts";
import { SandboxFiles } from "../../src/sandbox/files/sandbox-files.ts";
import { bytesOf } from "../helpers/bytes-of.ts";
import type { Topic } from "./behaviour.ts";

const source = new URL("../fixtures/programs/says-and-serves.c", import.meta.url).pathname;

/** A program that needs nothing from its image: it says its word, or serves it at a port. */
function staticProgram(): Buffer {
  const folder = mkdtempSync(join(tmpdir(), "glovebox-static-"));
  try {
    const made = join(folder, "program");
    const { status, stderr } = spawnSync("gcc", ["-static", "-O1", "-o", made, source], { encoding: "utf8" });
    expect([status, stderr]).toEqual([0, ""]);
    return readFileSync(made);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function built({ images }: Engine, reference: string, context: Buffer): Promise<AsyncDisposable> {
  await images.build({ reference, context, arguments: {}, labels: {} });
  return { [Symbol.asyncDispose]: () => images.remove(reference) };
}

/** Nothing of ours needs anything in an image. */
export const scratchImage: Topic = (behaviour) => {
  behaviour(
    "images.scratch",
    "an image that has one static program and nothing else works: run, command, files, port",
    async (scene) => {
      const { engine } = scene;
      const reference = `glovebox-test/scratch:${createId("x")
        .toLowerCase()
        .replace(/[^a-z0-9]/g, "")}`;
      const context = tarOf([
        { path: "Dockerfile", content: Buffer.from("FROM scratch\nCOPY program /program\n") },
        { path: "program", content: staticProgram() },
      ]);
      // Files of such a context are not executable: the program becomes so on its way through the files.
      const { bringImage = (): Promise<AsyncDisposable> => built(engine, reference, context) } = scene.subject;
      await using _ = await bringImage(reference, context);
      const container = await scene.idle({ image: reference });
      const files = new SandboxFiles(container, scene.capabilities);
      const { chunks } = await files.read("/program");
      await files.write("/work/program", await bytesOf(chunks), { mode: 0o755 });
      expect((await scene.run(container, ["/work/program", "said"])).stdout.toString()).toBe("said");
      expect((await scene.run(container, ["sh"])).exitCode).toBe(127);
      await files.writeTree("/work/tree", [{ kind: "folder", path: "a", mode: 0o755, modifiedAtMs: 0 }]);
      expect((await files.list("/work", { depth: 2 })).entries.map(({ path }) => path)).toEqual([
        "program",
        "tree",
        "tree/a",
      ]);
      const paths: string[] = [];
      for await (const { path } of files.readTree("/work/tree")) paths.push(path);
      expect(paths).toEqual(["", "a"]);
      const server = await scene.exec(container, ["/work/program", "served", "8080"]);
      await server.until("stdout", "ready");
      expect((await bytesOf(await container.connect(8080))).toString()).toBe("served");
      await container.remove();
    },
    { capability: "images", timeoutMs: 240_000 },
  );
};
