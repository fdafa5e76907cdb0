import { GloveboxError } from "../../errors/glovebox-error.ts";
import type { EngineSetup } from "../engine-setup.ts";
import type { Dialect, MachineAnswer, VersionAnswer } from "../docker-api/dialect.ts";
import { unavailableError, type Unavailability } from "../docker-api/http/unavailability.ts";
import { createBody } from "./create-body.ts";
import { correctInfo, versionIn, type PodmanInfo } from "./podman-info.ts";

export interface PodmanDialectOptions {
  /** Puts the profile where the service can read it, and gives the path there. */
  readonly shareProfile: (profile: object) => Promise<string>;
  /** Of this machine. */
  readonly platform: NodeJS.Platform;
}

/** Prefix of Podman's own interface, of its oldest version that is supported. */
const ownApi = "/v4.0.0/libpod";

/** What is Podman's own behind Docker's API, and where its own interface is better. */
export function podmanDialect({ shareProfile, platform }: PodmanDialectOptions): Dialect {
  return {
    name: "podman",
    title: "Podman",
    createCall: async (
      spec,
      { seccompProfile, image, setup, runtimeKind, volumesFrom, supervisorVolume, ownFiles },
    ) => {
      assertLocal(setup);
      const seccompPath = await shareProfile(seccompProfile);
      const isRootless = setup.containerRoot === "rootless";
      return {
        path: `${ownApi}/containers/create`,
        body: createBody(spec, {
          ...{
            seccompPath,
            imageId: image.id,
            isRootless,
            runtimeKind,
            platform,
            volumesFrom,
            supervisorVolume,
            ownFiles,
          },
        }),
      };
    },
    // Each of its answers about itself runs the machine's package manager for each of its parts, and `/version` twice.
    examine: async (describe, connection) => {
      try {
        const [info, own] = await Promise.all([
          describe<MachineAnswer>("/info"),
          describe<PodmanInfo>(`${ownApi}/info`),
        ]);
        return { version: versionIn(own), machine: correctInfo(info, own, connection) };
      } catch (error) {
        const foreign = foreignness(await describe<VersionAnswer>("/version"));
        throw foreign === null ? error : unavailableError("podman", foreign);
      }
    },
    // It takes any name and runs its own default.
    runtimes: ({ DefaultRuntime }) => (DefaultRuntime === undefined ? [] : [DefaultRuntime]),
    howToAddRuntime: "Podman's service runs its default only, which `podman --runtime NAME system service` changes.",
    namesLocalBuilds: true,
    // Measured with 4.3: no header makes it leave the credentials of its own files out.
    pullsAnonymously: false,
    // Nor need it: what it mounts can be looked at before anything of the image's runs.
    mountsByHandle: false,
    deniesOom: false,
    isNotRunning: (status, reason) => status === 409 || (status === 500 && reason.includes("state improper")),
    version: (answer) => podmanOf(answer)?.Version ?? answer.Version ?? "unknown",
    foreignness,
  };
}

function podmanOf({ Components }: VersionAnswer): { readonly Version?: string } | undefined {
  return Components?.find((component) => component.Name === "Podman Engine");
}

const oldestMajor = 4;

function foreignness(answer: VersionAnswer): Unavailability | null {
  const podman = podmanOf(answer);
  if (podman === undefined) {
    return {
      reason: "What answers on Podman's endpoint is not Podman.",
      howToStart: "Point CONTAINER_HOST at Podman's service, or choose the engine docker.",
    };
  }
  const major = Number.parseInt(podman.Version ?? "", 10);
  if (major >= oldestMajor) return null;
  return {
    reason: `Podman ${podman.Version} is too old; Glovebox needs ${oldestMajor}.0 or newer.`,
    howToStart: "Upgrade Podman.",
  };
}

/** A profile is passed by its path on the service's host, where we cannot write when it is not this one. */
function assertLocal({ connection }: EngineSetup): void {
  if (connection?.remote !== true) return;
  throw new GloveboxError("UNSUPPORTED", "Podman on another machine cannot use Glovebox's seccomp profile.", {
    suggestion: "Use Podman's service on this machine, or Docker, which accepts the profile over the connection.",
    context: { engine: "podman", missing: "seccomp" },
  });
}
