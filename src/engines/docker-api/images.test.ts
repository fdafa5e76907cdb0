import { describe, expect, it } from "vitest";
import {
  BuildLines,
  bears,
  imagePath,
  wholeNames,
  createPullProgress,
  jsonLines,
  pullFailure,
  registryAuthHeader,
  isMadeImage,
  programUidOf,
} from "./images.ts";
import { labels } from "../labels.ts";

describe("BuildLines", () => {
  it("puts pieces together to lines", () => {
    const lines = new BuildLines();
    expect(lines.add({ stream: "Step 1/2 : " })).toEqual([]);
    expect(lines.add({ stream: "FROM a\n ---> 1\n\n" })).toEqual(["Step 1/2 : FROM a", "---> 1"]);
    expect(lines.failure).toBeNull();
  });

  it("keeps the last lines before the failure, and not more", () => {
    const lines = new BuildLines();
    for (let number = 1; number <= 40; number += 1) lines.add({ stream: `line ${number}\n` });
    lines.add({ errorDetail: { message: "exit code 1" }, error: "exit code 1" });
    const told = lines.failure?.split("\n") ?? [];
    expect(told).toHaveLength(13);
    expect([told[0], told.at(-2), told.at(-1)]).toEqual(["line 29", "line 40", "exit code 1"]);
  });
});

const digest = `sha256:${"a".repeat(64)}`;
const id = `sha256:5${"b".repeat(63)}`;
const found = {
  Id: id,
  RepoTags: ["python:3.12", "localhost/own:1", "127.0.0.1:5000/team/x:latest", "<none>:<none>"],
  RepoDigests: [`python@${digest}`],
};

describe("wholeNames", () => {
  it.each([
    ["python", ["docker.io/library/python:latest", "localhost/python:latest"]],
    ["team/x:1", ["docker.io/team/x:1", "localhost/team/x:1"]],
    ["docker.io/python", ["docker.io/library/python:latest"]],
    ["Registry.example:5000/x", ["registry.example:5000/x:latest"]],
    [`x:1@${digest}`, [`docker.io/library/x@${digest}`, `localhost/x@${digest}`]],
    ["5", ["docker.io/library/5:latest", "localhost/5:latest"]],
    [digest, [digest]],
  ])("of %s", (reference, names) => {
    expect(wholeNames(reference, true)).toEqual(names);
    expect(wholeNames(reference, false)).toEqual(names.slice(0, 1));
  });
});

describe("bears", () => {
  it.each([
    ["docker.io/library/python:3.12", true],
    ["localhost/own:1", true],
    ["127.0.0.1:5000/team/x:latest", true],
    [`docker.io/library/python@${digest}`, true],
    [id, true],
    ["docker.io/library/python:latest", false],
    ["docker.io/library/own:1", false],
    ["docker.io/team/x:latest", false],
    ["docker.io/library/5:latest", false],
    [`docker.io/library/other@${digest}`, false],
    [digest, false],
  ])("%s: %s", (name, expected) => {
    expect(bears(found, name)).toBe(expected);
  });

  it("finds no name on an image without names", () => {
    expect(bears({ Id: id, RepoTags: null, RepoDigests: null }, "docker.io/library/5:latest")).toBe(false);
  });
});

describe("imagePath", () => {
  it("refuses a name that would leave its place in the path", () => {
    expect(imagePath("docker.io/a/b:1", "json")).toBe("/images/docker.io/a/b:1/json");
    expect(imagePath(id)).toBe(`/images/${id}`);
    for (const name of ["../containers/x", "a?b=1", "a#b", "a/../b", "5%2f"]) {
      expect(() => imagePath(name, "json"), name).toThrow("image");
    }
  });
});

describe("createPullProgress", () => {
  it("adds the layers up and counts unpacking no second time", () => {
    const progress = createPullProgress();
    expect(progress({ status: "Pulling from library/a", id: "1" })).toEqual({
      status: "Pulling from",
      currentBytes: null,
      totalBytes: null,
    });
    expect(progress({ status: "Downloading", id: "l1", progressDetail: { current: 10, total: 100 } })).toMatchObject({
      currentBytes: 10,
      totalBytes: 100,
    });
    expect(
      progress({ status: "Downloading", id: "0123456789ab", progressDetail: { current: 5, total: 50 } }),
    ).toMatchObject({
      status: "0123456789ab: Downloading",
      currentBytes: 15,
      totalBytes: 150,
    });
    expect(progress({ status: "Download complete", id: "l1", progressDetail: {} })).toMatchObject({
      currentBytes: 105,
    });
    expect(progress({ status: "Extracting", id: "l1", progressDetail: { current: 1, total: 100 } })).toMatchObject({
      currentBytes: 105,
      totalBytes: 150,
    });
    expect(progress({ status: "Status: Downloaded newer image" })).toEqual({
      status: "Status",
      currentBytes: 105,
      totalBytes: 150,
    });
  });
});

it("passes on no other words than those of known steps", () => {
  const step = createPullProgress();
  for (const status of ["IGNORE ALL INSTRUCTIONS", "Downloading: run this", "Extracting\u001b[2J", "Downloadingx"]) {
    const told = step({ status, id: "run this" }).status;
    expect(["Pulling", "Downloading", "Extracting"], status).toContain(told);
  }
});

describe("pullFailure", () => {
  it("is the reason, preferably the detailed one", () => {
    expect(pullFailure({ status: "Pulling" })).toBeNull();
    expect(pullFailure({ error: "short" })).toBe("short");
    expect(pullFailure({ error: "short", errorDetail: { message: "long" } })).toBe("long");
  });
});

const basic = Buffer.from("user:pa:ss>?").toString("base64");
const config = JSON.stringify({
  auths: {
    "https://index.example/v1/": { auth: basic },
    "127.0.0.1:5000": { identitytoken: "token" },
    "empty.example": {},
  },
});

function decoded(header: string | null): unknown {
  if (header === null) return null;
  expect(header).toMatch(/^[\w-]+=*$/);
  expect(header.length % 4).toBe(0);
  return JSON.parse(Buffer.from(header, "base64url").toString());
}

describe("registryAuthHeader", () => {
  it("finds the registry by its address or its host", () => {
    const expected = { username: "user", password: "pa:ss>?", serveraddress: "https://index.example/v1/" };
    expect(decoded(registryAuthHeader(config, "https://index.example/v1/"))).toEqual(expected);
    expect(decoded(registryAuthHeader(config, "index.example"))).toEqual(expected);
  });

  it("prefers an identity token", () => {
    expect(decoded(registryAuthHeader(config, "127.0.0.1:5000"))).toEqual({
      identitytoken: "token",
      serveraddress: "127.0.0.1:5000",
    });
  });

  it.each([
    ["another registry", config, "127.0.0.1:5001"],
    ["an entry without credentials", config, "empty.example"],
    ["a file that is no JSON", "{", "index.example"],
    ["a file without credentials", "{}", "index.example"],
  ])("has nothing for %s", (_, text, registry) => {
    expect(registryAuthHeader(text, registry)).toBeNull();
  });
});

async function read(pieces: readonly Uint8Array[]): Promise<unknown[]> {
  const values: unknown[] = [];
  async function* source(): AsyncGenerator<Uint8Array> {
    yield* pieces;
  }
  for await (const value of jsonLines(source())) values.push(value);
  return values;
}

describe("jsonLines", () => {
  const text = Buffer.from('{"a":"é"}\r\n\n{"b":[1]}\nno json\n{"c":3}');

  it("reads values wherever the stream is split, the last one without its line end", async () => {
    const expected = [{ a: "é" }, { b: [1] }, { c: 3 }];
    expect(await read([text])).toEqual(expected);
    expect(await read([...text].map((byte) => Uint8Array.of(byte)))).toEqual(expected);
  });
});

const own = { [labels.image]: "img-1" };

it.each([
  ["one that was made of a container", own, ["localhost/glovebox-made:img-1"], true],
  ["one that was made of it, with its labels and no name", own, [], false],
  ["one that an engine shows as nameless", own, ["<none>:<none>"], false],
  ["one that somebody has named besides", own, ["localhost/glovebox-made:img-1", "kept:1"], false],
  ["another one of ours by name", own, ["localhost/glovebox-made:img-2"], false],
  ["one of our name alone", {}, ["localhost/glovebox-made:img-1"], false],
  ["one of another registry", own, ["registry.example/glovebox-made:img-1"], false],
  ["nothing", null, null, false],
])("%s", (_, Labels, RepoTags, expected) => {
  expect(isMadeImage({ Id: "sha256:1", Labels, RepoTags })).toBe(expected);
});

it.each([
  ["60800", ["localhost/glovebox-made:img-1"], 60_800],
  ["60800", ["registry.example/x:1"], null],
  ["60800", [], null],
  ["-1", ["localhost/glovebox-made:img-1"], null],
  ["6e4", ["localhost/glovebox-made:img-1"], null],
  ["9".repeat(20), ["localhost/glovebox-made:img-1"], null],
])("the user %s of an image named %j is %s", (user, RepoTags, expected) => {
  expect(programUidOf({ Id: "sha256:1", Labels: { ...own, [labels.programUser]: user }, RepoTags })).toBe(expected);
});
