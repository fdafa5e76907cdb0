import { describe, expect, it } from "vitest";
import { installers, type InputFiles, type InstallerName } from "./installers.ts";

const manifest = (more: object): InputFiles => ({ "package.json": JSON.stringify({ name: "p", ...more }) });

describe("an installation is kept only where its own files decide it", () => {
  it.each<[InstallerName, string, InputFiles, boolean]>([
    ["npm", "plain", manifest({ dependencies: { a: "^1.0.0", b: "npm:c@2" } }), true],
    ["npm", "no manifest", { "package.json": "{" }, false],
    ["npm", "workspaces", manifest({ workspaces: ["packages/*"] }), false],
    ["npm", "a folder of the project", manifest({ devDependencies: { a: "file:../a" } }), false],
    ["npm", "a path", manifest({ dependencies: { a: "./vendor/a.tgz" } }), false],
    ["npm", "a path in overrides", manifest({ overrides: { a: { b: "file:b" } } }), false],
    ["npm", "a link in the lockfile", { ...manifest({}), "package-lock.json": '{ "x": { "link": true } }' }, false],
    ["pnpm", "patches", manifest({ pnpm: { patchedDependencies: { a: "patches/a.patch" } } }), false],
    ["pnpm", "a workspace", { ...manifest({}), "pnpm-workspace.yaml": "packages:\n  - a\n" }, false],
    ["yarn", "plugins", { ...manifest({}), ".yarnrc.yml": "plugins:\n  - path: x\n" }, false],
    ["bun", "plain", { ...manifest({}), "bun.lock": "{}" }, true],
    ["uv", "plain", { "pyproject.toml": "[project]\n" }, true],
    ["uv", "a part of the project", { "pyproject.toml": '[tool.uv.sources]\na = { path = "a" }' }, false],
    ["uv", "a workspace", { "pyproject.toml": "[tool.uv.workspace]\n" }, false],
    ["poetry", "a path", { "pyproject.toml": 'a = { path = "../a" }' }, false],
    [
      "requirements",
      "plain",
      { "requirements.txt": "# all\na==1 # why\nb[c]>=2,<3; python_version > '3'\n\nd==1 \\\n  --hash=sha256:ab\n" },
      true,
    ],
    ["requirements", "the project itself", { "requirements.txt": "-e .\n" }, false],
    ["requirements", "another file", { "requirements.txt": "a\n-r more.txt\n" }, false],
    ["requirements", "a path", { "requirements.txt": "./vendor/a.whl\n" }, false],
    ["requirements", "an address", { "requirements.txt": "a @ file:///work/project/a.whl\n" }, false],
    ["pyproject", "anything", { "pyproject.toml": "[project]\n" }, false],
  ])("%s with %s", (name, _, files, isKept) => {
    expect(installers[name].keep(files) !== null).toBe(isKept);
  });

  it("its sandbox gets no script of the project, which runs in the copy", () => {
    const scripts = { preinstall: "no", postinstall: "echo 'it'", prepare: "husky", test: "node --test" };
    const kept = installers.npm.keep(manifest({ scripts }));
    expect(kept?.files["package.json"]).toBe('{"name":"p"}');
    expect(kept?.after).toMatch(/postinstall sh -c 'echo '\\''it'\\''' && npm_lifecycle_event=prepare sh -c 'husky'$/);
    expect(installers.npm.keep(manifest({ scripts: { test: "x" } }))?.after).toBeNull();
  });

  it("a Python project that can be built is installed in the copy", () => {
    const built = { "pyproject.toml": '[project]\n[build-system]\nrequires = ["x"]\n' };
    expect(installers.uv.keep(built)?.after).toBe("uv sync --locked");
    expect(installers.uv.keep({ "pyproject.toml": "[project]" })?.after).toBeNull();
    expect(installers.poetry.keep(built)?.after).toMatch(/--only-root$/);
  });
});
