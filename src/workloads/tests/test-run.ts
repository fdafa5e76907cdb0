import type { CheckedContextFile } from "../../policy/request/context-files.ts";
import type { OpenPlace } from "../../sandbox/mounts/open-place.ts";
import type { CopySettings } from "../dependencies/project-sandbox.ts";
import {
  chooseInstallation,
  expectsBun,
  projectTools,
  type Installation,
  type ProjectTools,
} from "../dependencies/project-tools.ts";
import type { ReadProject } from "../project/read-project.ts";
import { choosesNodeReporter, type WantedReporters } from "./command-variables.ts";
import type { GloveboxError } from "../../errors/glovebox-error.ts";
import type { EngineName } from "../../engines/engine.ts";
import type { Isolation } from "../../policy/isolation.ts";
import type { Outcome } from "../../sandbox/outcome.ts";
import type { TestFailure } from "./report/summarise-reports.ts";
import type { TestCounts } from "./report/test-report.ts";
import type { Judgement } from "./verdict.ts";
import type { NetworkGrant } from "../../egress/network-access.ts";
import type { Capabilities } from "../../engines/capabilities.ts";
import type { Packages } from "../../packages/packages.ts";
import type { Profile } from "../../policy/profile.ts";
import type { OpenRun } from "../../sandbox/run-record.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";
import type { Caller } from "../../sandbox/sandboxes.ts";
import type { ProjectRunDependencies, ProjectRunListener } from "../project/project-run.ts";
import type { RunIds } from "../run/conclude-run.ts";

/** A checked test run (SPEC TE1); every value is within the policy already. */
export interface TestsSpec extends CopySettings {
  /** The project's folder on this machine, open; it is read and never written. */
  readonly project: Pick<OpenPlace, "stablePath">;
  /** A shell line. */
  readonly testCommand: string;
  /** Laid over the project's copy right before the run. */
  readonly trustedFiles: readonly CheckedContextFile[];
  /** Names of the tests to run, as a result's `failures` have them; empty: all. */
  readonly onlyTests: readonly string[];
  /** Where a tool leaves a report in JUnit XML or CTRF, relative to the project's copy; undefined: none does. */
  readonly reportFile: string | undefined;
  /** Formats in which the whole report is requested. */
  readonly wanted: { readonly ctrf: boolean; readonly junit: boolean };
}

/** What a project's own files say about its tests. */
interface ProjectPlan {
  readonly tools: ProjectTools;
  readonly reporters: WantedReporters;
  readonly installation: Installation;
}

/** Chooses image, installation and reporters by what is asked for and what stands in the project. */
export function planProject(
  { testCommand, setupCommand, includeIgnored }: Pick<TestsSpec, "testCommand" | "setupCommand" | "includeIgnored">,
  { names, manifest }: ReadProject,
): ProjectPlan {
  const tools = projectTools(testCommand, names);
  return {
    tools,
    installation: chooseInstallation({ setupCommand, includeIgnored, names, tools }),
    reporters: {
      nodeTest: !choosesNodeReporter(testCommand) && !choosesNodeReporter(manifest),
      bun: expectsBun(`${testCommand}\n${manifest}`, names),
    },
  };
}

/** Numbers of a run, and where they come from. */
export interface CountedTests {
  /**
   * `report`: the runners' reports; `output`: every test as its runner printed it, confirmed by the runner's own sums and
   * exit code; `report_file`: a file that the request names, which anything in the sandbox can write; `summary`: the last line of a runner without a report, which anything can print; null: nothing was counted.
   */
  readonly from: "report" | "output" | "report_file" | "summary" | null;
  /** Null where nothing was counted, and where a summary does not say. */
  readonly counts: { readonly [Status in keyof TestCounts]: number | null };
  readonly failures: readonly TestFailure[];
  /** Percent of lines. */
  readonly coverage: number | null;
  readonly runners: readonly string[];
  readonly ctrf: string | null;
  readonly junit: string | null;
  /** Every test, as `packReport` makes it, to be kept; null: there is no report, or too much of it. */
  readonly packed: Uint8Array | null;
}

/** What became of a test run. */
export interface TestsResult extends Judgement, CountedTests {
  readonly outcome: Outcome;
  readonly exitCode: number | null;
  /** Both streams as they came. */
  readonly output: string;
  readonly truncated: boolean;
  readonly durationMs: number;
  readonly memoryPeakBytes: number | null;
  /** Null where the engine has no images. */
  readonly image: string | null;
  /** What was run to install; null: nothing. */
  readonly setupCommand: string | null;
  /** Null where none was started. */
  readonly sandboxId: string | null;
  readonly engine: EngineName;
  readonly isolation: Isolation;
  readonly ociRuntime: string | null;
  readonly policyDigest: string | null;
  readonly warnings: readonly string[];
  readonly error: GloveboxError | null;
}

const none = { passed: null, failed: null, skipped: null, todo: null, other: null, error: null } as const;

/** Nothing was counted. */
export const uncounted: CountedTests = {
  from: null,
  counts: none,
  failures: [],
  coverage: null,
  runners: [],
  ctrf: null,
  junit: null,
  packed: null,
};

export interface TestsDependencies extends ProjectRunDependencies {
  /** Where installed dependencies are kept. */
  readonly packages: Pick<Packages, "projects">;
}

/** One test run: what is requested, by whom, and who is told. */
export interface TestRun {
  readonly spec: TestsSpec;
  readonly dependencies: TestsDependencies;
  readonly caller: Caller;
  readonly listener: ProjectRunListener;
  readonly capabilities: Capabilities;
}

/** Everything that a test run needs besides its sandbox, ready to use. */
export interface ReadyTests {
  readonly project: ProjectPlan;
  readonly image: string;
  /** Variables that the image's own Dockerfile has set. */
  readonly imageEnvironment: Readonly<Record<string, string>>;
  /** Null: no network. */
  readonly grant: NetworkGrant | null;
}

/** The sandbox of a test run, and its names. */
export interface TestsPlace {
  readonly ids: RunIds;
  readonly sandbox: Sandbox;
  readonly record: OpenRun;
  readonly profile: Profile;
}

/** What one phase of it decides, in addition to the facts of all. */
export type PhaseResult = Omit<
  TestsResult,
  "image" | "setupCommand" | "sandboxId" | "engine" | "isolation" | "ociRuntime" | "policyDigest"
>;
