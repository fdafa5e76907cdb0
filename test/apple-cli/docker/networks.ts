import type { DockerApi } from "./docker-api.ts";
import { marks } from "./marks.ts";
import { OwnObjects } from "./own-objects.ts";

/** A network as requested. */
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

/** The network that always exists: Docker's own bridge, where containers cannot find each other by name. */
const builtinNetwork = "default";

/** Networks of one installation on Docker. */
export class Networks {
  readonly #own: OwnObjects<DockerNetwork>;

  constructor(api: DockerApi, scope: string) {
    this.#own = new OwnObjects(api, scope, "networks");
  }

  nameOf(name: string): string {
    return name === builtinNetwork ? "bridge" : this.#own.nameOf(name);
  }

  async exists(name: string): Promise<boolean> {
    return name === builtinNetwork || (await this.find(name)) !== undefined;
  }

  async find(name: string): Promise<NetworkFacts | undefined> {
    const found = await this.#own.find(this.nameOf(name));
    return found === undefined ? undefined : factsOf(found);
  }

  /** All of them, the built-in one first. */
  async list(): Promise<readonly NetworkFacts[]> {
    const own = await this.#own.list<readonly DockerNetwork[]>();
    const builtin = await this.find(builtinNetwork);
    return [...(builtin === undefined ? [] : [builtin]), ...own.map(factsOf)];
  }

  async create(facts: Omit<NetworkFacts, "gateway">): Promise<void> {
    await this.#own.create(facts.name, facts, {
      CheckDuplicate: true,
      // Apple's own internal networks do not block reliably either, but nothing may depend on their holes.
      Internal: facts.mode === "hostOnly",
      ...(facts.subnet === "" ? {} : { IPAM: { Config: [{ Subnet: facts.subnet }] } }),
    });
  }

  async remove(name: string): Promise<void> {
    await this.#own.remove(name);
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
