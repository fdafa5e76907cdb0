import { untilCancelled } from "../../base/abort.ts";
import { assertRunsAnyProgram } from "../../engines/capabilities.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";
import type { Caller, Sandboxes } from "../../sandbox/sandboxes.ts";
import { chooseInstallation, projectTools, type Installation } from "../dependencies/project-tools.ts";
import type { Keeping } from "../dependencies/put-kept.ts";
import {
  planProjectSandbox,
  provideImageOf,
  type PlannedSandbox,
  type ProjectSandboxFacts,
  type CopySettings,
} from "../dependencies/project-sandbox.ts";
import { checkEngine } from "../program/check-engine.ts";
import { readProject } from "../project/read-project.ts";
import { Redaction } from "../../policy/redaction.ts";
import type { Denial } from "../../policy/network/denial.ts";
import { withPlainOutput } from "../../policy/request/environment-variables.ts";
import type { ProgramSecret } from "../../sandbox/program-secret.ts";
import { shellLine } from "../dependencies/tool-variables.ts";
import { assertPortsFree } from "../place/program-ports.ts";
import type { LaunchedProcess } from "../place/background-processes.ts";
import { withSecrets } from "../program/command-spec.ts";
import { copyFolder } from "../project/copy-project.ts";
import { startProgram, type GrantNetwork } from "../run/start-program.ts";
import type { AlertSink } from "../../base/alert-sink.ts";
import type { ImageOrigin } from "../../policy/image-reference.ts";
import type { Engine } from "../../engines/engine.ts";
import type { PreviewGateway } from "../../ingress/preview-gateway.ts";
import type { Packages } from "../../packages/packages.ts";
import type { DiskScratch } from "../../sandbox/disk-scratch.ts";
import type { PreviewError } from "./error-scanner.ts";
import type { Kit } from "../../base/kit.ts";
import type { OpenPlace } from "../../sandbox/mounts/open-place.ts";

/** What every preview of this server needs. */
export interface PreviewParts extends Kit {
  readonly sandboxes: Sandboxes;
  readonly diskScratch: DiskScratch;
  readonly gateway: Pick<PreviewGateway, "open">;
  readonly alerts: AlertSink<PreviewError>;
  readonly maxOutputBytes: number;
}

/** What one preview needs in addition, and who receives events while it starts. */
export interface PreviewStart {
  readonly engine: Engine;
  /** As the caller may use it. */
  readonly network: GrantNetwork;
  /** Where installed dependencies are kept. */
  readonly packages: Pick<Packages, "projects">;
  /** Makes sure that an image exists, by pulling or building it. */
  readonly provideImage: (image: string, origin: ImageOrigin) => Promise<void>;
  readonly onSandbox: (sandboxId: string) => void;
  readonly onDenied: (denial: Denial) => void;
  /** Progress before the command, for people. */
  readonly onProgress: (message: string) => void;
}

/** A checked preview (SPEC PV1); every value is within the policy already. Its time limit begins with the command. */
export interface PreviewSpec extends CopySettings {
  /** The project's folder on this machine, held open; it is only read, never written. The preview closes it. */
  readonly project: OpenPlace;
  /** The shell line that starts the server. */
  readonly command: string;
  /** TCP port that it listens on, as far as is known: where it listens elsewhere, that port is followed. */
  readonly port: number;
  /** Whether the caller named that port. */
  readonly isPortNamed: boolean;
  /** For the command: installations do not get them. */
  readonly secrets: readonly ProgramSecret[];
}

/** A sandbox for a preview, with nothing in it yet; it is to be removed before the scratch that its plan made. */
export interface PreviewSandbox extends PlannedSandbox, ProjectSandboxFacts {
  readonly sandbox: Sandbox;
  readonly installation: Installation;
  /** Where its dependencies are kept for later previews and test runs. */
  readonly keeping: Keeping;
  /** One sentence each. */
  readonly warnings: readonly string[];
}

/**
 * Opens a sandbox for a preview by what is asked for and what stands in the project.
 * @throws UNSUPPORTED, IMAGE_UNAVAILABLE, ENGINE_UNAVAILABLE, CAPACITY, CANCELLED
 */
export async function openPreviewSandbox(
  id: string,
  spec: PreviewSpec,
  parts: PreviewParts,
  start: PreviewStart,
  caller: Caller,
): Promise<PreviewSandbox> {
  const { engine, network, packages } = start;
  const { sandboxes, platform } = parts;
  const { capabilities, warnings } = await checkEngine({ ...spec, engine }, spec, caller);
  assertRunsAnyProgram(capabilities, "that serves a preview");
  const { names } = await readProject(spec.project, platform);
  const tools = projectTools(spec.command, names);
  const { image, environment: imageEnvironment } = await provideImageOf(
    spec,
    tools.image,
    { ...parts, ...start, capabilities },
    caller,
  );
  const grant = await untilCancelled(network.grant(spec.network, caller.principal), caller.signal);
  const facts = { kind: "preview" as const, capabilities, image, imageEnvironment, grant };
  const planLike = (): Promise<PlannedSandbox> => planProjectSandbox(spec, facts, parts);
  const planned = await planLike();
  const plan = { ...planned.plan, id, labels: spec.labels, givenName: spec.name };
  const sandbox = await sandboxes.open(engine, plan, caller).catch(async (error: unknown) => {
    await planned[Symbol.asyncDispose]();
    throw error;
  });
  planned.scratch?.watch(sandbox);
  const { ociRuntime, limits } = spec;
  return {
    ...{ ...planned, ...facts, sandbox },
    installation: chooseInstallation({ ...spec, names, tools }),
    keeping: { packages, engine, ociRuntime, diskBytes: limits.diskBytes, planLike },
    warnings: [warnings, planned.profile.scratch.note ?? [], grant?.warnings ?? []].flat(),
  };
}

interface ServerStart {
  /** A shell line. */
  readonly line: string;
  readonly port: number;
  /** Of the request; they win. */
  readonly environment: Readonly<Record<string, string>>;
  readonly secrets: readonly ProgramSecret[];
  readonly onDenied: (denial: Denial) => void;
  readonly signal: AbortSignal;
}

/** Starts the command of a preview in the project's copy, with its network open. @throws ALREADY_EXISTS, UNSUPPORTED */
export async function startServer(
  { sandbox, profile, grant }: Pick<PreviewSandbox, "sandbox" | "profile" | "grant">,
  { line, port, environment, secrets, onDenied, signal }: ServerStart,
): Promise<LaunchedProcess> {
  await assertPortsFree(sandbox, [port], { signal });
  const redaction = new Redaction(secrets);
  const { command, preamble } = withSecrets(shellLine(line, { readsInput: false }), secrets);
  const program = await startProgram({
    sandbox,
    runner: () =>
      sandbox.exec(
        {
          command,
          environment: withPlainOutput({ ...profile.environment, ...serverVariables(port), ...environment }),
          workingDirectory: copyFolder,
        },
        { signal },
      ),
    grant,
    onDenied,
    redact: (text) => redaction.text(text),
    signal,
  });
  program.process.stdin.write(preamble);
  // Its network is there by now.
  program.process.stdin.write("begin\n");
  return { process: program.process, redaction, sandbox, onEnded: () => program[Symbol.dispose]() };
}

/** What many servers take their port from; BROWSER: there is none to open. */
function serverVariables(port: number): Readonly<Record<string, string>> {
  return { PORT: String(port), BROWSER: "none" };
}
