import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { Readable } from "node:stream";
import { afterAll, describe, expect, it } from "vitest";
import { failureOf } from "../../test/helpers/failure-of.ts";
import { readProgram } from "./run-command.ts";

const folder = mkdtempSync(path.join(tmpdir(), "glovebox-program-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function readText(content: string | Buffer, name = "x.py"): Promise<string> {
  const file = path.join(folder, name);
  writeFileSync(file, content);
  return readProgram({ file, io: { stdin: Readable.from([]) } });
}

const latin1 = (text: string): Buffer => Buffer.from(text, "latin1");

describe("a program's file", () => {
  it.each(["print(1)\r\n", "\uFEFFprint('é')", "# -*- coding: latin-1 -*-\nprint(1)\n"])(
    "is read as it is: %j",
    async (code) => {
      expect(await readText(code)).toBe(code);
    },
  );

  it.each([
    [
      "a coding line",
      latin1("# -*- coding: latin-1 -*-\nprint('é')\n"),
      "0xE9 in line 2 (its coding line says latin-1)",
      "iconv -f latin-1 -t UTF-8; then let its coding line say utf-8",
    ],
    [
      "a coding line below the first",
      latin1("#!/usr/bin/python3\n# vim: set fileencoding=cp1252 :\nx = 'é'"),
      "in line 3 (its coding line says cp1252)",
      "iconv -f cp1252 -t",
    ],
    ["no coding line", latin1("x = 1\n# coding of café\n"), "0xE9 in line 2.", "iconv -f ISO-8859-1"],
    ["a coding line too late", latin1("x = 1\n# coding: latin-1\n'é'"), "0xE9 in line 3.", "iconv -f ISO-8859-1"],
    [
      "a byte order mark of UTF-16",
      Buffer.from("\uFEFFprint(1)", "utf16le"),
      "0xFF in line 1 (its byte order mark says UTF-16)",
      "iconv -f UTF-16",
    ],
  ])("in another encoding is refused in words of the file: %s", async (_, content, said, help) => {
    const error = await failureOf(readText(content), "INVALID_REQUEST");
    expect(error.message).toContain('x.py" is not UTF-8, as programs must be: byte ');
    expect(error.message).toContain(said);
    expect(error.suggestion).toContain(help);
  });

  it.each([
    ["empty", " \n\t", 'FILE: expected a program, got "', "which is empty"],
    ["too long", "#".repeat(1_048_577), "FILE: expected a program of at most 1048576 bytes, got", "which has more"],
  ])("that is %s is refused in words of the file", async (_, content, ...said) => {
    const { message } = await failureOf(readText(content), "INVALID_REQUEST");
    for (const words of said) expect(message).toContain(words);
  });

  it("may be standard input, by that name", async () => {
    const given = (bytes: Buffer): Promise<string> => readProgram({ file: "-", io: { stdin: Readable.from([bytes]) } });
    expect(await given(Buffer.from("print('é')"))).toBe("print('é')");
    const { message } = await failureOf(given(latin1("print('é')")), "INVALID_REQUEST");
    expect(message).toBe("FILE: standard input is not UTF-8, as programs must be: byte 0xE9 in line 1.");
  });
});
