import { checkMountContract, listMountsContract } from "../../src/operations/mounts-contract.ts";
import {
  copyIntoSandboxContract,
  copyOutOfSandboxContract,
  execInSandboxContract,
  openTerminalContract,
} from "../../src/operations/live-sandbox-contract.ts";
import {
  createEnvironmentContract,
  destroyEnvironmentContract,
  listEnvironmentsContract,
  runCommandContract,
} from "../../src/operations/environments-contract.ts";
import { doctorContract } from "../../src/operations/doctor-contract.ts";
import {
  createContextContract,
  endContextContract,
  interruptContextContract,
  listContextsContract,
  restartContextContract,
  endSessionContract,
  runCodeContract,
  openSessionContract,
} from "../../src/operations/session-contract.ts";
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
  startProcessContract,
} from "../../src/operations/processes-contract.ts";
import {
  listSandboxesContract,
  pruneSandboxesContract,
  removeSandboxesContract,
} from "../../src/operations/sandboxes-contract.ts";
import type { OperationCall, OperationContract, ResponseOf } from "../../src/operations/contract/operation-contract.ts";
import { parseRequest } from "../../src/operations/contract/parse-request.ts";
import { openEmbeddedCaller, type EmbeddedOptions } from "../../src/library/embedded-caller.ts";
import { runAgentContract } from "../../src/operations/agent-contract.ts";
import { runTestsContract } from "../../src/operations/tests-contract.ts";
import {
  startPreviewContract,
  previewStatusContract,
  stopPreviewContract,
} from "../../src/operations/previews-contract.ts";
import { sandboxStatsContract } from "../../src/operations/metrics-contract.ts";
import type { z } from "zod";

export { GloveboxError } from "../../src/errors/glovebox-error.ts";
export type { Alert } from "../../src/platform/platform.ts";
export type { OperationEvent } from "../../src/operations/contract/wire-values.ts";
export type { DoctorEngine, DoctorResponse } from "../../src/operations/doctor-contract.ts";
export type { ExecuteRequest, ExecuteResponse } from "../../src/operations/execute-contract.ts";
export type { RunCodeRequest, RunCodeResponse } from "../../src/operations/session-contract.ts";
export type { CheckMountResponse, ListMountsResponse } from "../../src/operations/mounts-contract.ts";
export type { SandboxRow } from "../../src/operations/sandboxes-contract.ts";
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
