import { text } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { checkContextFiles, maxContextBytes, type ContextFile } from "./context-files.ts";

const options = { reservedPaths: ["main.py"], diskBytes: 1_000_000_000 };

function paths(...names: string[]): ContextFile[] {
  return names.map((path) => ({ path, content: "" }));
}

describe("checkContextFiles", () => {
  it("returns normal paths and the bytes as they are", () => {
    const binary = Uint8Array.from([0, 255, 13, 10]);
    expect(
      checkContextFiles(
        [
          { path: "./lib//a.py", content: "\ufeffé\r\n" },
          { path: "lib/b.bin", content: binary },
          { path: "lib/c/d", content: "" },
        ],
        options,
      ).files,
    ).toEqual([
      { path: "lib/a.py", content: Uint8Array.from([0xef, 0xbb, 0xbf, 0xc3, 0xa9, 13, 10]) },
      { path: "lib/b.bin", content: binary },
      { path: "lib/c/d", content: new Uint8Array() },
    ]);
    expect(checkContextFiles([], options)).toEqual({ files: [], data: [] });
  });

  it.each([
    ["a path out", paths("a", "b", "c", "../../etc/passwd"), 3, 'expected a path without ".."'],
    ["an absolute path", paths("/etc/passwd"), 0, "not an absolute one"],
    ["the code's name", paths("main.py"), 0, '"main.py" is the path of the code itself too'],
    ["the code's name in disguise", paths("./MAIN.py"), 0, "is the path of the code itself too"],
    ["the code as a folder", paths("main.py/x"), 0, '"main.py/x" needs a folder where the code itself is a file'],
    ["a duplicate", paths("a", "b", "a"), 2, "is the path of context_files[0] too"],
    ["a duplicate once normal", paths("a/b", "a//./b"), 1, "is the path of context_files[0] too"],
    ["a duplicate but for case", paths("Data.csv", "data.CSV"), 1, "upper and lower case count as the same"],
    ["a duplicate but for Unicode form", paths("\u00e9", "e\u0301"), 1, "is the path of context_files[0] too"],
    ["a folder over a file", paths("a", "a/b"), 1, '"a/b" needs a folder where context_files[0] is a file'],
    ["a deep folder over a file", paths("x/A", "x/a/b/c"), 1, "needs a folder where context_files[0] is a file"],
    ["a file over a folder", paths("a/b/c", "a/b"), 1, '"a/b" is a folder in the path of context_files[0]'],
  ])("refuses %s", (_, files, index, words) => {
    expect(() => checkContextFiles(files, options)).toThrow(
      expect.objectContaining({
        errorType: "INVALID_REQUEST",
        context: { field: `context_files[${index}].path` },
        message: expect.stringContaining(words) as string,
      }),
    );
  });

  it("bounds the number of files", () => {
    const many = (count: number): ContextFile[] => paths(...Array.from({ length: count }, (_, index) => `f${index}`));
    expect(checkContextFiles(many(256), options).files).toHaveLength(256);
    expect(() => checkContextFiles(many(257), options)).toThrow(
      "context_files: expected at most 256 files, found 257.",
    );
  });

  it("bounds the bytes of all files together", () => {
    const half = new Uint8Array(maxContextBytes / 2);
    const two = [
      { path: "a", content: half },
      { path: "b", content: half },
    ];
    expect(checkContextFiles(two, options).files).toHaveLength(2);
    expect(() => checkContextFiles([...two, { path: "c", content: "x" }], options)).toThrow(
      "context_files[2].content: expected at most 16777216 bytes (16 MiB) in all files, found more up to here.",
    );
  });

  it("bounds the bytes of files that are not in memory by the disk limit, with all the others", async () => {
    const read = async function* (): AsyncGenerator<Uint8Array> {
      yield Buffer.from("data");
    };
    const large = { path: "./d//large", content: { sizeBytes: 3 * maxContextBytes, read } };
    const { files, data } = checkContextFiles([large, { path: "a", content: "x" }], options);
    expect(files).toHaveLength(1);
    expect(data).toMatchObject([{ path: "d/large", sizeBytes: 3 * maxContextBytes }]);
    expect(await text(data[0]!.read())).toBe("data");
    const diskBytes = 3 * maxContextBytes;
    expect(checkContextFiles([large], { ...options, diskBytes }).data).toHaveLength(1);
    expect(() => checkContextFiles([large, { path: "a", content: "x" }], { ...options, diskBytes })).toThrow(
      "context_files: expected at most 48 MiB in all files, which is limits.disk_mb, found ",
    );
    expect(() => checkContextFiles([large, large], options)).toThrow("is the path of context_files[0] too");
  });

  it("refuses text that has no UTF-8", () => {
    expect(() => checkContextFiles([{ path: "a", content: "\ud800" }], options)).toThrow(
      expect.objectContaining({ context: { field: "context_files[0].content" } }),
    );
  });

  it("names the field it was told", () => {
    expect(() => checkContextFiles(paths(""), { ...options, field: "files" })).toThrow(/^files\[0\]\.path: /);
  });
});
