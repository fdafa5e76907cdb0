import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { encodeJob, runnerInput, runnerCommand, withRealFolders } from "./runner-job.ts";
import { runtimeOf } from "../../languages/language-table.ts";
import { posix, win32 } from "node:path";

const decode = (pieces: readonly Uint8Array[]): { readonly header: unknown; readonly rest: string } => {
  const bytes = Buffer.concat(pieces);
  const end = bytes.indexOf("\n");
  const length = Number(bytes.subarray(0, end).toString());
  const start = end + 1;
  return {
    header: JSON.parse(bytes.subarray(start, start + length).toString()),
    rest: bytes.subarray(start + length).toString(),
  };
};

describe("encodeJob", () => {
  it("is the header's length, the header, the files and the compiled files", () => {
    const job = encodeJob({
      main: "main.ts",
      arguments: ["ü", ""],
      files: [
        { path: "main.ts", content: Buffer.from("let é: 1"), compiled: Buffer.from("let é") },
        { path: "d/data.bin", content: new Uint8Array([65, 66]) },
        { path: "empty.ts", content: new Uint8Array(), compiled: new Uint8Array() },
      ],
    });
    expect(decode(job)).toEqual({
      header: {
        version: 1,
        main: "main.ts",
        arguments: ["ü", ""],
        environment: {},
        folder: "/work",
        untrusted: [],
        working_directory: "",
        empties: 0,
        files: [
          { path: "main.ts", size: 9 },
          { path: "d/data.bin", size: 2 },
          { path: "empty.ts", size: 0 },
        ],
        compiled: [
          { path: "main.ts", size: 6 },
          { path: "empty.ts", size: 0 },
        ],
        data: [],
      },
      rest: "let é: 1ABlet é",
    });
  });

  it("carries variables of any name and value", () => {
    const environment = Object.fromEntries([
      ["A", "'\"\\\n"],
      ["__proto__", "x"],
    ]);
    const job = encodeJob({ main: "a", arguments: [], environment, files: [] });
    expect(JSON.stringify(decode(job).header)).toContain(JSON.stringify(environment));
  });

  it("copies no content", () => {
    const content = new Uint8Array(8);
    expect(encodeJob({ main: "a", arguments: [], files: [{ path: "a", content }] })).toContain(content);
  });

  it("keeps odd texts whole, without a line end or anything that Python would read differently", () => {
    const odd = "\\u0041 \n\r\u2028\u0000'\"\ud800{}#";
    const job = encodeJob({ main: "a", arguments: [odd], files: [], folder: "/x y" });
    expect(decode(job).header).toMatchObject({ arguments: [odd], folder: "/x y" });
    expect(Buffer.from(job[1] ?? []).toString()).not.toMatch(/[\n\r]|null|true|false/);
  });
});

describe("runnerInput", () => {
  it("is the job, the bytes of its data, then the program's own input", async () => {
    const stream = async function* (...texts: string[]): AsyncGenerator<Uint8Array> {
      for (const text of texts) yield Buffer.from(text);
    };
    const data = [
      { path: "d/a", sizeBytes: 3, read: () => stream("12", "3") },
      { path: "b", sizeBytes: 1, read: () => stream("4") },
    ];
    const files = [{ path: "main.ts", content: Buffer.from("F"), compiled: Buffer.from("C") }];
    const input = await buffer(runnerInput({ main: "main.ts", arguments: [], files, data }, stream("in", "put")));
    const { header, rest } = decode([input]);
    expect(header).toMatchObject({
      data: [
        { path: "d/a", size: 3 },
        { path: "b", size: 1 },
      ],
    });
    expect(rest).toBe("FC1234input");
  });

  it("comes in one piece when the job is small, and in its own pieces when it is not", async () => {
    const pieces = async (content: Uint8Array): Promise<number> => {
      const job = { main: "main.py", arguments: [], files: [{ path: "main.py", content }] };
      let count = 0;
      for await (const _ of runnerInput(job, Readable.from([]))) count += 1;
      return count;
    };
    expect(await pieces(Buffer.from("print(1)"))).toBe(1);
    expect(await pieces(Buffer.alloc(65_536))).toBe(3);
  });
});

describe("runnerCommand", () => {
  const source = "text of $(the) 'runner'\n";

  it("hands data to the shell as arguments only", () => {
    for (const toolchain of ["python", "node"] as const) {
      const [sh, option, script, ...rest] = runnerCommand({ toolchain, mainFile: "main.x", source });
      expect([sh, option]).toEqual(["sh", "-c"]);
      expect(script).not.toContain("runner'");
      expect(script).not.toContain("main.x");
      expect(rest).toContain(source);
      expect(rest.at(-1)).toBe("/work/main.x");
    }
  });

  it("has Node load the runner before the main file", () => {
    const command = runnerCommand({ toolchain: "node", mainFile: "main.js", source });
    expect(command.slice(-4)).toEqual(["node", "--require", "/tmp/.glovebox/runner.cjs", "/work/main.js"]);
  });

  it("starts Bun without a shell", () => {
    expect(runnerCommand({ toolchain: "bun", mainFile: "main.ts", source })).toEqual(["bun", "-e", source]);
  });

  it("takes another interpreter and other folders", () => {
    const options = { mainFile: "a.py", source, interpreter: "/opt/py", folder: "/w", runnerFolder: "/r" };
    expect(runnerCommand({ toolchain: "python", ...options }).slice(3)).toEqual([
      "sh",
      "/r",
      "sitecustomize.py",
      source,
      "/opt/py",
      "/w/a.py",
    ]);
  });
});

describe("needsCompiling", () => {
  it.each(["main.ts", "a/b.mts", "c.cts", "v.tsx"])("%s, for Node alone", (path) => {
    expect(runtimeOf("node").needsCompiling(path)).toBe(true);
    expect(runtimeOf("bun").needsCompiling(path)).toBe(false);
  });

  it.each(["main.js", "types.d.ts", "a.d.mts", "data.json", "ts", "a.ts.txt", "main.py"])("not %s", (path) => {
    expect(runtimeOf("node").needsCompiling(path)).toBe(false);
  });
});

const variables = { HOME: "/work", NODE_PATH: "/packages:/site", PYTHONPATH: "/same:/here", OTHER: "/work:/site" };

it("names the folders of Windows as its programs split them", () => {
  const real: Readonly<Record<string, string>> = { "/work": "C:\\w", "/packages": "C:\\p", "/site": "D:\\s" };
  const sandbox = { folderOf: (folder: string) => real[folder] ?? folder };
  expect(withRealFolders(variables, sandbox, win32.delimiter)).toEqual({
    ...variables,
    HOME: "C:\\w",
    NODE_PATH: "C:\\p;D:\\s",
  });
});

it("names those of other systems with a colon between them", () => {
  const sandbox = { folderOf: (folder: string) => (folder === "/same" ? folder : `/real${folder}`) };
  expect(withRealFolders(variables, sandbox, posix.delimiter)).toEqual({
    HOME: "/real/work",
    NODE_PATH: "/real/packages:/real/site",
    PYTHONPATH: "/same:/real/here",
    OTHER: "/work:/site",
  });
});
