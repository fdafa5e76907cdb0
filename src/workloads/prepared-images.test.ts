import { describe, expect, it } from "vitest";
import { tarEnd, tarHeader, tarPadding, tarOf, type TarEntry } from "../base/tar.ts";
import { assertNames, plainArchive } from "./prepared-images.ts";

const good = "tool:1";
const layer = "a".repeat(64);
const manifest = (...tags: readonly string[]): string => JSON.stringify([{ Config: `${layer}.json`, RepoTags: tags }]);
const part = (path: string, text: string): Buffer[] => {
  const content = Buffer.from(text);
  const header = tarHeader({ kind: "file", path, mode: 0o644, modifiedAtMs: 0, sizeBytes: content.length });
  return [header, content, tarPadding(content.length)];
};
const other = (kind: "link" | "hard-link", path: string, target: string): Buffer[] => [
  tarHeader({ kind, path, target, mode: 0o644, modifiedAtMs: 0 } satisfies TarEntry),
];
const usual = [
  tarHeader({ kind: "folder", path: layer, mode: 0o755, modifiedAtMs: 0 }),
  ...part(`${layer}/layer.tar`, "files"),
  ...other("link", `${"b".repeat(64)}/layer.tar`, `../${layer}/layer.tar`),
  ...part("manifest.json", manifest(`docker.io/library/${good}`)),
];
async function* archiveOf(...parts: readonly Uint8Array[]): AsyncGenerator<Uint8Array, void, undefined> {
  yield Buffer.concat([...parts, tarEnd]);
}
const check = (...parts: readonly Uint8Array[]): Promise<void> => assertNames(archiveOf(...parts), good);
const index = (annotations: object): Buffer[] => part("index.json", JSON.stringify({ manifests: [{ annotations }] }));

describe("an archive of an image", () => {
  it("passes with what engines write", async () => {
    const ref = { "io.containerd.image.name": good, "org.opencontainers.image.ref.name": "1" };
    const lists = [...part("repositories", '{"tool":{"1":"aa"}}'), ...index(ref), ...part("oci-layout", "{}")];
    await expect(check(...usual, ...lists)).resolves.toBeUndefined();
  });

  it.each<[string, RegExp, readonly Buffer[]]>([
    ["another image too", /names "python:3" too/, part("manifest.json", manifest(good, "python:3"))],
    [
      "another image in a second list",
      /names "python:3"/,
      [...usual, ...part("./manifest.json", manifest("python:3"))],
    ],
    [
      "another image in the older list",
      /names "python:3"/,
      [...usual, ...part("repositories", '{"python":{"3":"a"}}')],
    ],
    [
      "another image in an index, by the name that counts where there is no other",
      /names "python:3"/,
      [...usual, ...index({ "org.opencontainers.image.ref.name": "python:3" })],
    ],
    ["a list by way of another folder", /no engine writes/, [...usual, ...part("x/../manifest.json", "[]")]],
    ["a list that is a link", /no engine writes/, [...usual, ...other("link", "manifest.json", "x.json")]],
    ["a list that is a hard link", /no engine writes/, [...usual, ...other("hard-link", "manifest.json", "x")]],
    ["a folder that is a link", /no engine writes/, [...usual, ...other("link", layer, ".")]],
    [
      "names that some parsers take in another case",
      /not what an engine writes/,
      part("manifest.json", `[{"RepoTags":["${good}"],"repotags":["python:3"]}]`),
    ],
    [
      "names that some parsers take from the first of two",
      /not what an engine writes/,
      part("index.json", '{"manifests":[{"annotations":{"io.containerd.image.name":"python:3"},"annotations":{}}]}'),
    ],
    ["a list that is none", /not what an engine writes/, part("manifest.json", "{")],
    ["no name", /names none/, part("manifest.json", "[]")],
  ])("is refused with %s", async (_, words, parts) => {
    await expect(check(...parts)).rejects.toMatchObject({
      errorType: "INVALID_REQUEST",
      message: expect.stringMatching(words) as string,
    });
  });

  it("that is none is refused", async () => {
    await expect(check(Buffer.alloc(512, 1))).rejects.toMatchObject({ errorType: "INVALID_REQUEST" });
  });

  it("reaches the engine as it was read here, and not as its headers may be read elsewhere", async () => {
    // Its name stands in a header of its own, as GNU tar writes long ones.
    const twofold = Buffer.concat([
      tarHeader({ kind: "file", path: "././@LongLink", mode: 0, modifiedAtMs: 0, sizeBytes: 14 }),
      Buffer.from("manifest.json\0"),
      tarPadding(14),
    ]);
    twofold.write("L", 156);
    const sum = [...twofold.subarray(0, 512)].reduce((all, byte, at) => all + (at >= 148 && at < 156 ? 32 : byte), 0);
    twofold.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
    const read = tarOf([{ path: "manifest.json", content: Buffer.from(manifest(good)) }]);
    const written: Uint8Array[] = [];
    const given = archiveOf(twofold, ...part("oci-layout", manifest(good)));
    for await (const chunk of plainArchive(given, good)) written.push(chunk);
    expect(Buffer.concat(written)).toEqual(read);
  });
});
