import { describe, expect, it } from "vitest";
import { parseListing } from "./parse-listing.ts";

const list = (text: string | Buffer, most = 100): ReturnType<typeof parseListing> =>
  parseListing(Buffer.from(text), most);

describe("parseListing", () => {
  it("reads what GNU's find and BusyBox's stat print", () => {
    const gnu = "-rw-r--r-- 644 5 1000000000.1234567890 ./b//\n";
    const busybox = "drwxrwxrwt 1777 4096 1000000001 ./a//\n";
    expect(list(gnu + busybox)).toEqual({
      isTruncated: false,
      entries: [
        { path: "a", isAddressable: true, kind: "folder", sizeBytes: 0, mode: 0o1777, modifiedAtMs: 1_000_000_001_000 },
        { path: "b", isAddressable: true, kind: "file", sizeBytes: 5, mode: 0o644, modifiedAtMs: 1_000_000_000_000 },
      ],
    });
  });

  it("knows links and everything else", () => {
    const lines = ["l", "p", "s", "b", "c"].map((letter) => `${letter}rwxrwxrwx 777 9 0 ./${letter}//\n`).join("");
    expect(Object.fromEntries(list(lines).entries.map(({ path, kind }) => [path, kind]))).toEqual({
      l: "link",
      ...{ p: "other", s: "other", b: "other", c: "other" },
    });
  });

  it("takes a name for a name, whatever it looks like", () => {
    const name = "-rw-r--r-- 644 5 1 .\n-rw-r--r-- 644 5 1 ./x";
    expect(list(`-rw-r--r-- 644 5 1 ./${name}//\n`).entries.map(({ path }) => path)).toEqual([name]);
  });

  it("says which name is no UTF-8", () => {
    const record = Buffer.concat([Buffer.from("-rw-r--r-- 644 5 1 ./x"), Buffer.from([0xff]), Buffer.from("//\n")]);
    expect(list(record).entries).toMatchObject([{ path: "x\ufffd", isAddressable: false }]);
  });

  it("says when there is more, also when the last record is cut off", () => {
    const [a, b] = ["-rw-r--r-- 644 5 1 ./a//\n", "-rw-r--r-- 644 5 1 ./b//\n"];
    expect(list(a + b, 1)).toMatchObject({ isTruncated: true, entries: [{ path: "a" }] });
    expect(list(a + b.slice(0, -2))).toMatchObject({ isTruncated: true, entries: [{ path: "a" }] });
    expect(list("")).toEqual({ isTruncated: false, entries: [] });
  });
});
