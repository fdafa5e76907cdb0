import { DockerError, type DockerApi } from "./docker-api.ts";
import { marks, scopedName, scopeFilter } from "./marks.ts";

/** A network as it was asked for. */
export interface NetworkFacts {
  readonly name: string;
  readonly createdMs: number;
  readonly labels: Readonly<Record<string, string>>;
  readonly options: Readonly<Record<string, string>>;
  readonly mode: "nat" | "hostOnly";
  readonly plugin: string;
  readonly subnet: string;
  readonly gateway: string;
}

interface DockerNetwork {
  readonly Created: string;
  readonly Labels: Readonly<Record<string, string>>;
  readonly Containers?: Readonly<Record<string, unknown>>;
  readonly IPAM: { readonly Config: readonly { readonly Subnet: string; readonly Gateway?: string }[] | null };
}

/** The network that is always there: Docker's own bridge, on which containers do not find each other by name. */
const builtinNetwork = "default";

/** Networks of one installation on Docker. */
export class Networks {
  readonly #api: DockerApi;
  readonly #scope: string;

  constructor(api: DockerApi, scope: string) {
    this.#api = api;
    this.#scope = scope;
  }

  nameOf(name: string): string {
    return name === builtinNetwork ? "bridge" : scopedName(this.#scope, name);
  }

  async exists(name: string): Promise<boolean> {
    return name === builtinNetwork || (await this.find(name)) !== undefined;
  }

  async find(name: string): Promise<NetworkFacts | undefined> {
    try {
      return factsOf(await this.#api.json<DockerNetwork>("GET", `/networks/${encodeURIComponent(this.nameOf(name))}`));
    } catch (error) {
      if (error instanceof DockerError && error.status === 404) return undefined;
      throw error;
    }
  }

  /** All of them, the builtin one first. */
  async list(): Promise<readonly NetworkFacts[]> {
    const own = await this.#api.json<readonly DockerNetwork[]>("GET", `/networks?filters=${scopeFilter(this.#scope)}`);
    const builtin = await this.find(builtinNetwork);
    return [...(builtin === undefined ? [] : [builtin]), ...own.map(factsOf)];
  }

  async create(facts: Omit<NetworkFacts, "gateway">): Promise<void> {
    const subnet = facts.subnet === "" ? {} : { IPAM: { Config: [{ Subnet: facts.subnet }] } };
    await this.#api.json("POST", "/networks/create", {
      Name: this.nameOf(facts.name),
      CheckDuplicate: true,
      // Apple's own internal networks are no reliable block either, but nothing may depend on their holes.
      Internal: facts.mode === "hostOnly",
      Labels: { [marks.scope]: this.#scope, [marks.configuration]: JSON.stringify(facts) },
      ...subnet,
    });
  }

  async remove(name: string): Promise<void> {
    await this.#api.json("DELETE", `/networks/${encodeURIComponent(this.nameOf(name))}`);
  }
}

function factsOf({ Created, Labels, IPAM }: DockerNetwork): NetworkFacts {
  const { Subnet: subnet = "", Gateway: gateway = "" } = IPAM.Config?.[0] ?? {};
  const kept = Labels[marks.configuration];
  const builtin: NetworkFacts = {
    name: builtinNetwork,
    createdMs: Date.parse(Created),
    labels: { "com.apple.container.resource.role": "builtin" },
    options: {},
    mode: "nat",
    plugin: "container-network-vmnet",
    subnet,
    gateway,
  };
  return kept === undefined ? builtin : { ...(JSON.parse(kept) as NetworkFacts), subnet, gateway };
}
