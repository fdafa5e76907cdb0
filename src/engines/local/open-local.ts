import path from "node:path";
import { compileSeccompFilter } from "../../policy/seccomp/bpf-compiler.ts";
import type { EngineSurroundings } from "../engine-surroundings.ts";
import type { Engine } from "../engine.ts";
import { hasHostUids } from "../host-uids.ts";
import { createLocalEngine } from "./local-engine.ts";
import type { LocalEngineOptions } from "./local-engine-options.ts";

/** The embedded engine of this machine. */
export function openLocalEngine(surroundings: EngineSurroundings): Engine {
  // Other machines have no namespaces either, so the engine says what is missing before it asks for the filter.
  const architecture = surroundings.architecture === "arm64" ? "arm64" : "x64";
  return createLocalEngine({ ...optionsOf(surroundings), seccompFilter: compileSeccompFilter(architecture) });
}

/** The embedded engine as it installs packages on this machine itself, for programs at level `preload`. */
export function openLocalInstaller(surroundings: EngineSurroundings): Engine {
  const filter = new Uint8Array();
  return createLocalEngine({
    ...optionsOf(surroundings),
    seccompFilter: filter,
    level: "preload",
    // Root has another user install, to whom its state folder is closed.
    ...(surroundings.uid === 0 ? { bunFolder: path.join(surroundings.passableStateDirectory, "bun") } : {}),
    preload: { installs: true },
  });
}

function optionsOf(surroundings: EngineSurroundings): Omit<LocalEngineOptions, "seccompFilter"> {
  const { platform, architecture, uid, environment, processId, executable, now, randomInteger } = surroundings;
  return {
    platform,
    architecture,
    // A root without other users, as in a rootless container, is an ordinary user.
    uid: hasHostUids() ? uid : null,
    environment,
    preloadFolders: {
      own: path.join(surroundings.stateDirectory, "preload"),
      passable: path.join(surroundings.passableStateDirectory, "preload"),
    },
    bunFolder: path.join(surroundings.stateDirectory, "bun"),
    fetchBun: surroundings.fetchBun,
    processId,
    nodePath: executable,
    now,
    randomInteger,
  };
}
