import type { Attachment, Status } from "../container/container-json.ts";
import type { Configuration } from "../container/configuration.ts";
import { startOf } from "../state/started.ts";
import type { DockerApi } from "./docker-api.ts";
import { marks, scopedName, scopeFilter } from "./marks.ts";

/** A container of an installation as it is on Docker now. */
export interface Found {
  readonly configuration: Configuration;
  readonly status: Status;
  /** Docker's name. */
  readonly name: string;
}

/** A line of Docker's list, which answers even while everything else about a container is held up. */
interface DockerContainer {
  readonly Names: readonly string[];
  readonly State: string;
  readonly Labels: Readonly<Record<string, string>>;
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
  readonly #folder: string;

  /** `folder`: the folder of the installation. */
  constructor(api: DockerApi, scope: string, folder: string) {
    this.#api = api;
    this.#scope = scope;
    this.#folder = folder;
  }

  nameOf(id: string): string {
    return scopedName(this.#scope, id);
  }

  /** The container with that id, or undefined. */
  async find(id: string): Promise<Found | undefined> {
    const [found] = await this.#ask({ name: [`^/${this.nameOf(id).replaceAll(".", "\\.")}$`] });
    return found;
  }

  /** All of them, oldest first. */
  async list(): Promise<readonly Found[]> {
    const found = await this.#ask();
    return found.toSorted((a, b) => a.configuration.createdMs - b.configuration.createdMs);
  }

  async #ask(filters: Readonly<Record<string, readonly string[]>> = {}): Promise<readonly Found[]> {
    const rows = await this.#api.json<readonly DockerContainer[]>(
      "GET",
      `/containers/json?all=1&filters=${scopeFilter(this.#scope, filters)}`,
    );
    return rows.map((row) => this.#read(row));
  }

  #read({ Names, State, Labels, NetworkSettings }: DockerContainer): Found {
    const configuration = JSON.parse(Labels[marks.configuration] ?? "{}") as Configuration;
    const isRunning = State === "running";
    const networks = isRunning ? Object.values(NetworkSettings.Networks) : [];
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
        state: isRunning ? "running" : "stopped",
        startedMs: startOf(this.#folder, configuration.id),
        attachments,
      },
      name: (Names[0] ?? "").replace("/", ""),
    };
  }
}
