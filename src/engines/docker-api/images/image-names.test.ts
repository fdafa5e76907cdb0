import { describe, expect, it } from "vitest";
import { bears, imagePath, wholeNames } from "./image-names.ts";

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
