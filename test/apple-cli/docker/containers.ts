import type { Attachment, Status } from "../container/container-json.ts";
import type { Configuration } from "../container/configuration.ts";
import { DockerError, type DockerApi } from "./docker-api.ts";
import { marks, scopedName, scopeFilter } from "./marks.ts";

/** A container of an installation as it is on Docker now. */
export interface Found {
  readonly configuration: Configuration;
  readonly status: Status;
  /** Docker's name. */
  readonly name: string;
  readonly imageStopSignal: string | undefined;
}

interface DockerContainer {
  readonly Name: string;
  readonly State: { readonly Running: boolean; readonly StartedAt: string };
  readonly Config: { readonly Labels: Readonly<Record<string, string>>; readonly StopSignal?: string };
  readonly NetworkSettings: {
    readonly Networks: Readonly<
      Record<string, { IPAddress: string; IPPrefixLen: number; Gateway: string; MacAddress: string }>
    >;
  };
}

/** Containers of one installation on Docker. */
export class Containers {
  readonly #api: DockerApi;
  readonly #scope: string;

  constructor(api: DockerApi, scope: string) {
    this.#api = api;
    this.#scope = scope;
  }

  nameOf(id: string): string {
    return scopedName(this.#scope, id);
  }

  /** The container of that id, or undefined; what is being removed is not there any more. */
  async find(id: string): Promise<Found | undefined> {
    try {
      const found = await this.#api.json<DockerContainer>(
        "GET",
        `/containers/${encodeURIComponent(this.nameOf(id))}/json`,
      );
      return this.#read(found);
    } catch (error) {
      if (error instanceof DockerError && error.status === 404) return undefined;
      throw error;
    }
  }

  /** All of them, oldest first. */
  async list(): Promise<readonly Found[]> {
    const rows = await this.#api.json<readonly { Labels: Record<string, string> }[]>(
      "GET",
      `/containers/json?all=1&filters=${scopeFilter(this.#scope)}`,
    );
    const ids = rows.map(({ Labels }) => (JSON.parse(Labels[marks.configuration] ?? "{}") as Configuration).id);
    const found = await Promise.all(ids.map((id) => this.find(id)));
    return found
      .filter((each) => each !== undefined)
      .toSorted((a, b) => a.configuration.createdMs - b.configuration.createdMs);
  }

  #read({ Name, State, Config, NetworkSettings }: DockerContainer): Found {
    const configuration = JSON.parse(Config.Labels[marks.configuration] ?? "{}") as Configuration;
    const started = Date.parse(State.StartedAt);
    const networks = State.Running ? Object.values(NetworkSettings.Networks) : [];
    const attachments = networks
      .filter(({ IPAddress }) => IPAddress !== "")
      .map((network, index): Attachment => ({
        network: configuration.networks[index]?.network ?? "default",
        address: `${network.IPAddress}/${network.IPPrefixLen}`,
        gateway: network.Gateway,
        macAddress: network.MacAddress,
        mtu: configuration.networks[index]?.mtu ?? 1280,
      }));
    return {
      configuration,
      status: {
        state: State.Running ? "running" : "stopped",
        startedMs: started > 0 ? started : undefined,
        attachments,
      },
      name: Name.replace("/", ""),
      imageStopSignal: Config.StopSignal,
    };
  }
}
