import { textBytes } from "../base/streams/chunks.ts";
import { shortenTooling } from "../policy/tooling-changes.ts";
import type { ProgramSecret } from "../sandbox/program-secret.ts";
import { copyFolder } from "../workloads/project/copy-project.ts";
import {
  runProjectCommand,
  type ProjectCommandResult,
  type ProjectCommandSpec,
  type ProjectCommandDependencies,
} from "../workloads/project-command.ts";
import type { OperationCall, RequestOf } from "./contract/operation-contract.ts";
import { callListener, projectRunParts, programToWire, resultAlertsSince } from "./to-wire.ts";
import {
  settle,
  readSecrets,
  readShellLine,
  readShellLineOrNothing,
  readCommand,
  type MountNeeds,
  type RunNeeds,
  type StartNeeds,
} from "./settle.ts";
import { handle } from "./handler.ts";
import { maxToolingFiles } from "./contract/program-schema.ts";
import { runInProjectContract, type RunInProjectResponse } from "./project-contract.ts";
import { invalidField } from "../errors/glovebox-error.ts";
import { checkEnvironment } from "../policy/request/environment-variables.ts";
import { resolveWorkingDirectory } from "../policy/request/request-paths.ts";
import type { CommandSpec } from "../workloads/program/command-spec.ts";
import type { RequestCommand } from "./contract/request-schemas.ts";
import { projectFolder, type Project } from "../workloads/environment/environment-spec.ts";
import { mountRefused } from "../policy/mounts/mount-verdict.ts";
import { judgeHostPath } from "../sandbox/mounts/mount-gate.ts";
import { openMountGate } from "./mounts-handler.ts";

export type ProjectNeeds = StartNeeds & MountNeeds & RunNeeds<ProjectCommandDependencies>;

type Request = RequestOf<typeof runInProjectContract>;

/** `run_in_project`: one command in a project of this machine. */
export const runInProjectHandler = handle(runInProjectContract, run);

type OwnFields = Pick<RunInProjectResponse, "image" | "setup_command" | "packages_installed" | "tooling_files">;

type Variables = Readonly<Record<string, string>>;

/** What requests that start something in an environment have in common. */
export interface CommandRequest {
  readonly command: RequestCommand;
  readonly environment?: Variables | undefined;
  readonly env?: Variables | undefined;
  readonly cwd?: string | undefined;
}

/**
 * The command of a request, checked; it starts in the project's folder by default. @throws INVALID_REQUEST naming the
 * field
 */
export function readCommandRequest(request: CommandRequest, folder: string = projectFolder): CommandSpec {
  return {
    command: readCommand(request.command, "command"),
    environment: readVariables(request),
    workingDirectory: resolveWorkingDirectory(request.cwd, folder),
  };
}

/** The variables of a request that accepts them under either of two names. @throws INVALID_REQUEST */
export function readVariables({ environment, env }: Pick<CommandRequest, "environment" | "env">): Variables {
  if (environment !== undefined && env !== undefined) {
    throw invalidField("env", "to be left out beside environment, which is the same", "both");
  }
  return env === undefined ? checkEnvironment(environment ?? {}) : checkEnvironment(env, "env");
}

/** The folder of an environment, held open, and what the caller should know about it. */
interface OpenProject {
  readonly project: Project;
  readonly notices: readonly string[];
}

/**
 * Opens the folder that a request names, through the mount gate (SPEC MO5).
 * @throws INVALID_REQUEST and POLICY_DENIED naming the field and the rule
 */
export async function openProject(
  platform: MountNeeds,
  given: string,
  { readOnly, field }: { readonly readOnly: boolean; readonly field: string },
): Promise<OpenProject> {
  if (given === "" || given.includes("\0")) throw invalidField(field, "the path of a folder", given);
  const { gate, notices } = await openMountGate(platform);
  const access = readOnly ? "read-only" : "read-write";
  const judged = await judgeHostPath(gate, { path: given, use: "project", access, isMain: false });
  const { verdict, place } = judged;
  if (place === null) throw mountRefused(verdict, field, given);
  if (place.kind !== "folder") {
    await place[Symbol.asyncDispose]();
    throw invalidField(field, "a folder", given);
  }
  const reduced = verdict.readOnly && !readOnly;
  return {
    project: { place, identity: await place.identify(), readOnly: verdict.readOnly },
    notices: [
      ...notices,
      ...(reduced ? [`${field}: read-only. ${verdict.explanation} ${verdict.whatWouldAllow ?? ""}`.trim()] : []),
    ],
  };
}

async function run(platform: ProjectNeeds, request: Request, call: OperationCall): Promise<RunInProjectResponse> {
  const secrets = await readSecrets(platform, request.secrets ?? [], {
    principal: call.principal,
    kind: "environment",
    taken: Object.keys(request.environment ?? {}),
  });
  const spec = specOf(platform, request, { call, secrets });
  const wanted = { readOnly: request.read_only ?? false, field: "project_path" };
  const { project, notices } = await openProject(platform, request.project_path, wanted);
  await using place = project.place;
  const { engine, notes: engineNotes } = await platform.chooseEngine(request.engine, {
    minIsolation: spec.minIsolation,
    containers: true,
    signal: call.signal,
  });
  const notes = [...new Set([...notices, ...engineNotes])];
  for (const note of notes) await call.onEvent?.({ type: "warning", message: note });
  const { mark } = platform.alertBook;
  const mount = { place, target: copyFolder, readOnly: project.readOnly, shownAs: "the project" };
  const result = await runProjectCommand(
    { ...spec, project: mount },
    projectRunParts(platform, engine, call),
    call,
    callListener(call, request.name),
  );
  return {
    ...toWire(result),
    ...programToWire(result, notes, { kind: "execute", ceilings: platform.config.ceilings }),
    read_only: project.readOnly,
    ...resultAlertsSince(platform.alertBook, mark, result.sandboxId),
  };
}

/** Everything except the project is checked before anything is started. */
function specOf(
  platform: ProjectNeeds,
  request: Request,
  { call, secrets }: { readonly call: OperationCall; readonly secrets: readonly ProgramSecret[] },
): Omit<ProjectCommandSpec, "project"> {
  const { config } = platform;
  const settings = settle("environment", request, platform, call);
  const { python, javascript, session } = config.images;
  const { setup_command: setup } = request;
  return {
    ...settings,
    command: readShellLine(request.command, "command"),
    setupCommand: setup === undefined ? undefined : readShellLineOrNothing(setup, "setup_command"),
    stdin: call.stdin ?? textBytes(""),
    packages: request.packages ?? [],
    secrets,
    toolingFiles: config.toolingFiles,
    toolingPaths: config.toolingPaths,
    // The same limit as for a test run.
    setupTimeoutMs: Math.max(settings.limits.timeoutMs, config.limits.test.timeoutMs),
    image: request.image === undefined ? undefined : platform.checkImage(request.image),
    defaultImages: { python, javascript, bun: session },
  };
}

function toWire({ image, setupCommand, packages, toolingFiles }: ProjectCommandResult): OwnFields {
  return {
    ...(image === null ? {} : { image }),
    ...(setupCommand === null ? {} : { setup_command: setupCommand }),
    ...(packages.length === 0 ? {} : { packages_installed: [...packages] }),
    tooling_files: shortenTooling(toolingFiles, maxToolingFiles).map(({ path, change }) => ({ path, change })),
  };
}
