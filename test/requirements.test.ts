import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { projectFolder } from "./helpers/project-folder.ts";

const specification = join(projectFolder, "..", "shared", "SPEC.md");
const text = readFileSync(join(projectFolder, "docs", "requirements.md"), "utf8");
const rows = text
  .split(/\r?\n/)
  .filter((line) => line.startsWith("|") && !/^\| (id|---)/.test(line))
  .map((line) => {
    const [id = "", what = "", where = "", test = "", status = ""] = line
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim());
    return { id, what, where, test, status };
  });
const pathsIn = (cell: string): readonly string[] => [...cell.matchAll(/`([^`]+)`/g)].map(([, path = ""]) => path);
const routesIn = (line: string): readonly string[] => [...line.matchAll(/`(\/[^`]+)`/g)].map(([, route = ""]) => route);

describe("docs/requirements.md", () => {
  it("has rows, each with a known status, and each id once", () => {
    expect(rows.length).toBeGreaterThan(90);
    expect(rows.filter(({ status, what }) => what === "" || !/^(done|part|not yet)/.test(status))).toEqual([]);
    const ids = rows.map((row) => row.id);
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
  });

  it("names files that exist", () => {
    const named = rows.flatMap(({ where, test }) => [...pathsIn(where), ...pathsIn(test)]);
    expect(named.length).toBeGreaterThan(40);
    const isFile = (path: string): boolean =>
      statSync(join(projectFolder, path), { throwIfNoEntry: false })?.isFile() === true;
    expect([...new Set(named)].filter((path) => !isFile(path))).toEqual([]);
  });

  it("names code and a test for everything that is done, completely or in part", () => {
    const unproven = rows.filter(({ status, where, test }) => status !== "not yet" && (where === "" || test === ""));
    expect(unproven.map((row) => row.id)).toEqual([]);
  });

  it.skipIf(!existsSync(specification))(
    "names every id and every route of the specification (when it is at hand)",
    () => {
      const lines = readFileSync(specification, "utf8").split(/\r?\n/);
      const ids = lines.flatMap((line) => /^- ([A-Z]+\d+) /.exec(line)?.[1] ?? []);
      const routes = lines
        .filter((line) => line.startsWith("| `/"))
        .flatMap((line) => routesIn(line.split("|")[1] ?? ""));
      expect(ids.length).toBeGreaterThan(80);
      expect(routes.length).toBeGreaterThan(15);
      const known = new Set(rows.flatMap(({ id }) => [id, ...routesIn(id)]));
      expect([...ids, ...routes].filter((name) => !known.has(name))).toEqual([]);
    },
  );
});
