import { randomInt } from "node:crypto";
import path from "node:path";
import type { Config } from "../config/config.ts";
import { passableStateFolder, type Host } from "../config/host/host.ts";
import type { EngineTable } from "../engines/discover.ts";
import type { Engine } from "../engines/engine.ts";
import { guardEngine } from "../engines/guarded-engine.ts";
import type { LocalEngineOptions } from "../engines/local/local-engine-options.ts";

/** The engines of this build; each is loaded when it is first asked for. */
export function engineTable(config: Config, host: Host): EngineTable {
  return {
    docker: async () => {
      const { createDockerEngine } = await import("../engines/docker/docker-engine.ts");
      const { ociSeccompProfiles } = await import("../policy/seccomp/oci-profile.ts");
      return createDockerEngine({
        environment: config.engineEnvironment,
        platform: host.platform,
        seccompProfiles: ociSeccompProfiles(),
      });
    },
    podman: async () => {
      const { createPodmanEngine } = await import("../engines/podman/podman-engine.ts");
      const { ociSeccompProfiles } = await import("../policy/seccomp/oci-profile.ts");
      return createPodmanEngine({
        environment: config.engineEnvironment,
        platform: host.platform,
        uid: host.uid,
        seccompProfiles: ociSeccompProfiles(),
        profileFolder: path.join(host.stateDirectory, "seccomp"),
      });
    },
    local: async () => {
      const { createLocalEngine } = await import("../engines/local/local-engine.ts");
      const { compileSeccompFilter } = await import("../policy/seccomp/bpf-compiler.ts");
      // Other machines have no namespaces either, so the engine says what is missing before it asks for the filter.
      const architecture = host.architecture === "arm64" ? "arm64" : "x64";
      return createLocalEngine({
        ...(await localOptions(config, host)),
        seccompFilter: compileSeccompFilter(architecture),
      });
    },
  };
}

/** The engine that installs packages on this machine itself, for programs at isolation `preload`. */
export async function openHostInstaller(config: Config, host: Host): Promise<Engine> {
  const { createLocalEngine } = await import("../engines/local/local-engine.ts");
  return guardEngine(
    createLocalEngine({
      ...(await localOptions(config, host)),
      seccompFilter: new Uint8Array(),
      level: "preload",
      preload: { installs: true },
    }),
  );
}

async function localOptions(config: Config, host: Host): Promise<Omit<LocalEngineOptions, "seccompFilter">> {
  const { hasHostUids } = await import("../engines/local/host-uids.ts");
  return {
    platform: host.platform,
    architecture: host.architecture,
    // A root without other users, as in a rootless container, is an ordinary user.
    uid: hasHostUids() ? host.uid : null,
    environment: config.engineEnvironment,
    preloadFolders: {
      own: path.join(host.stateDirectory, "preload"),
      passable: path.join(passableStateFolder, "preload"),
    },
    processId: host.pid,
    nodePath: host.executable,
    now: () => Date.now(),
    randomInteger: randomInt,
  };
}
