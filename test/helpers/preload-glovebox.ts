import { loadHostConfig } from "../../src/config/host-config.ts";
import { executeOperation } from "../../src/operations/execute/run.ts";
import type { ExecuteRequest, ExecuteResponse } from "../../src/operations/execute/schema.ts";
import { parseRequest } from "../../src/operations/parse-request.ts";
import { createPlatform, type Door } from "../../src/platform/platform.ts";
import { preloadEngine } from "./preload-engine.ts";

export interface PreloadGlovebox extends AsyncDisposable {
  execute(request: ExecuteRequest): Promise<ExecuteResponse>;
}

export interface PreloadGloveboxOptions {
  /** Default: one's own machine. */
  readonly door?: Door;
  /** Programs stay the tests' own user, so that nothing but the guards stands between; default false. */
  readonly asOurselves?: boolean;
}

/** Runs programs at level `preload`, whatever this machine could do. */
export async function openPreloadGlovebox(options: PreloadGloveboxOptions = {}): Promise<PreloadGlovebox> {
  const { door = "own-machine", asOurselves = false } = options;
  const { config, host } = await loadHostConfig({});
  const platform = createPlatform({ config, host, door });
  const engine = preloadEngine(asOurselves ? { uid: null } : {});
  return {
    execute: (request) =>
      executeOperation.run(
        { ...platform, chooseEngine: async () => ({ engine, notes: [] }) },
        parseRequest(executeOperation.request, request),
        { principal: "test" },
      ),
    [Symbol.asyncDispose]: async () => {
      await platform.close();
      await engine.close();
    },
  };
}
