import { textBytes } from "../../base/streams/chunks.ts";
import { shortenTooling } from "../../policy/tooling/tooling-changes.ts";
import type { ProgramSecret } from "../../sandbox/program-secret.ts";
import { copyFolder } from "../../workloads/project/copy-project.ts";
import type { ProjectCommandResult, ProjectCommandSpec } from "../../workloads/project-command.ts";
import { runProjectCommand } from "../../workloads/run-project-command.ts";
import type { OperationCall } from "../contract/operation-call.ts";
import type { RequestOf } from "../contract/operation-contract.ts";
import { callListener, projectRunParts } from "../handling/call-events.ts";
import { settle } from "../handling/settle.ts";
import { handle } from "../handling/handler.ts";
import type { PlatformParts } from "../handling/platform-parts.ts";
import { programToWire } from "../handling/program-to-wire.ts";
import { readSecrets } from "../handling/read-secrets.ts";
import { resultAlertsSince } from "../handling/result-alerts.ts";
import { readShellLine, readShellLineOrNothing } from "../handling/read-command.ts";
import { openProject } from "./open-project.ts";
import { runInProjectContract, type RunInProjectResponse } from "./run-in-project-contract.ts";
import { maxToolingFiles } from "./tooling-schema.ts";

type Request = RequestOf<typeof runInProjectContract>;

/** `run_in_project`: one command in a project of this machine. */
export const runInProjectHandler = handle(runInProjectContract, run);

async function run(platform: PlatformParts, request: Request, call: OperationCall): Promise<RunInProjectResponse> {
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
  platform: PlatformParts,
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

type OwnFields = Pick<RunInProjectResponse, "image" | "setup_command" | "packages_installed" | "tooling_files">;

function toWire({ image, setupCommand, packages, toolingFiles }: ProjectCommandResult): OwnFields {
  return {
    ...(image === null ? {} : { image }),
    ...(setupCommand === null ? {} : { setup_command: setupCommand }),
    ...(packages.length === 0 ? {} : { packages_installed: [...packages] }),
    tooling_files: shortenTooling(toolingFiles, maxToolingFiles).map(({ path, change }) => ({ path, change })),
  };
}
