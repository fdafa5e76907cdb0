import { DockerError, type DockerApi } from "./docker-api.ts";
import { marks, scopedName, scopeFilter } from "./marks.ts";

/** A volume as it was asked for. */
export interface VolumeFacts {
  readonly name: string;
  readonly createdMs: number;
  readonly labels: Readonly<Record<string, string>>;
  readonly options: Readonly<Record<string, string>>;
  readonly sizeBytes: number;
}

interface DockerVolume {
  readonly Labels: Readonly<Record<string, string>>;
}

/** Size of a volume for which none was given: it is sparse, and more than any machine has. */
export const defaultVolumeBytes = 512 * 1024 ** 3;

/** Volumes of one installation on Docker. */
export class Volumes {
  readonly #api: DockerApi;
  readonly #scope: string;

  constructor(api: DockerApi, scope: string) {
    this.#api = api;
    this.#scope = scope;
  }

  nameOf(name: string): string {
    return scopedName(this.#scope, name);
  }

  async find(name: string): Promise<VolumeFacts | undefined> {
    try {
      return factsOf(await this.#api.json<DockerVolume>("GET", `/volumes/${encodeURIComponent(this.nameOf(name))}`));
    } catch (error) {
      if (error instanceof DockerError && error.status === 404) return undefined;
      throw error;
    }
  }

  async list(): Promise<readonly VolumeFacts[]> {
    const { Volumes: found } = await this.#api.json<{ readonly Volumes: readonly DockerVolume[] | null }>(
      "GET",
      `/volumes?filters=${scopeFilter(this.#scope)}`,
    );
    return (found ?? []).map(factsOf).toSorted((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** One with a size below the default is kept in memory by Docker, which knows no other limit here. */
  async create(facts: VolumeFacts): Promise<void> {
    const isSized = facts.sizeBytes < defaultVolumeBytes;
    await this.#api.json("POST", "/volumes/create", {
      Name: this.nameOf(facts.name),
      Labels: { [marks.scope]: this.#scope, [marks.configuration]: JSON.stringify(facts) },
      ...(isSized ? { DriverOpts: { type: "tmpfs", device: "tmpfs", o: `size=${facts.sizeBytes},mode=755` } } : {}),
    });
  }

  async remove(name: string): Promise<void> {
    await this.#api.json("DELETE", `/volumes/${encodeURIComponent(this.nameOf(name))}`);
  }
}

function factsOf({ Labels }: DockerVolume): VolumeFacts {
  return JSON.parse(Labels[marks.configuration] ?? "{}") as VolumeFacts;
}
