import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Checkout } from "../helpers/checkout.ts";

/** The whole folder of a language: a runner that calculates the sums of a program, and leaves the last result in a file. */
const runner = `
import json, os, sys
header = json.loads(sys.stdin.buffer.read(int(sys.stdin.buffer.readline())))
texts = {file["path"]: sys.stdin.buffer.read(file["size"]).decode() for file in header["files"]}
os.chdir(header["working_directory"] or header["folder"])
for number, line in enumerate(texts[header["main"]].splitlines(), 1):
    try:
        result = sum(int(part) for part in line.split("+"))
    except ValueError:
        sys.exit("%s:%d: not a sum" % (header["main"], number))
    print(result)
    open("last.txt", "w").write(str(result))
`;

/** Its row. */
const row = `  {
    name: "sums",
    title: "Sums",
    shortNames: ["+"],
    mainFile: "main.sums",
    endings: [".sums"],
    shebang: /^sums$/,
    image: "python:3.12-slim",
    runtimes: [
      {
        name: "sums",
        interpreter: "python3",
        image: "language",
        runnerFile: "sums/runner.py",
        start: ({ interpreter, source }) => [interpreter, "-c", source],
        environment: {},
        needsCompiling: () => false,
        findSyntaxError: ({ stderr, files }) => {
          const [, name, line] = /^(\\S+):(\\d+): not a sum$/.exec(stderr) ?? [];
          const file = [...files.values()].find(({ path }) => path === name);
          return file === undefined ? null : { file: file.path, line: Number(line), column: null, message: "not a sum" };
        },
        missingModule: null,
        importedModules: null,
        notebook: null,
      },
    ],
    ecosystem: null,
    allowsNul: false,
  },`;

const calls = `
import { createGlovebox } from "./src/index.ts";
await using glovebox = await createGlovebox({ engine: "local", settings: { images: { sums: "sums:1" } } });
const once = await glovebox.execute({ language: "sums", code: "1 + 2\\n40 + 2\\n" });
const wrong = await glovebox.execute({ language: "sums", code: "1 + 2\\none\\n", packages: "auto" });
const refusal = ({ errorType, message }) => ({ errorType, message });
const withPackages = await glovebox.execute({ language: "sums", code: "1", packages: ["abacus"] }).catch(refusal);
await using session = await glovebox.sessions.open();
const sum = await session.run({ language: "sums", code: "20 + 3" });
const next = await session.run({ language: "sums", code: "20 + 4" });
const seen = await session.run({ language: "python", code: "print(open('last.txt').read())" });
await using keeping = await glovebox.sessions.open({ keepVariables: true });
const kept = await keeping.run({ language: "sums", code: "1" }).catch(refusal);
console.log(JSON.stringify({
  once: once.stdout,
  wrong: [wrong.outcome, wrong.error?.errorType ?? wrong.error?.error_type, wrong.error?.message],
  withPackages,
  session: [sum.stdout, next.stdout, seen.stdout],
  kept,
}));
`;

describe("the recipe of a language, followed in a copy of the sources, on engine local", () => {
  const checkout = new Checkout();
  afterAll(() => checkout.remove());

  beforeAll(() => {
    checkout.add("images/runners/sums/runner.py", runner);
    checkout.addRow("src/languages/language-table.ts", { after: "const rows = [", row });
  });

  it("makes one that runs by itself and in sessions, has an image in the settings, and is refused what it has not", async () => {
    expect(JSON.parse(await checkout.print(calls))).toEqual({
      once: "3\n42\n",
      wrong: ["failed", "SYNTAX_ERROR", "main.sums:2: not a sum"],
      withPackages: { errorType: "INVALID_REQUEST", message: expect.stringContaining("packages") as string },
      session: ["23\n", "24\n", "24\n"],
      kept: { errorType: "UNSUPPORTED", message: expect.stringContaining("keep_variables") as string },
    });
  });

  it("makes one that the command line knows by its file's ending", async () => {
    checkout.add("two.sums", "1 + 1\n");
    expect(await checkout.run(["run", "--engine", "local", "two.sums"])).toBe("2\n");
  });
});
