import { describe, expect, it } from "vitest";
import { mebibyte } from "../../base/bytes.ts";
import { divideScratch, watchedScratch, type ScratchStorage } from "../../policy/scratch.ts";
import { assertFilesFit } from "./execute.ts";

const limits = { memoryBytes: 64 * mebibyte, diskBytes: 1024 * mebibyte };
const read = async function* (): AsyncGenerator<Uint8Array> {
  // Never sent.
};
const spec = (sizeBytes: number): Parameters<typeof assertFilesFit>[0] => ({
  code: "pass",
  contextFiles: [],
  dataFiles: [{ path: "a", sizeBytes, read }],
});

describe("assertFilesFit", () => {
  it("refuses files that, in whole pages beside the code, are more than the working folder has", () => {
    const scratch = divideScratch(limits, "memory");
    const room = scratch.places[0]?.sizeBytes ?? 0;
    const capabilities = { scratch: "memory" } as const;
    expect(() => assertFilesFit(spec(room - 4096), scratch, capabilities)).not.toThrow();
    expect(() => assertFilesFit(spec(room - 4095), scratch, capabilities)).toThrow(
      /^context_files: expected at most 20 MiB in all files, .*half the memory limit.*, found /,
    );
    const inMemory = [{ path: "b", content: new Uint8Array(1) }];
    expect(() => assertFilesFit({ ...spec(room - 4096), contextFiles: inMemory }, scratch, capabilities)).toThrow(
      "expected at most 20 MiB",
    );
    expect(() => assertFilesFit({ ...spec(0), dataFiles: [] }, scratch, capabilities)).not.toThrow();
  });

  it.each([
    ["none", divideScratch(limits, "none")],
    ["memory", watchedScratch(limits)],
  ] as const satisfies readonly (readonly [ScratchStorage, unknown])[])(
    "leaves alone what has no size of its own: %s",
    (scratch, division) => {
      expect(() => assertFilesFit(spec(2 * limits.diskBytes), division, { scratch })).not.toThrow();
    },
  );
});
