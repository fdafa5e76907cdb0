import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, expect, it, vi } from "vitest";
import { startTool } from "../scripts/run-tool.ts";

const folder = mkdtempSync(path.join(tmpdir(), "glovebox-test-run-tool-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Writes a file that is as old as that, and then does what the rest says. */
const program = (file: string, rest: string): readonly string[] => [
  "-e",
  `fs.writeFileSync(${JSON.stringify(file)}, ""); fs.utimesSync(${JSON.stringify(file)}, 1, 1); ${rest}`,
];

it("ends a tool that goes on after its last file, as one that ended well", { timeout: 30_000 }, async () => {
  const said = vi.spyOn(console, "error").mockReturnValue();
  const lastFile = path.join(folder, "late");
  expect(await startTool("node", program(lastFile, "setInterval(() => {}, 1000)"), { lastFile })).toBe(0);
  expect(said).toHaveBeenCalledWith(expect.stringContaining("is killed"));
  said.mockRestore();
});

it("gives the exit code of a tool that ends by itself, and 1 of one that is killed for its time", async () => {
  const lastFile = path.join(folder, "ended");
  expect(await startTool("node", program(lastFile, "process.exit(3)"), { lastFile })).toBe(3);
  expect(
    await startTool("node", ["-e", "setInterval(() => {}, 1000)"], { lastFile: `${lastFile}-never`, boundMs: 500 }),
  ).toBe(1);
});
