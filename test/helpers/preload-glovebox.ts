import { loadHostConfig, type Settings } from "../../src/config/load-config.ts";
import type { ChosenEngine } from "../../src/engines/discover.ts";
import {
  executeCodeContract,
  type ExecuteRequest,
  type ExecuteResponse,
} from "../../src/operations/execute-contract.ts";
import { executeCodeHandler } from "../../src/operations/execute-handler.ts";
import type { OperationCall } from "../../src/operations/contract/operation-contract.ts";
import { parseRequest } from "../../src/operations/contract/parse-request.ts";
import { runCodeContract, type RunCodeRequest, type RunCodeResponse } from "../../src/operations/session-contract.ts";
import { runCodeHandler } from "../../src/operations/session-handler.ts";
import {
  listFilesContract,
  readFileContract,
  writeFileContract,
  type ListFilesRequest,
  type ListFilesResponse,
  type ReadFileRequest,
  type ReadFileResponse,
  type WriteFileRequest,
  type WriteFileResponse,
} from "../../src/operations/files-contract.ts";
import { listFilesHandler, readFileHandler, writeFileHandler } from "../../src/operations/files-handler.ts";
import type { Door } from "../../src/platform/engine-chooser.ts";
import { createPlatform } from "../../src/platform/platform.ts";
import { preloadEngine } from "./preload-engine.ts";

export interface PreloadGlovebox extends AsyncDisposable {
  execute(request: ExecuteRequest, call?: Partial<OperationCall>): Promise<ExecuteResponse>;
  runCode(request: RunCodeRequest, call?: Partial<OperationCall>): Promise<RunCodeResponse>;
  writeFile(request: WriteFileRequest): Promise<WriteFileResponse>;
  readFile(request: ReadFileRequest): Promise<ReadFileResponse>;
  listFiles(request: ListFilesRequest): Promise<ListFilesResponse>;
}

export interface PreloadGloveboxOptions {
  /** Default: `person`. */
  readonly door?: Door;
  /** Whether programs keep the tests' own user, so that only the guards protect the machine; default false. */
  readonly asOurselves?: boolean;
  readonly settings?: Settings;
}

/**
 * Runs programs at level `preload`, even if this machine could do better; the level is accepted by name, unless the
 * settings say otherwise.
 */
export async function openPreloadGlovebox(options: PreloadGloveboxOptions = {}): Promise<PreloadGlovebox> {
  const { door = "person", asOurselves = false, settings } = options;
  const { config, host: machine } = await loadHostConfig({ settings: { min_isolation: "preload", ...settings } });
  // Without root, programs cannot become another user.
  const host = asOurselves ? { ...machine, uid: null } : machine;
  const platform = await createPlatform({ config, host, door });
  const engine = preloadEngine(asOurselves ? { uid: null } : {});
  const chooseEngine = async (): Promise<ChosenEngine> => ({ engine, notes: [] });
  const atPreload = { ...platform, chooseEngine, chooseSessionEngine: chooseEngine };
  const caller = { principal: "test" };
  return {
    execute: (request, call) =>
      executeCodeHandler.run(atPreload, parseRequest(executeCodeContract, request), { ...caller, ...call }),
    runCode: (request, call) =>
      runCodeHandler.run(atPreload, parseRequest(runCodeContract, request), { ...caller, ...call }),
    writeFile: (request) => writeFileHandler.run(atPreload, parseRequest(writeFileContract, request), caller),
    readFile: (request) => readFileHandler.run(atPreload, parseRequest(readFileContract, request), caller),
    listFiles: (request) => listFilesHandler.run(atPreload, parseRequest(listFilesContract, request), caller),
    [Symbol.asyncDispose]: async () => {
      await platform.close();
      await engine.close();
    },
  };
}
