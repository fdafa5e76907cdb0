import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { useGlovebox } from "../helpers/open-glovebox.ts";
import { sessionImages } from "../helpers/test-images.ts";

/** A real project, how to start its tests, and what its own runner counts. */
interface CorpusProject {
  readonly id: string;
  readonly framework: string;
  readonly command: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly counts: Readonly<Record<"passed" | "failed" | "skipped", number>>;
}

const listFile = new URL("../../../shared/corpus/projects.json", import.meta.url);
const projects = existsSync(listFile) ? (JSON.parse(readFileSync(listFile, "utf8")) as readonly CorpusProject[]) : [];
/** A folder with one folder per project, at the commit in the list: GLOVEBOX_TEST_PROJECTS. */
const folder = process.env["GLOVEBOX_TEST_PROJECTS"] ?? "";

/** What projects without a lockfile need; the others have a lockfile, or need only pytest. */
const setups: Readonly<Record<string, string>> = {
  ...{ iniconfig: "", cachetools: "", "python-slugify": "pip install text-unidecode" },
  ...{ "mime-types": "npm install", "fastify-plugin": "npm install", clsx: "npm install" },
};

/** Runners whose results are read; nothing may be claimed about others. */
const known = /^(?:pytest|jest|vitest|mocha|node:test)$/;

describe.each(["docker"] as const)("real projects on %s", (engine) => {
  const glovebox = useGlovebox(engine, { workingDirectory: folder || undefined, settings: { images: sessionImages } });

  it("are a list that is read", (context) => {
    if (projects.length === 0) context.skip("../shared/corpus is not there");
    expect(projects.length).toBeGreaterThanOrEqual(8);
  });

  it.for(projects)("have the counts of their own runner: $id", { timeout: 600_000 }, async (project, context) => {
    const place = path.join(folder, project.id);
    if (folder === "" || !existsSync(place)) context.skip(`GLOVEBOX_TEST_PROJECTS has no folder ${project.id}`);
    const response = await glovebox().test({
      ...{ project_path: place, test_command: project.command, environment: project.environment ?? {} },
      ...(project.id in setups ? { setup_command: setups[project.id] } : {}),
    });
    const { passed, failed, skipped } = project.counts;
    const isKnown = known.test(project.framework);
    const expected = isKnown ? { passed, failed, skipped } : { passed: null, failed: null, skipped: null };
    expect(response, `${response.reason}\n${response.output}`).toMatchObject({ counted: isKnown, ...expected });
    expect(response.verdict === "passed", response.reason).toBe(isKnown);
  });
});
