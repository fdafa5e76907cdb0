import type { ScratchSpec } from "../container-spec.ts";
import { containerConfig, type ConfigWording } from "../docker-api/container/container-config.ts";
import type { Dialect, EngineAccount, VersionAnswer } from "../docker-api/dialect.ts";
import type { Unavailability } from "../docker-api/http/unavailability.ts";

/** Docker's wording of a container's options. */
export const dockerWording: ConfigWording = {
  seccompOption: (profile) => `seccomp=${JSON.stringify(profile)}`,
  tmpfsOptions,
  hiddenVolumeOptions: "ro,noexec,nosuid,nodev,size=4096",
};

/** What is Docker's own in the API that other engines imitate. */
export const dockerDialect: Dialect = {
  name: "docker",
  title: "Docker",
  createCall: async (spec, circumstances) => ({
    path: "/containers/create",
    query: { name: spec.name },
    body: containerConfig(spec, { wording: dockerWording, ...circumstances }),
  }),
  examine: async (describe) => {
    const [version, machine] = await Promise.all([
      describe<EngineAccount["version"]>("/version"),
      describe<EngineAccount["machine"]>("/info"),
    ]);
    return { version, machine };
  },
  runtimes: ({ Runtimes }) => Object.keys(Runtimes ?? {}),
  howToAddRuntime: "Others are named in the `runtimes` of Docker's daemon.json.",
  namesLocalBuilds: false,
  pullsAnonymously: true,
  mountsByHandle: true,
  deniesOom: true,
  isNotRunning: (status) => status === 409,
  version: (answer) => answer.Version ?? "unknown",
  foreignness,
};

const pageBytes = 4096;
const minFiles = 1024;

/** A folder writable for every user inside; a file for each page, so that empty files are bounded too. */
function tmpfsOptions({ sizeBytes }: ScratchSpec): string {
  const files = Math.max(minFiles, Math.floor(sizeBytes / pageBytes));
  return `rw,exec,nosuid,nodev,mode=1777,size=${sizeBytes},nr_inodes=${files},uid=0,gid=0`;
}

function foreignness({ Os, Components }: VersionAnswer): Unavailability | null {
  if (Components?.some((component) => component.Name?.startsWith("Podman"))) {
    return {
      reason: "Podman answers on Docker's endpoint.",
      howToStart: "Choose the engine podman, or point DOCKER_HOST at a Docker Engine.",
    };
  }
  if (Os !== undefined && Os !== "linux") {
    return {
      reason: `Docker runs ${Os} containers; Glovebox needs Linux containers.`,
      howToStart: "Switch Docker Desktop to Linux containers.",
    };
  }
  return null;
}
