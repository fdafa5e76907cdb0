import path from "node:path";
import type { EngineSurroundings } from "./engine-surroundings.ts";
import type { Engine } from "./engine.ts";

/** All that the rest of the product knows of one engine before it is opened. */
export interface EngineRow {
  readonly name: string;
  /**
   * Whether its sandboxes live in this process and run programs of the host itself: it needs nothing installed, is what
   * `auto` ends at, and never stands in where containers are demanded (SPEC RT2).
   */
  readonly embedded: boolean;
  /**
   * Whether it is used only when it is asked for by its name: what it needs may be there for other purposes, and belong to others.
   */
  readonly onlyByName?: true | undefined;
  /** The platform on which `auto` asks it before all others. */
  readonly firstOn?: NodeJS.Platform | undefined;
  /** An engine for this machine; left out: this version has no adapter. */
  readonly open?: ((surroundings: EngineSurroundings) => Promise<Engine>) | undefined;
  /** One that installs packages on this machine itself, with nothing that keeps the installer in. */
  readonly openInstaller?: ((surroundings: EngineSurroundings) => Promise<Engine>) | undefined;
  /** Variables of the host that it reads for itself, beside those that every program does. */
  readonly variables?: readonly string[] | undefined;
  readonly hints?: EngineHints | undefined;
}

/** An engine's own words in advice that is the same for all. */
export interface EngineHints {
  /** How its API is encrypted. */
  readonly encryption?: string | undefined;
  /** By what a user may talk to it. */
  readonly access?: string | undefined;
  /** What gives containers a root that is nobody on the host. */
  readonly userNamespaces?: string | undefined;
  /** An OCI runtime that it takes and that seals more. */
  readonly strongerRuntime?: { readonly name: string; readonly product: string } | undefined;
}

/** The engines of the product, in the order in which `auto` asks them. Each is loaded when it is first asked for. */
export const engineTable: readonly EngineRow[] = [
  {
    name: "docker",
    embedded: false,
    open: async ({ environment, platform, randomInteger }) => {
      const { createDockerEngine } = await import("./docker/docker-engine.ts");
      return createDockerEngine({ environment, platform, randomInteger });
    },
    variables: ["DOCKER_HOST", "DOCKER_CONTEXT", "DOCKER_CONFIG", "DOCKER_TLS_VERIFY", "DOCKER_CERT_PATH"],
    hints: {
      encryption: "TLS (DOCKER_TLS_VERIFY=1 with DOCKER_CERT_PATH), SSH (DOCKER_HOST=ssh://USER@HOST)",
      access: "by the group docker",
      userNamespaces: "userns-remap",
      strongerRuntime: { name: "runsc", product: "gVisor" },
    },
  },
  {
    name: "podman",
    embedded: false,
    open: async ({ environment, platform, uid, stateDirectory, randomInteger }) => {
      const { createPodmanEngine } = await import("./podman/podman-engine.ts");
      const profileFolder = path.join(stateDirectory, "seccomp");
      return createPodmanEngine({
        environment,
        platform,
        uid,
        randomInteger,
        profileFolder,
      });
    },
    variables: ["CONTAINER_HOST", "REGISTRY_AUTH_FILE", "DOCKER_CONFIG"],
  },
  {
    name: "apple",
    embedded: false,
    firstOn: "darwin",
    open: async (surroundings) => (await import("./apple/open-apple.ts")).openAppleEngine(surroundings),
  },
  {
    name: "kubernetes",
    embedded: false,
    onlyByName: true,
    open: async (surroundings) =>
      (await import("./kubernetes/kubernetes-engine.ts")).openKubernetesEngine(surroundings),
    variables: [
      ...["KUBECONFIG", "KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT"],
      ...["GLOVEBOX_KUBERNETES_CONTEXT", "GLOVEBOX_KUBERNETES_NAMESPACE", "GLOVEBOX_KUBERNETES_ARCHITECTURE"],
      ...["GLOVEBOX_KUBERNETES_PULL_SECRETS", "GLOVEBOX_KUBERNETES_ACCEPT", "GLOVEBOX_KUBERNETES_OWNER"],
    ],
  },
  {
    name: "local",
    embedded: true,
    variables: ["GLOVEBOX_BUN"],
    open: async (surroundings) => (await import("./local/local-engine.ts")).openLocalEngine(surroundings),
    openInstaller: async (surroundings) => (await import("./local/local-engine.ts")).openLocalInstaller(surroundings),
  },
];

/** Names of all engines of the product, also of those that this version has no adapter for. */
export const productEngines: readonly string[] = engineTable.map(({ name }) => name);

/** Names of those that run containers. */
export const containerEngines: readonly string[] = engineTable.filter((row) => !row.embedded).map(({ name }) => name);

/** Whether nothing is tried on it that was not asked for by its name. */
export function isOnlyByName(engine: string): boolean {
  return engineTable.find(({ name }) => name === engine)?.onlyByName === true;
}

/** An engine's own words; none for one that is not of the product. */
export function hintsOf(engine: string): EngineHints {
  return engineTable.find(({ name }) => name === engine)?.hints ?? {};
}

/** Opens the engine that installs packages on this machine itself. @throws Error when no engine can */
export async function openInstaller(surroundings: EngineSurroundings): Promise<Engine> {
  const row = engineTable.find((each) => each.openInstaller !== undefined);
  if (row?.openInstaller === undefined) throw new Error("No engine installs packages on the host.");
  return row.openInstaller(surroundings);
}

export interface AutoOrderOptions {
  readonly platform: NodeJS.Platform;
  /** Whether the embedded engine may stand in where no other answers. */
  readonly allowEmbedded: boolean;
}

/**
 * The engines in the order in which `auto` asks them on a platform (SPEC RT2): the platform's own one, the others as the table
 * has them, the embedded one last.
 */
export function autoOrder(
  rows: readonly EngineRow[],
  { platform, allowEmbedded }: AutoOrderOptions,
): readonly EngineRow[] {
  const rank = (row: EngineRow): number => (row.embedded ? 2 : row.firstOn === platform ? 0 : 1);
  const may = (row: EngineRow): boolean => row.onlyByName !== true && (allowEmbedded || !row.embedded);
  return rows.filter(may).toSorted((a, b) => rank(a) - rank(b));
}
