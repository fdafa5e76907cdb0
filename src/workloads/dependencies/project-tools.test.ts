import { describe, expect, it } from "vitest";
import { expectsBun, projectTools } from "./project-tools.ts";

describe("image and installation of a project", () => {
  it.each([
    ["npm test", ["package.json", "package-lock.json"], "javascript", "npm ci --no-audit --no-fund"],
    [
      "pnpm test",
      ["package.json", "pnpm-lock.yaml"],
      "javascript",
      "npm install --global pnpm && pnpm install --frozen-lockfile",
    ],
    ["bun test", ["bun.lock", "package.json"], "bun", "bun install --frozen-lockfile"],
    ["make test", ["Makefile", "bun.lockb"], "bun", "bun install --frozen-lockfile"],
    ["pytest -q", ["requirements.txt"], "python", "python3 -m pip install --requirement requirements.txt"],
    ["make test", ["requirements.txt", "Makefile"], "python", "python3 -m pip install --requirement requirements.txt"],
    ["pytest", ["package-lock.json", "pyproject.toml"], "python", null],
    ["npx jest", ["requirements.txt", "package-lock.json"], "javascript", "npm ci --no-audit --no-fund"],
    ["make test", ["package.json"], "javascript", null],
    ["./run", ["setup.py"], "python", null],
    ["./run", ["a.test.ts"], "javascript", null],
    ["./run", [], "python", null],
  ])("%s with %j", (command, names, image, install) => {
    expect(projectTools(command, names)).toEqual({ image, install });
  });
});

it("Bun's report is expected only where Bun is", () => {
  expect(expectsBun("bun test", [])).toBe(true);
  expect(expectsBun("npm test", ["bun.lock"])).toBe(true);
  expect(expectsBun("npm test", ["package.json"])).toBe(false);
  expect(expectsBun("./bundle", ["package.json"])).toBe(false);
});
