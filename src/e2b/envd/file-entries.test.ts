import { describe, expect, it } from "vitest";
import { parseEntries, parseAttributes } from "./file-entries.ts";

const printed = (...texts: readonly string[]): Buffer => Buffer.from(texts.map((text) => `${text}\0`).join(""));

describe("entries of files", () => {
  it("are files, folders and links with what they lead to", () => {
    const file = "81a4:4:1700000000:glovebox:glovebox";
    const folder = "41ed:4096:1700000000:glovebox:glovebox";
    const link = "a1ff:7:1700000000:glovebox:glovebox";
    const output = printed(
      "/work/a\nb",
      ...[file, file, "", "author=mish"],
      "/work/d",
      ...[folder, folder, "", ""],
      "/work/l",
      ...[link, file, "/work/a", ""],
    );
    expect(parseEntries(output)).toMatchObject([
      {
        name: "a\nb",
        path: "/work/a\nb",
        type: "FILE_TYPE_FILE",
        size: "4",
        mode: 0o644,
        permissions: "-rw-r--r--",
        metadata: { author: "mish" },
      },
      { name: "d", type: "FILE_TYPE_DIRECTORY", permissions: "drwxr-xr-x", owner: "user", group: "user" },
      { name: "l", type: "FILE_TYPE_FILE", size: "4", permissions: "Lrw-r--r--", symlinkTarget: "/work/a" },
    ]);
  });

  it("leave out what no script of ours printed", () => {
    expect(parseEntries(printed("/work/a", "nonsense", "", "", ""))).toEqual([]);
    expect(parseEntries(printed("/work/a", "81a4:99999999999999999:0:u:g", "", "", ""))).toEqual([]);
    expect(parseEntries(printed("a", "b"))).toEqual([]);
    expect(parseEntries(Buffer.alloc(0))).toEqual([]);
  });
});

it("reads what the tool tells, and nothing that it cannot have told", () => {
  expect(parseAttributes("author=mish&b%20c=x%3D%26%25%0A&empty=&bytes=%FF")).toEqual({
    ...{ author: "mish", "b c": "x=&%\n", empty: "", bytes: "\u{fffd}" },
  });
  for (const text of ["", "&&", "=x", "a", "a=b=c", "a=%zz", "a=b\n", "a=<", `a=${"x".repeat(20_000)}`]) {
    expect(parseAttributes(text), text.slice(0, 20)).toEqual({});
  }
});
