import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, symlinkSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { inlineFiles } from "./inline-files.ts";

describe("inlineFiles", () => {
  it.each(["../up.txt", "/etc/passwd"])("says of %s why a server does not get it, and what to do", async (file) => {
    await expect(inlineFiles("--file", [file])).rejects.toMatchObject({
      errorType: "INVALID_REQUEST",
      message: `--file: a server gets only files below the current folder, under their paths from it; found ${file}.`,
      suggestion: expect.stringMatching(/Copy the file .* unset GLOVEBOX_URL/) as string,
    });
  });

  it("takes files below it under their paths", async () => {
    const [file] = await inlineFiles("--file", ["./package.json"]);
    expect(file).toMatchObject({ path: "package.json", encoding: "utf8" });
  });

  it("follows no link that a program may have left, waits for no FIFO, and says of both what they are", async () => {
    const folder = mkdtempSync(path.join(process.cwd(), ".inline-files-"));
    try {
      symlinkSync("/etc/passwd", path.join(folder, "link"));
      symlinkSync("/etc", path.join(folder, "way"));
      execFileSync("mkfifo", [path.join(folder, "fifo")]);
      const take = (name: string) => inlineFiles("--file", [path.join(path.basename(folder), name)]);
      await expect(take("link")).rejects.toThrow(/is a link on this machine: it is not followed/);
      await expect(take("way/passwd")).rejects.toThrow(/is a link on this machine: it is not followed/);
      await expect(take("fifo")).rejects.toThrow(/^--file: expected a file, got/);
      await expect(take("missing")).rejects.toThrow(/missing \(which does not exist\)/);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
