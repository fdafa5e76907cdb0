import { randomInt } from "node:crypto";
import path from "node:path";
import type { Config } from "../config/config.ts";
import type { Host } from "../config/host.ts";
import type { EngineTable } from "../engines/discover.ts";

/** The engines of this build; each is loaded when it is first asked for. */
export function engineTable(config: Config, host: Host): EngineTable {
  return {
    docker: async () => {
      const { createDockerEngine } = await import("../engines/docker/docker-engine.ts");
      const { ociSeccompProfile } = await import("../policy/seccomp/oci-profile.ts");
      return createDockerEngine({
        environment: config.engineEnvironment,
        platform: host.platform,
        seccompProfile: ociSeccompProfile(),
      });
    },
    podman: async () => {
      const { createPodmanEngine } = await import("../engines/podman/podman-engine.ts");
      const { ociSeccompProfile } = await import("../policy/seccomp/oci-profile.ts");
      return createPodmanEngine({
        environment: config.engineEnvironment,
        platform: host.platform,
        uid: host.uid,
        seccompProfile: ociSeccompProfile(),
        profileFolder: path.join(host.stateDirectory, "seccomp"),
      });
    },
    local: async () => {
      const { createLocalEngine } = await import("../engines/local/local-engine.ts");
      const { compileSeccompFilter } = await import("../policy/seccomp/bpf-compiler.ts");
      return createLocalEngine({
        platform: host.platform,
        architecture: host.architecture,
        uid: host.uid,
        environment: config.engineEnvironment,
        processId: host.pid,
        nodePath: host.executable,
        // Other machines have no namespaces either, so the engine says what is missing before it asks for the filter.
        seccompFilter: compileSeccompFilter(host.architecture === "arm64" ? "arm64" : "x64"),
        now: () => Date.now(),
        randomInteger: randomInt,
      });
    },
  };
}
