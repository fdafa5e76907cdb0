import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseSync, Visitor } from "oxc-parser";
import { describe, expect, it } from "vitest";
import { functionsOfText } from "./architecture/untrusted-text.ts";
import { boundedWork } from "./hostile-text/bounded-work.ts";
import type { ParserJob } from "./hostile-text/parser-worker.ts";
import { fed, notFed } from "./hostile-text/parsers.ts";
import type { PatternJob } from "./hostile-text/pattern-worker.ts";

const root = fileURLToPath(new URL("../", import.meta.url));
const read = (path: string): string => readFileSync(join(root, path), "utf8");
const sources = globSync("src/**/*.ts", {
  cwd: root,
  exclude: ["**/*.test.ts", "src/console/**", "src/**/generated/**"],
})
  .map((path) => path.replaceAll("\\", "/"))
  .toSorted();

/**
 * Processor time that 1 MiB may take: some hundred times what reading it once takes. What is quadratic would need minutes.
 */
const maxSeconds = 20;

/** Every pattern of the sources and of what runs inside sandboxes, with the place where it stands. */
function patterns(): ReadonlyMap<string, PatternJob> {
  const found = new Map<string, PatternJob>();
  for (const path of [...sources, ...globSync("images/**/*.{cjs,mjs}", { cwd: root })]) {
    new Visitor({
      Literal(node) {
        if (!("regex" in node)) return;
        const { pattern: source, flags } = node.regex;
        found.set(`${path} /${source}/${flags}`, { source, flags });
      },
    }).visit(parseSync(path, read(path)).program);
  }
  return found;
}

describe("text that a client, a project or a program wrote", () => {
  it("is read by functions that are all fed here, or listed with the reason why not", () => {
    // The command line is the person's own, but for what it prints.
    const others = sources.filter((path) => !path.startsWith("src/cli/") || path.startsWith("src/cli/output/"));
    const functions = others.flatMap((path) => functionsOfText(path, read(path)).map((name) => `${path} ${name}`));
    expect(functions.length).toBeGreaterThan(150);
    const listed = new Set([...fed.keys(), ...Object.keys(notFed)]);
    expect(functions.filter((name) => !listed.has(name))).toEqual([]);
    // A row whose function is gone says nothing.
    expect(Object.keys(notFed).filter((name) => !functions.includes(name))).toEqual([]);
    expect([...fed.keys()].filter((name) => name in notFed)).toEqual([]);
  });

  it("takes time in proportion to its length, whatever its form", async () => {
    const jobs: readonly ParserJob[] = [...fed.keys()].map((name) => ({ name }));
    const worker = new URL("hostile-text/parser-worker.ts", import.meta.url);
    expect(await boundedWork({ worker, jobs, nameOf: ({ name }) => name, maxSeconds })).toEqual([]);
  });

  it("meets no pattern that goes back and forth in it", async () => {
    const found = patterns();
    expect(found.size).toBeGreaterThan(500);
    const jobs = [...found].map(([name, job]) => ({ ...job, name }));
    const worker = new URL("hostile-text/pattern-worker.ts", import.meta.url);
    expect(await boundedWork({ worker, jobs, nameOf: ({ name }) => name, maxSeconds: 5 })).toEqual([]);
  });

  it("would be seen if it took longer", async () => {
    const worker = new URL("hostile-text/pattern-worker.ts", import.meta.url);
    const jobs: readonly PatternJob[] = [
      { source: "(a*)*b", flags: "" },
      { source: "\\s+x", flags: "" },
    ];
    const faults = await boundedWork({ worker, jobs, nameOf: ({ source }) => source, maxSeconds: 2 });
    expect(faults).toEqual([
      expect.stringMatching(/^\(a\*\)\*b: more than 2 s of processor time for /),
      expect.stringMatching(/^\\s\+x: more than 2 s of processor time for /),
    ]);
  });
});
