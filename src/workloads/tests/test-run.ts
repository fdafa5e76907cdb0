import type { Logger } from "../../base/logger.ts";
import type { NetworkGrant } from "../../egress/network-access.ts";
import type { Capabilities } from "../../engines/capabilities.ts";
import type { Engine } from "../../engines/engine.ts";
import type { Denial } from "../../policy/network/denial.ts";
import type { Packages } from "../../packages/packages.ts";
import type { Profile } from "../../policy/profile.ts";
import type { OpenRun } from "../../sandbox/run-record.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";
import type { Caller, Sandboxes } from "../../sandbox/sandboxes.ts";
import type { DiskScratch } from "../../sandbox/scratch/disk-scratch.ts";
import type { RunIds } from "../run/log-ending.ts";
import type { GrantNetwork } from "../run/start-program.ts";
import type { ProjectPlan } from "./project-plan.ts";
import type { TestsResult } from "./tests-result.ts";
import type { TestsSpec } from "./tests-spec.ts";

export interface TestsDependencies {
  readonly engine: Engine;
  readonly sandboxes: Sandboxes;
  readonly diskScratch: DiskScratch;
  readonly logger: Logger;
  /** Has an image there, pulled or built. */
  readonly provideImage: (image: string, isDemanded: boolean) => Promise<void>;
  readonly network: GrantNetwork;
  /** Where installed dependencies are kept. */
  readonly packages: Pick<Packages, "projects">;
  readonly maxOutputBytes: number;
  /** As in `process.platform`. */
  readonly platform: NodeJS.Platform;
  /** Node's executable, which reads the reports. */
  readonly executable: string;
  /** Milliseconds of a clock that never goes back. */
  readonly monotonicMs: () => number;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** What a test run tells while it goes on. */
export interface TestsListener {
  readonly onSandbox: (sandboxId: string) => void;
  readonly onOutput: (stream: "stdout" | "stderr", bytes: Uint8Array) => void | Promise<void>;
  readonly onDenied: (denial: Denial) => void;
  /** What goes on before the tests, in words for people. */
  readonly onProgress: (message: string) => void;
}

/** One test run: what is asked for, by whom, and who is told. */
export interface TestRun {
  readonly spec: TestsSpec;
  readonly dependencies: TestsDependencies;
  readonly caller: Caller;
  readonly listener: TestsListener;
  readonly capabilities: Capabilities;
}

/** What a test run needs beside its sandbox, all of it there. */
export interface ReadyTests {
  readonly project: ProjectPlan;
  readonly image: string;
  /** Variables that the image's own Dockerfile has set. */
  readonly imageEnvironment: Readonly<Record<string, string>>;
  /** Null: no network. */
  readonly grant: NetworkGrant | null;
}

/** The sandbox of a test run, and what it is known by. */
export interface TestsPlace {
  readonly ids: RunIds;
  readonly sandbox: Sandbox;
  readonly record: OpenRun;
  readonly profile: Profile;
}

/** What one phase of it decides, beside the facts of all. */
export type PhaseResult = Omit<
  TestsResult,
  "image" | "setupCommand" | "sandboxId" | "engine" | "isolation" | "ociRuntime" | "policyDigest"
>;
