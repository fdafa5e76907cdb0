import { z } from "zod";
import { settingsSchema } from "../../src/config/settings-schema.ts";
import { runAgentContract } from "../../src/operations/agent-contract.ts";
import { doctorContract } from "../../src/operations/doctor-contract.ts";
import {
  createEnvironmentContract,
  listEnvironmentsContract,
  runCommandContract,
} from "../../src/operations/environments-contract.ts";
import { executeCodeContract } from "../../src/operations/execute-contract.ts";
import {
  editFileContract,
  listFilesContract,
  readFileContract,
  writeFileContract,
  downloadFileContract,
} from "../../src/operations/files-contract.ts";
import { buildImagesContract, listImagesContract, pullImagesContract } from "../../src/operations/images-contract.ts";
import { readLogsContract } from "../../src/operations/logs-contract.ts";
import { getMetricsContract, listAlertsContract } from "../../src/operations/metrics-contract.ts";
import { checkMountContract, listMountsContract } from "../../src/operations/mounts-contract.ts";
import { listPackagesContract, prunePackagesContract } from "../../src/operations/packages-contract.ts";
import {
  previewStatusContract,
  stopPreviewContract,
  startPreviewContract,
} from "../../src/operations/previews-contract.ts";
import {
  listProcessesContract,
  stopProcessContract,
  writeStdinContract,
  startProcessContract,
} from "../../src/operations/processes-contract.ts";
import {
  copyIntoSandboxContract,
  execInSandboxContract,
  openTerminalContract,
} from "../../src/operations/live-sandbox-contract.ts";
import { listSandboxesContract, pruneSandboxesContract } from "../../src/operations/sandboxes-contract.ts";
import {
  runCodeContract,
  createContextContract,
  listSessionsContract,
  openSessionContract,
} from "../../src/operations/session-contract.ts";
import { runTestsContract } from "../../src/operations/tests-contract.ts";
import { fieldNames, TypeWriter, type Schema, type TypeForm } from "./schema-type.ts";

/** A type, the schema that it is written from, a sentence about it, and the fields that an object already knows. */
type Row = readonly [type: string, schema: Schema, sentence: string, known?: readonly string[]];

const place = ["env_id", "session_id"];
const into = ({ request }: { readonly request: z.ZodType }): Schema =>
  z.toJSONSchema(request, { io: "input" }) as Schema;
const outOf = ({ response }: { readonly response: z.ZodType }): Schema => z.toJSONSchema(response) as Schema;

/** The elements of a list in a field of an answer. */
function eachOf(contract: { readonly response: z.ZodType }, field: string): Schema {
  const items = outOf(contract).properties?.[field]?.items;
  if (items === undefined) throw new TypeError(`${field} is not a list.`);
  return items;
}

const optionTypes: readonly Row[] = [
  ["ExecuteOptions", into(executeCodeContract), "A program for a fresh sandbox."],
  ["TestsOptions", into(runTestsContract), "A project's tests in a fresh sandbox."],
  ["PreviewOptions", into(startPreviewContract), "A project's page, served from a sandbox."],
  ["PreviewStatusOptions", into(previewStatusContract), "How a preview is asked for its state.", ["id"]],
  ["AgentOptions", into(runAgentContract), "A coding agent's run for a group."],
  ["SessionOptions", into(openSessionContract), "What a session is opened with, and keeps."],
  ["SessionRunOptions", into(runCodeContract), "A program in a session.", ["session_id"]],
  ["ContextOptions", into(createContextContract), "What a context is made of.", ["session_id"]],
  ["EnvironmentOptions", into(createEnvironmentContract), "What an environment is made of."],
  ["CommandOptions", into(runCommandContract), "A command in an environment.", ["env_id"]],
  ["ProcessOptions", into(startProcessContract), "A background process.", place],
  ["ProcessOutputOptions", into(listProcessesContract), "Which part of its output is read.", [...place, "process_id"]],
  ["StopProcessOptions", into(stopProcessContract), "How a process is ended.", [...place, "process_id"]],
  ["EditFileOptions", into(editFileContract), "What is replaced in a file, and by what.", [...place, "path"]],
  ["ReadFileOptions", into(readFileContract), "Which part of a file is read, and how.", [...place, "path"]],
  ["ReadStreamOptions", into(downloadFileContract), "Which part of a file is read.", [...place, "path"]],
  ["ExecOptions", into(execInSandboxContract), "A program in a live sandbox.", ["sandbox_id"]],
  ["TerminalOptions", into(openTerminalContract), "A program in a terminal.", ["sandbox_id"]],
  ["CopyLimits", into(copyIntoSandboxContract), "How much is copied at most.", ["sandbox_id", "source", "target"]],
  ["ListSandboxesOptions", into(listSandboxesContract), "Which sandboxes are listed."],
  ["PruneSandboxesOptions", into(pruneSandboxesContract), "What is removed."],
  ["ListAlertsOptions", into(listAlertsContract), "Which alerts are listed."],
  ["MetricsOptions", into(getMetricsContract), "Which samples are given.", ["sandbox_id"]],
  ["ReadLogsOptions", into(readLogsContract), "Which part of a log is read.", ["id"]],
  ["ListImagesOptions", into(listImagesContract), "Which engine's images are listed."],
  ["PullImagesOptions", into(pullImagesContract), "Which images are pulled."],
  ["BuildImagesOptions", into(buildImagesContract), "Which images are built."],
  ["CheckMountOptions", into(checkMountContract), "A folder that a sandbox would get."],
  ["PrunePackagesOptions", into(prunePackagesContract), "Which kept packages are removed."],
];

const resultTypes: readonly Row[] = [
  ["ExecuteResult", outOf(executeCodeContract), "What came of a program."],
  ["TestsResult", outOf(runTestsContract), "What came of a project's tests."],
  ["AgentResult", outOf(runAgentContract), "What came of a coding agent's run."],
  ["SessionRunResult", outOf(runCodeContract), "What came of a program in a session."],
  ["CommandResult", outOf(runCommandContract), "What came of a command."],
  ["ExecResult", outOf(execInSandboxContract), "What came of a program in a live sandbox."],
  ["TerminalResult", outOf(openTerminalContract), "How a program in a terminal ended."],
  ["SessionDetails", outOf(openSessionContract), "A session as it was opened."],
  ["ContextRow", outOf(createContextContract), "A context of a session that keeps variables."],
  ["SessionRow", eachOf(listSessionsContract, "sessions"), "A session as a list shows it."],
  ["EnvironmentDetails", outOf(createEnvironmentContract), "An environment as it was created."],
  ["EnvironmentRow", eachOf(listEnvironmentsContract, "environments"), "An environment as a list shows it."],
  ["PreviewDetails", outOf(startPreviewContract), "A preview as it is at one moment."],
  ["StoppedPreview", outOf(stopPreviewContract), "What was stopped."],
  ["StartedProcess", outOf(startProcessContract), "A background process as it was started."],
  ["ProcessDetails", eachOf(listProcessesContract, "processes"), "A background process as a list shows it."],
  ["WrittenInput", outOf(writeStdinContract), "What was written to a process."],
  ["StoppedProcess", outOf(stopProcessContract), "How a process ended."],
  ["FileList", outOf(listFilesContract), "A folder's entries."],
  ["FileContent", outOf(readFileContract), "A file, or a piece of it."],
  ["EditedFile", outOf(editFileContract), "A file as it was edited."],
  ["WrittenFile", outOf(writeFileContract), "A file as it was written."],
  ["CopyResult", outOf(copyIntoSandboxContract), "What was copied."],
  ["SandboxRow", eachOf(listSandboxesContract, "sandboxes"), "A live sandbox as a list shows it."],
  ["Metrics", outOf(getMetricsContract), "What a sandbox used, second by second."],
  ["LogEntry", eachOf(readLogsContract, "entries"), "One line of output, or one thing that Glovebox says."],
  ["ImageRow", eachOf(listImagesContract, "images"), "A default image, and whether the engine has it."],
  ["MountList", outOf(listMountsContract), "Which folders sandboxes may get."],
  ["MountAnswer", outOf(checkMountContract), "What the mount gate says about a folder."],
  ["PackageList", outOf(listPackagesContract), "Packages that are kept."],
  ["PrunedPackages", outOf(prunePackagesContract), "What was removed of them."],
  ["DoctorReport", outOf(doctorContract), "Engines, what each enforces, and known dangers."],
];

const optionForm: TypeForm = {
  named: {
    limits: {
      type: "Limits",
      sentence: "Limits of one call; each defaults to the deployment's for this kind of work.",
    },
    context_files: { type: "ContextFile", sentence: "A file that a program finds beside its code." },
    trusted_files: { type: "ContextFile", sentence: "A file that a program finds beside its code." },
  },
};
const resultForm: TypeForm = {
  named: {
    error: { type: "RunError", sentence: "Why a program did not end well, where Glovebox knows." },
    artifacts: { type: "Artifact", sentence: "A file that a program made." },
    alerts: { type: "Alert", sentence: "Something about a sandbox that its owner should know while it goes on." },
  },
};
const settingsForm: TypeForm = {
  nameOf: (name) => name,
  unsaid: {
    secrets:
      "readonly string[] | Readonly<Record<string, { readonly env?: string; readonly file?: string; readonly principals?: readonly string[]; readonly kinds?: readonly string[]; }>>",
  },
  defaults: true,
};

function write(rows: readonly Row[], form: TypeForm): string {
  const wireNames = new Set([...optionTypes, ...resultTypes].flatMap(([, schema]) => fieldNames(schema)));
  const writer = new TypeWriter(form, wireNames);
  const types = rows.map(([type, schema, sentence, known]) => writer.interfaceOf(type, schema, sentence, known));
  const head = "// Written by scripts/write-library-options.ts from the operations' schemas.";
  return `${[head, ...new Set([...types, ...writer.namedInterfaces])].join("\n\n")}\n`;
}

/** The files of the library's types, by name, documented with the descriptions of the schemas. */
export function writeLibraryTypes(): Readonly<Record<string, string>> {
  const settings = z.toJSONSchema(settingsSchema, { io: "input", unrepresentable: "any" }) as Schema;
  return {
    "options.ts": write(optionTypes, optionForm),
    "results.ts": write(resultTypes, resultForm),
    "settings.ts": write([["Settings", settings, "The configuration, by the names of its file."]], settingsForm),
  };
}
