import { describe, expect, it } from "vitest";
import { chooseInstallation, expectsBun, projectTools } from "./project-tools.ts";

describe("image and installation of a project", () => {
  it.each([
    ["npm test", ["package.json", "package-lock.json"], "javascript", "npm"],
    ["pnpm test", ["package.json", "pnpm-lock.yaml"], "javascript", "pnpm"],
    ["bun test", ["bun.lock", "package.json"], "bun", "bun"],
    ["make test", ["Makefile", "bun.lockb"], "bun", "bun"],
    ["pytest -q", ["requirements.txt"], "python", "requirements"],
    ["make test", ["requirements.txt", "Makefile"], "python", "requirements"],
    ["pytest", ["package-lock.json", "pyproject.toml"], "python", "pyproject"],
    ["make test", ["package.json", "pyproject.toml"], "javascript", null],
    ["make test", ["uv.lock", "pyproject.toml", "poetry.lock"], "python", "uv"],
    ["npx jest", ["requirements.txt", "package-lock.json"], "javascript", "npm"],
    ["make test", ["package.json"], "javascript", null],
    ["./run", ["setup.py"], "python", null],
    ["./run", ["a.test.ts"], "javascript", null],
    ["./run", [], "python", null],
  ])("%s with %j", (command, names, image, installer) => {
    expect(projectTools(command, names)).toEqual({ image, installer });
  });
});

it("Bun's report is expected only where Bun is", () => {
  expect(expectsBun("bun test", [])).toBe(true);
  expect(expectsBun("npm test", ["bun.lock"])).toBe(true);
  expect(expectsBun("npm test", ["package.json"])).toBe(false);
  expect(expectsBun("./bundle", ["package.json"])).toBe(false);
});

describe("what is installed", () => {
  const names = ["package.json", "package-lock.json", "node_modules"];
  const question = { names, tools: projectTools("npm test", names), includeIgnored: false, setupCommand: undefined };

  it.each([
    ["the lockfile's, when nothing is asked for", {}, { installer: "npm" }],
    ["what is asked for", { setupCommand: "make" }, { line: "make" }],
    ["nothing, when that is asked for", { setupCommand: " " }, null],
    ["nothing, where dependencies are copied", { includeIgnored: true }, null],
  ])("is %s", (_, more, installation) => {
    expect(chooseInstallation({ ...question, ...more })).toEqual(installation);
  });
});
