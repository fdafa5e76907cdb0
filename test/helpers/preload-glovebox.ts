import { loadHostConfig } from "../../src/config/host-config.ts";
import type { Settings } from "../../src/config/settings-overrides.ts";
import type { ChosenEngine } from "../../src/engines/discover.ts";
import { executeOperation } from "../../src/operations/execute/run.ts";
import type { ExecuteRequest, ExecuteResponse } from "../../src/operations/execute/schema.ts";
import type { OperationCall } from "../../src/operations/operation.ts";
import type {
  ListFilesRequest,
  ListFilesResponse,
  ReadFileRequest,
  ReadFileResponse,
  WriteFileRequest,
  WriteFileResponse,
} from "../../src/operations/session/files-schema.ts";
import { listFilesOperation, readFileOperation, writeFileOperation } from "../../src/operations/session/files.ts";
import { runCodeOperation } from "../../src/operations/session/run-code.ts";
import type { RunCodeRequest, RunCodeResponse } from "../../src/operations/session/schema.ts";
import { parseRequest } from "../../src/operations/parse-request.ts";
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
  /** Default: one's own machine. */
  readonly door?: Door;
  /** Programs stay the tests' own user, so that nothing but the guards stands between; default false. */
  readonly asOurselves?: boolean;
  readonly settings?: Settings;
}

/** Runs programs at level `preload`, whatever this machine could do; it is accepted by name, unless the settings say otherwise. */
export async function openPreloadGlovebox(options: PreloadGloveboxOptions = {}): Promise<PreloadGlovebox> {
  const { door = "own-machine", asOurselves = false, settings } = options;
  const { config, host: machine } = await loadHostConfig({ settings: { min_isolation: "preload", ...settings } });
  // Who is not root has no other user to become.
  const host = asOurselves ? { ...machine, uid: null } : machine;
  const platform = createPlatform({ config, host, door });
  const engine = preloadEngine(asOurselves ? { uid: null } : {});
  const chooseEngine = async (): Promise<ChosenEngine> => ({ engine, notes: [] });
  const atPreload = { ...platform, chooseEngine, chooseSessionEngine: chooseEngine };
  const caller = { principal: "test" };
  return {
    execute: (request, call) =>
      executeOperation.run(atPreload, parseRequest(executeOperation.request, request), { ...caller, ...call }),
    runCode: (request, call) =>
      runCodeOperation.run(atPreload, parseRequest(runCodeOperation.request, request), { ...caller, ...call }),
    writeFile: (request) =>
      writeFileOperation.run(atPreload, parseRequest(writeFileOperation.request, request), caller),
    readFile: (request) => readFileOperation.run(atPreload, parseRequest(readFileOperation.request, request), caller),
    listFiles: (request) =>
      listFilesOperation.run(atPreload, parseRequest(listFilesOperation.request, request), caller),
    [Symbol.asyncDispose]: async () => {
      await platform.close();
      await engine.close();
    },
  };
}
