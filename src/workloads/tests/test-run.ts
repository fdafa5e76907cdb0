import type { NetworkGrant } from "../../egress/network-access.ts";
import type { Capabilities } from "../../engines/capabilities.ts";
import type { Packages } from "../../packages/packages.ts";
import type { Profile } from "../../policy/profile.ts";
import type { OpenRun } from "../../sandbox/run-record.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";
import type { Caller } from "../../sandbox/sandboxes.ts";
import type { ProjectRunDependencies, ProjectRunListener } from "../project/project-run.ts";
import type { RunIds } from "../run/log-ending.ts";
import type { ProjectPlan } from "./project-plan.ts";
import type { TestsResult } from "./tests-result.ts";
import type { TestsSpec } from "./tests-spec.ts";

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
