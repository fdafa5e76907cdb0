import { checkMountContract, listMountsContract } from "../../src/operations/mounts-contract.ts";
import { copyIntoSandboxContract, copyOutOfSandboxContract } from "../../src/operations/sandboxes/copy-contract.ts";
import { createEnvironmentContract } from "../../src/operations/environments/create-environment-contract.ts";
import {
  destroyEnvironmentContract,
  listEnvironmentsContract,
} from "../../src/operations/environments/environments-contract.ts";
import { doctorContract } from "../../src/operations/doctor/doctor-contract.ts";
import {
  createContextContract,
  endContextContract,
  interruptContextContract,
  listContextsContract,
  restartContextContract,
} from "../../src/operations/session/contexts-contract.ts";
import { endSessionContract } from "../../src/operations/session/end-session-contract.ts";
import { execInSandboxContract, openTerminalContract } from "../../src/operations/sandboxes/exec-contract.ts";
import { executeCodeContract } from "../../src/operations/execute-contract.ts";
import { buildImagesContract, listImagesContract, pullImagesContract } from "../../src/operations/images-contract.ts";
import {
  editFileContract,
  listFilesContract,
  readFileContract,
  writeFileContract,
} from "../../src/operations/files-contract.ts";
import { listPackagesContract, prunePackagesContract } from "../../src/operations/packages-contract.ts";
import {
  listProcessesContract,
  stopProcessContract,
  writeStdinContract,
} from "../../src/operations/processes/processes-contract.ts";
import {
  listSandboxesContract,
  pruneSandboxesContract,
  removeSandboxesContract,
} from "../../src/operations/sandboxes/sandboxes-contract.ts";
import type { OperationCall } from "../../src/operations/contract/operation-call.ts";
import type { OperationContract, ResponseOf } from "../../src/operations/contract/operation-contract.ts";
import { parseRequest } from "../../src/operations/contract/parse-request.ts";
import { openEmbeddedCaller, type EmbeddedOptions } from "../../src/library/embedded-caller.ts";
import { runCodeContract } from "../../src/operations/session/run-code-contract.ts";
import { openSessionContract } from "../../src/operations/session/sessions-contract.ts";
import { runCommandContract } from "../../src/operations/environments/run-command-contract.ts";
import { runAgentContract } from "../../src/operations/run-agent-contract.ts";
import { runTestsContract } from "../../src/operations/run-tests-contract.ts";
import { startPreviewContract } from "../../src/operations/previews/start-preview-contract.ts";
import { previewStatusContract, stopPreviewContract } from "../../src/operations/previews/previews-contract.ts";
import { startProcessContract } from "../../src/operations/processes/start-process-contract.ts";
import { sandboxStatsContract } from "../../src/operations/metrics/sandbox-stats-contract.ts";
import type { z } from "zod";

export { GloveboxError } from "../../src/errors/glovebox-error.ts";
export type { Alert } from "../../src/platform/platform.ts";
export type { OperationEvent } from "../../src/operations/contract/operation-event.ts";
export type { DoctorEngine, DoctorResponse } from "../../src/operations/doctor/doctor-contract.ts";
export type { ExecuteRequest, ExecuteResponse } from "../../src/operations/execute-contract.ts";
export type { RunCodeRequest, RunCodeResponse } from "../../src/operations/session/run-code-contract.ts";
export type { CheckMountResponse, ListMountsResponse } from "../../src/operations/mounts-contract.ts";
export type { SandboxRow } from "../../src/operations/sandboxes/sandboxes-contract.ts";
export type { EmbeddedOptions as GloveboxOptions };

type CallOptions = Omit<OperationCall, "principal" | "connection">;

/** An operation of this process, with the names used on the wire. */
type Call<Contract extends OperationContract> = (
  request: z.input<Contract["request"]>,
  call?: CallOptions,
) => Promise<ResponseOf<Contract>>;
/** An operation whose request may be left out. */
type PlainCall<Contract extends OperationContract> = (
  request?: z.input<Contract["request"]>,
  call?: CallOptions,
) => Promise<ResponseOf<Contract>>;

/** Every operation of this process as doors on a wire see it: wire names, checked requests, one connection. */
export type Glovebox = Awaited<ReturnType<typeof createGlovebox>>;

/** Opens a Glovebox in this process. @throws INVALID_REQUEST for a bad configuration */
export async function createGlovebox(options: EmbeddedOptions = {}) {
  const { call, principal, close } = await openEmbeddedCaller(options);
  const on =
    <Contract extends OperationContract>(contract: Contract): Call<Contract> =>
    async (request, how) =>
      call(contract, parseRequest(contract, request), { ...how, principal, connection: "library" });
  const plain =
    <Contract extends OperationContract>(contract: Contract): PlainCall<Contract> =>
    (request = {} as z.input<Contract["request"]>, how) =>
      on(contract)(request, how);
  return {
    execute: on(executeCodeContract),
    test: on(runTestsContract),
    runAgent: on(runAgentContract),
    previews: {
      start: on(startPreviewContract),
      status: on(previewStatusContract),
      stop: on(stopPreviewContract),
    },
    runCode: on(runCodeContract),
    openSession: plain(openSessionContract),
    listFiles: plain(listFilesContract),
    readFile: on(readFileContract),
    writeFile: on(writeFileContract),
    editFile: on(editFileContract),
    endSession: plain(endSessionContract),
    contexts: {
      create: on(createContextContract),
      list: on(listContextsContract),
      interrupt: on(interruptContextContract),
      restart: on(restartContextContract),
      end: on(endContextContract),
    },
    environments: {
      create: on(createEnvironmentContract),
      runCommand: on(runCommandContract),
      list: (how?: CallOptions) => on(listEnvironmentsContract)({}, how),
      destroy: on(destroyEnvironmentContract),
    },
    processes: {
      start: on(startProcessContract),
      list: plain(listProcessesContract),
      writeStdin: on(writeStdinContract),
      stop: on(stopProcessContract),
    },
    live: {
      exec: on(execInSandboxContract),
      terminal: on(openTerminalContract),
      copyIn: on(copyIntoSandboxContract),
      copyOut: on(copyOutOfSandboxContract),
    },
    images: async (...given: Parameters<PlainCall<typeof listImagesContract>>) =>
      (await plain(listImagesContract)(...given)).images,
    pullImages: async (...given: Parameters<PlainCall<typeof pullImagesContract>>) =>
      (await plain(pullImagesContract)(...given)).images,
    buildImages: async (...given: Parameters<PlainCall<typeof buildImagesContract>>) =>
      (await plain(buildImagesContract)(...given)).images,
    sandboxes: async (...given: Parameters<PlainCall<typeof listSandboxesContract>>) =>
      (await plain(listSandboxesContract)(...given)).sandboxes,
    removeSandboxes: async (...given: Parameters<Call<typeof removeSandboxesContract>>) =>
      (await on(removeSandboxesContract)(...given)).removed,
    pruneSandboxes: async (...given: Parameters<PlainCall<typeof pruneSandboxesContract>>) =>
      (await plain(pruneSandboxesContract)(...given)).removed,
    stats: plain(sandboxStatsContract),
    doctor: (how?: CallOptions) => on(doctorContract)({}, how),
    checkMount: on(checkMountContract),
    mounts: (how?: CallOptions) => on(listMountsContract)({}, how),
    packages: (how?: CallOptions) => on(listPackagesContract)({}, how),
    prunePackages: plain(prunePackagesContract),
    close,
    [Symbol.asyncDispose]: close,
  };
}
