import { describe, expect, it } from "vitest";
import { createGlovebox, type ExecuteRequest } from "../helpers/wire-glovebox.ts";
import { engines, useGlovebox } from "../helpers/open-glovebox.ts";
import { testImages } from "../helpers/test-images.ts";
import { executeCases } from "./execute/execute-cases.ts";

describe.each(engines)("execute on %s", (engine) => {
  const glovebox = useGlovebox(engine);
  const run = (request: ExecuteRequest) => glovebox().execute(request);
  executeCases(engine, (request, call) => glovebox().execute(request, call));

  it.each([
    ["python", "x = 1\nif x:\n  y = (2,\n\nprint(", "main.py", 3],
    ["javascript", "const a = 1;\nconst b = ;\n", "main.js", 2],
    ["typescript", "const a: number = 1;\nconst b: string = ;\n", "main.ts", 2],
  ] as const)("reports a syntax error in %s with file, line and column", async (language, code, file, line) => {
    const response = await run({ language, code });
    expect(response).toMatchObject({ outcome: "failed", error: { error_type: "SYNTAX_ERROR" } });
    expect(response.error?.context).toMatchObject({ file, column: expect.any(Number) });
    expect([line, 5]).toContain(response.error?.context["line"]);
    expect(response.error?.message).toContain(file);
  });

  it("does not take a program's own SyntaxError for one of its file", async () => {
    const response = await run({ language: "javascript", code: "JSON.parse('{')" });
    expect(response.outcome).toBe("failed");
    expect(response.error?.error_type).not.toBe("SYNTAX_ERROR");
  });

  it("caps kept output, marks it and does not end the program", async () => {
    const small = await createGlovebox({ engine, settings: { images: testImages, max_output_bytes: 1024 } });
    try {
      const response = await small.execute({ language: "python", code: "print('x' * 5000)\nprint('y' * 10, end='')" });
      expect(response).toMatchObject({ outcome: "completed", truncated: true, stdout: "x".repeat(1024) });
    } finally {
      await small.close();
    }
  });

  it("runs several at once, each in a sandbox of its own", async () => {
    const codes = Array.from(
      { length: 6 },
      (_, index) => `open('mine', 'x').write('${index}')\nprint(open('mine').read())`,
    );
    const responses = await Promise.all(codes.map((code) => run({ language: "python", code })));
    expect(responses.map((response) => response.stdout)).toEqual(["0\n", "1\n", "2\n", "3\n", "4\n", "5\n"]);
    expect(new Set(responses.map((response) => response.sandbox_id)).size).toBe(6);
  });
});
