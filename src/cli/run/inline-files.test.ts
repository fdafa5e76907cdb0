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
});
