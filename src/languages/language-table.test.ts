import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import {
  javascriptSyntaxPrograms,
  pythonSyntaxPrograms,
  typescriptSyntaxPrograms,
} from "../../test/fixtures/syntax-errors/programs.ts";
import { findSyntaxError } from "./language-table.ts";
import type { RuntimeName } from "./language-table.ts";

interface Output {
  readonly interpreter: string;
  readonly language: "python" | "javascript" | "typescript";
  readonly program: string;
  readonly exitCode: number;
  readonly stderr: string;
}

const outputs = JSON.parse(
  readFileSync(new URL("../../test/fixtures/syntax-errors/outputs.json", import.meta.url), "utf8"),
) as Output[];
const programs = {
  python: pythonSyntaxPrograms,
  javascript: javascriptSyntaxPrograms,
  typescript: typescriptSyntaxPrograms,
};
const endings = { python: "py", javascript: "js", typescript: "ts" };

describe("findSyntaxError reads what the interpreters really wrote", () => {
  it.each(outputs.map((output) => [`${output.interpreter}, ${output.language}: ${output.program}`, output] as const))(
    "%s",
    (_, { interpreter, language, program, exitCode, stderr }) => {
      const known = programs[language][program];
      if (known === undefined) throw new Error("outputs.json is older than programs.ts: collect it again");
      const files = Object.entries({ [`main.${endings[language]}`]: known.code, ...known.files }).map(
        ([path, text]) => ({
          path,
          content: Buffer.from(text),
        }),
      );
      const toolchain = interpreter.replace(/[\d.]+$/, "") as RuntimeName;
      const found = findSyntaxError({ toolchain, stderr, exitCode, files });
      const expected = known.expectedFrom?.[interpreter] ?? known.expected;
      expect(found === null ? null : `${found.file}:${found.line}:${found.column}`).toBe(expected);
      expect(stderr).toContain(found?.message ?? "");
    },
  );

  it("has outputs of every program", () => {
    expect(
      new Set(outputs.filter(({ interpreter }) => interpreter === "python3.13").map(({ program }) => program)),
    ).toEqual(new Set(Object.keys(pythonSyntaxPrograms)));
    expect(outputs.length).toBeGreaterThan(200);
  });
});

describe("findSyntaxError", () => {
  const files = [{ path: "main.py", content: Buffer.from("x = = 1\n") }];
  const stderr = '  File "/work/main.py", line 1\n    x = = 1\n        ^\nSyntaxError: invalid syntax\n';

  it("looks at failed programs only", () => {
    expect(findSyntaxError({ toolchain: "python", stderr, exitCode: 0, files })).toBeNull();
    expect(findSyntaxError({ toolchain: "python", stderr, exitCode: 1, files })).not.toBeNull();
  });

  it("does not count files that are not the job's", () => {
    const other = stderr.replace("main.py", "made-by-itself.py");
    expect(findSyntaxError({ toolchain: "python", stderr: other, exitCode: 1, files })).toBeNull();
  });

  it("takes no longer for a flood of near misses", () => {
    const flood = '  File "/work/main.py", line 1\n    x\n'.repeat(200_000);
    for (const toolchain of ["python", "node", "bun"] as const) {
      expect(
        findSyntaxError({ toolchain, stderr: `${flood}/work/main.py:1\n`.repeat(3), exitCode: 1, files }),
      ).toBeNull();
    }
  });
});
