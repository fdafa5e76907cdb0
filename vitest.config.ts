import { globSync } from "node:fs";
import { join } from "node:path";
import { defineConfig, type ViteUserConfig } from "vitest/config";
import { absentLaneFile, readAbsentLanes, type AbsentLane } from "./test/lanes/absent-lanes.ts";
import { engineProjects, lanes, projectsOf, rareTag, type EngineProject } from "./test/lanes/lanes.ts";
import { isRequired } from "./test/helpers/require.ts";
import { rareRepositoryFiles } from "./test/lanes/files.ts";
import LongestFirst from "./test/lanes/longest-first.ts";

// A command that a test starts spends half of its time on reading its sources.
process.env["NODE_COMPILE_CACHE"] ??= join(import.meta.dirname, "node_modules/.cache/node-compile");

const tags = [{ name: rareTag, description: "Run by `npm run test:full` only." }];

/**
 * Groups run one after another; within a group, the files of all its projects run in parallel. What is rare and alone comes
 * before the rare tests that are left out where time is short.
 */
const groups = { unit: 0, aloneRare: 1, lanes: 2, alone: 3 };

/** Files that share a process read the sources once: half of the CPU time of unit tests, a seventh of the embedded engine's. */
const sharesProcess = (project: string): boolean => project === "local" || project === "unit";

/** Most tests wait most of the time, for engines, timers and files: two cores have enough to do with four files. */
const workers = { unit: 4, aloneRare: 1, lanes: 4, alone: 1 };

const engineFiles = globSync("test/{apple-cli,engine-contract,e2e,security}/**/*.test.ts")
  .map((path) => path.replaceAll("\\", "/"))
  .map((path) => ({ path, projects: projectsOf(path) }));

const absentLanes = readAbsentLanes(process.env);

/** The contract's own files report what their engine lacks. */
const isOfContract = (path: string): boolean => path.startsWith("test/engine-contract/contract.");

/** What a project runs: if a lane's engine does not answer, only one file, which skips the others by name. */
const filesOf = (name: EngineProject): { readonly include: readonly string[]; readonly provide?: object } => {
  const files = engineFiles.filter(({ projects }) => projects.includes(name)).map(({ path }) => path);
  const lane = lanes.find((each) => each === name.replace("-rare", ""));
  const reason = lane && absentLanes[lane];
  if (lane === undefined || reason === undefined) return { include: files };
  const rest = files.filter((path) => !isOfContract(path));
  const absentLane: AbsentLane = { lane, reason, rare: name.endsWith("-rare"), files: rest };
  return { include: [absentLaneFile, ...files.filter(isOfContract)], provide: { absentLane } };
};

const repositoryProject = (name: string): object => ({
  name,
  // A tool that reads every file is slow while engines are running.
  testTimeout: 300_000,
  hookTimeout: 300_000,
  sequence: { groupOrder: groups.lanes },
  maxWorkers: workers.lanes,
});

const engineProject = (name: EngineProject): object => {
  const group = name === "alone" ? "alone" : name === "alone-rare" ? "aloneRare" : "lanes";
  return {
    name,
    ...filesOf(name),
    runner: "./test/lanes/lane-runner.ts",
    globalSetup: "./test/lanes/bundled-command.ts",
    setupFiles: ["./test/lanes/file-bound.ts"],
    tags,
    isolate: !sharesProcess(name),
    sequence: { groupOrder: groups[group] },
    maxWorkers: workers[group],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 20_000 } },
    // A file that loops over engines may have no tests for this one.
    passWithNoTests: true,
    // Real engines on a shared machine: one more try in CI, and a last one alone (scripts/failed-again.ts); the report shows them.
    retry: process.env["CI"] === "true" ? 1 : 0,
  };
};

const clusterProject: object = {
  name: "kubernetes",
  include: ["test/kubernetes/**/*.test.ts"],
  tags,
  sequence: { groupOrder: groups.lanes },
  maxWorkers: workers.lanes,
  testTimeout: 120_000,
  hookTimeout: 120_000,
  expect: { poll: { timeout: 20_000 } },
};

const config: ViteUserConfig = defineConfig({
  test: {
    reporters: ["default", "./scripts/skip-reporter.ts"],
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        test: {
          name: "unit",
          include: ["src/**/*.test.ts", "test/supervisor/**/*.test.ts"],
          testTimeout: 30_000,
          isolate: !sharesProcess("unit"),
          sequence: { groupOrder: groups.unit },
          maxWorkers: workers.unit,
        },
      },
      { test: { ...repositoryProject("repository"), include: ["test/*.test.ts"], exclude: [...rareRepositoryFiles] } },
      { test: { ...repositoryProject("repository-rare"), include: [...rareRepositoryFiles] } },
      // A cluster is far more than a test run needs: only where it is asked for (npm run test:kubernetes).
      ...(isRequired("kubernetes") ? [{ test: clusterProject }] : []),
      ...engineProjects.map((name) => ({ test: engineProject(name) })),
    ],
  },
});

export default config;
