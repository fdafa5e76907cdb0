import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { replaceMarked } from "../scripts/marked-section.ts";
import { projectFolder } from "./helpers/project-folder.ts";
import { places } from "../src/workloads/proof/attack.ts";
import { attacks, attackTable, isProven } from "./security/attacks/attack-table.ts";

const text = readFileSync(join(projectFolder, "docs", "threat-model.md"), "utf8");

describe("the table of attacks", () => {
  it("in docs/threat-model.md is what the suite asserts (node scripts/attack-table.ts writes it)", () => {
    expect(text).toBe(replaceMarked(text, "attacks", attackTable()));
  });

  it("names each attack once, and proves at least 80", () => {
    const ids = attacks.map(({ id }) => id);
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
    expect(attacks.filter(isProven).length).toBeGreaterThanOrEqual(80);
  });

  it("gives a reason for everything that is not denied", () => {
    const exceptions = attacks.flatMap(({ exceptions }) => places.flatMap((place) => exceptions[place] ?? []));
    expect(exceptions.length).toBeGreaterThan(10);
    expect(exceptions.filter(({ why = "" }) => why === "")).toEqual([]);
  });

  it("leaves no program unused, of those that are shipped and of test/fixtures/attacks", () => {
    const folders = ["test/security/attacks", "src/workloads/proof", "src/workloads/proof", "src/operations"];
    const sources = folders.flatMap((folder) =>
      readdirSync(join(projectFolder, folder))
        .filter((name) => name.endsWith(".ts"))
        .map((name) => readFileSync(join(projectFolder, folder, name), "utf8")),
    );
    const programs = ["images/attacks", "test/fixtures/attacks"].flatMap((folder) =>
      readdirSync(join(projectFolder, folder)).map((name) => name.slice(0, -3)),
    );
    expect(programs.length).toBeGreaterThan(100);
    const isNamed = (name: string): boolean =>
      sources.some((source) => source.includes(`"${name}`) || source.includes(`${name}:`));
    expect(programs.filter((name) => !isNamed(name))).toEqual([]);
  });
});
