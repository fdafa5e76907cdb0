import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { projectFolder } from "./helpers/project-folder.ts";

interface LockedPackage {
  readonly resolved?: string;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

const text = readFileSync(join(projectFolder, "package-lock.json"), "utf8");
const { packages } = JSON.parse(text) as { readonly packages: Readonly<Record<string, LockedPackage>> };

describe("package-lock.json", () => {
  // With a registry that has only one platform's packages, npm leaves the others out; `npm ci` then refuses the file.
  it("locks the packages of every platform", () => {
    const missing = Object.entries(packages).flatMap(([path, { optionalDependencies = {} }]) =>
      Object.keys(optionalDependencies).filter(
        (name) => !packages[`node_modules/${name}`] && !packages[`${path}/node_modules/${name}`],
      ),
    );
    expect(Object.keys(packages).length).toBeGreaterThan(100);
    expect(missing).toEqual([]);
  });

  it("names no registry", () => {
    expect(Object.values(packages).flatMap((locked) => locked.resolved ?? [])).toEqual([]);
  });
});
