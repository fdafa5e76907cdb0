import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createGlovebox, type Glovebox, type OutputChunk } from "../../src/index.ts";
import { useGlovebox } from "../helpers/open-glovebox.ts";
import { sessionImages } from "../helpers/test-images.ts";

/** Each opens one Glovebox on the embedded engine. */
const subjects: readonly (readonly [string, () => Promise<Glovebox>])[] = [
  ["the embedded library", () => createGlovebox({ engine: "local", settings: { images: sessionImages } })],
];

describe.each(subjects)("%s", (_, open) => {
  useGlovebox("local");
  let glovebox: Glovebox;
  beforeAll(async () => {
    glovebox = await open();
  });
  afterAll(() => glovebox.close());

  it("runs a program, whose result is in camelCase with its maps as they are", async () => {
    const code = "import os, sys\nprint(os.environ['some_name'])\nprint('no', file=sys.stderr)\nsys.exit(3)";
    const result = await glovebox.execute({
      language: "python",
      code,
      environment: { some_name: "some_value" },
      limits: { timeoutSeconds: 20, memoryMb: 256 },
    });
    expect(result).toMatchObject({ ok: false, outcome: "failed", exitCode: 3, stdout: "some_value\n", stderr: "no\n" });
    expect(result).toMatchObject({ engine: "local", timedOut: false, truncated: false });
    expect(result.sandboxId).toMatch(/^sbx-/);
    expect(Object.keys(result).filter((name) => name.includes("_"))).toEqual([]);
  });

  it("gives output while the program runs", async () => {
    const code = "import sys\nprint('first', flush=True)\nprint(input())";
    let heard: () => void = () => undefined;
    const firstHeard = new Promise<void>((resolve) => (heard = resolve));
    // The program waits for what is sent only once its first line has come.
    const stdin = (async function* () {
      await firstHeard;
      yield new TextEncoder().encode("second\n");
    })();
    const run = glovebox.execute({ language: "python", code }, { stdin });
    const chunks: OutputChunk[] = [];
    for await (const chunk of run) {
      chunks.push(chunk);
      if (chunk.text.includes("first")) heard();
    }
    expect(chunks.map(({ text }) => text).join("")).toBe("first\nsecond\n");
    expect(await run).toMatchObject({ ok: true, stdout: "first\nsecond\n" });
  });
});
