import { randomInt } from "node:crypto";
import path from "node:path";
import { passableStateFolder, readHost } from "../../src/config/host/host.ts";
import type { Engine } from "../../src/engines/engine.ts";
import { guardEngine } from "../../src/engines/guarded-engine.ts";
import { createLocalEngine } from "../../src/engines/local/local-engine.ts";
import type { LocalEngineOptions } from "../../src/engines/local/level.ts";

/** The files that the product uses. */
export function ownPreloadFolders(): LocalEngineOptions["preloadFolders"] {
  return { own: path.join(readHost().stateDirectory, "preload"), passable: path.join(passableStateFolder, "preload") };
}

/** Finds the Bun next to the tests; none is fetched for them. */
export function ownBun(): Pick<LocalEngineOptions, "bunFolder" | "fetchBun"> {
  return {
    bunFolder: path.join(readHost().stateDirectory, "bun"),
    fetchBun: () => Promise.reject(new Error("no package of Bun is beside the tests")),
  };
}

/** What the embedded engine is told about this machine. */
function localEngineOptions(): LocalEngineOptions {
  return {
    platform: process.platform,
    architecture: process.arch,
    uid: process.getuid?.() ?? null,
    environment: process.env,
    nodePath: process.execPath,
    preloadFolders: ownPreloadFolders(),
    ...ownBun(),
    processId: process.pid,
    // Level `preload` has none.
    seccompFilter: new Uint8Array(),
    now: Date.now,
    randomInteger: randomInt,
  };
}

/** The embedded engine at level `preload`, even if this machine could do better. */
export function preloadEngine(changes: Partial<LocalEngineOptions> = {}): Engine {
  return guardEngine(createLocalEngine({ ...localEngineOptions(), level: "preload", ...changes }));
}
