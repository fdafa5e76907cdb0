import { describe, expect, it } from "vitest";
import { GloveboxError } from "../../../errors/glovebox-error.ts";
import { fileFrame, type FileRequest } from "./file-operation.ts";

const request: FileRequest = {
  ...{ verb: "MOVE", folder: "/wörk", path: "a/b..c", other: ".d", user: 1, group: 2 },
  ...{ deadlineMs: 1000, maxEntries: 3, maxBytes: 4n },
};

describe("fileFrame", () => {
  it("counts the bytes of its three paths", () => {
    expect(fileFrame({ ...request, flags: ["PARENTS", "EXCLUSIVE"] })).toEqual({
      ...{ verb: 6, flags: 5, folderBytes: 6, pathBytes: 6, otherBytes: 2, user: 1, group: 2, mode: 0 },
      ...{ deadlineMs: 1000, maxEntries: 3, offset: 0n, maxBytes: 4n, tail: Buffer.from("/wörka/b..c.d") },
    });
  });

  it.each(["..", "../a", "a/..", "a/../b", ".", "./a", "/", "/a", "a/", "a//b", "a\0", "é".repeat(2048)])(
    "refuses %j as a path, and as another",
    (path) => {
      expect(() => fileFrame({ ...request, path })).toThrow(GloveboxError);
      expect(() => fileFrame({ ...request, other: path })).toThrow(GloveboxError);
    },
  );

  it.each(["", "a", "./a", "/a\0", `/${"x".repeat(4095)}`])("refuses %j as a folder", (folder) => {
    expect(() => fileFrame({ ...request, folder })).toThrow(GloveboxError);
  });
});
