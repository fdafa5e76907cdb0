import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readSecret } from "./read-secret.ts";
import type { SecretSource } from "./config.ts";

let home = "";
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "glovebox-secrets-"));
});
afterAll(() => rm(home, { recursive: true, force: true }));

const read = (from: SecretSource["from"], environment: Readonly<Record<string, string>> = {}): Promise<string> =>
  readSecret({ name: "KEY", from, principals: null, kinds: null }, { environment, homeDirectory: home });
async function readContent(content: string | Uint8Array): Promise<string> {
  await writeFile(join(home, "secret"), content);
  return read({ kind: "file", path: "~/secret" });
}

describe("readSecret", () => {
  it("reads a variable as it is", async () => {
    expect(await read({ kind: "env", variable: "X" }, { X: " a\n" })).toBe(" a\n");
  });

  it("reads a file as it is now, without one line end at its end", async () => {
    expect(await readContent("first\n")).toBe("first");
    expect(await readContent("a\nb\r\n")).toBe("a\nb");
    expect(await readContent("\ufeffa\n\n")).toBe("\ufeffa\n");
    expect(await read({ kind: "file", path: join(home, "secret") })).toBe("\ufeffa\n");
    expect(await readContent(`${"x".repeat(16_384)}\n`)).toHaveLength(16_384);
  });

  it.each([
    ["nothing", "", "its file is empty"],
    ["only a line end", "\n", "its file is empty"],
    ["too much", "x".repeat(16_385), "its value is longer than 16384 bytes"],
    ["far too much", "x".repeat(1_000_000), "its value is longer than 16384 bytes"],
    ["a NUL", "hush\0hush", "its value holds a NUL character"],
    ["bytes that are no text", Uint8Array.of(0x68, 0xff), "its file is not text in UTF-8"],
  ])("refuses %s, and shows neither value nor path", async (_, content, reason) => {
    const error: unknown = await readContent(content).catch((caught: unknown) => caught);
    expect(error).toMatchObject({
      errorType: "UNSUPPORTED",
      message: `The secret KEY is not available: ${reason}.`,
    });
    expect(error).not.toHaveProperty("cause");
  });

  it("refuses a file that is missing, and a variable that is not set", async () => {
    const missing: unknown = await read({ kind: "file", path: "~/none" }).catch((caught: unknown) => caught);
    expect(missing).toMatchObject({
      message: "The secret KEY is not available: its file cannot be read (ENOENT).",
    });
    expect(missing).not.toHaveProperty("cause");
    for (const environment of [{}, { X: "" }] as const) {
      await expect(read({ kind: "env", variable: "X" }, environment)).rejects.toThrow("is not set");
    }
  });
});
