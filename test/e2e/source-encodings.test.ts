import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { engines, useGlovebox } from "../helpers/open-glovebox.ts";
import { runCommand } from "../helpers/run-command.ts";
import { rareTagOnPodman } from "../lanes/lanes.ts";
import { sessionImages } from "../helpers/test-images.ts";

const folder = mkdtempSync(path.join(tmpdir(), "glovebox-encodings-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const latin1 = "# -*- coding: latin-1 -*-\nword = 'café'\nprint(ascii(word))\n";

describe.each(engines)("a Python program in another encoding than UTF-8 on %s", (engine) => {
  const glovebox = useGlovebox(engine, { workingDirectory: folder, settings: { images: sessionImages } });
  const tags = rareTagOnPodman(engine);

  it("is read by its coding line where it is a file beside the program, whose bytes stay", tags, async () => {
    writeFileSync(path.join(folder, "words.py"), Buffer.from(latin1, "latin1"));
    const code = "import words";
    const response = await glovebox().execute({ language: "python", code, context_files: ["words.py"] });
    expect(response).toMatchObject({ outcome: "completed", stdout: "'caf\\xe9'\n", warnings: expect.any(Array) as [] });
    expect(response.warnings.join("\n")).not.toContain("coding line");
  });

  it("is refused by the command as a file", tags, async () => {
    writeFileSync(path.join(folder, "main.py"), Buffer.from(latin1, "latin1"));
    const { exitCode, stdout, stderr } = await runCommand(["run", "--engine", engine, "main.py"], { cwd: folder });
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
    expect(stderr).toContain('FILE: "main.py" is not UTF-8, as programs must be: byte 0xE9 in line 2');
  });

  it("is warned of where its coding line contradicts the text that was sent", tags, async () => {
    const warned = expect.stringContaining("beyond ASCII as latin-1") as string;
    const executed = await glovebox().execute({ language: "python", code: latin1 });
    expect(executed).toMatchObject({ stdout: "'caf\\xc3\\xa9'\n", warnings: expect.arrayContaining([warned]) as [] });
    const called = await glovebox().runCode({ language: "python", code: latin1 });
    expect(called.warnings).toContainEqual(warned);
  });
});
