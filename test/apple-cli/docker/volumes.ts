import type { DockerApi } from "./docker-api.ts";
import { marks } from "./marks.ts";
import { OwnObjects } from "./own-objects.ts";

/** A volume as requested. */
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

/** Default size of a volume: it is sparse, and more than any machine has. */
export const defaultVolumeBytes = 512 * 1024 ** 3;

/** Volumes of one installation on Docker. */
export class Volumes {
  readonly #own: OwnObjects<DockerVolume>;

  constructor(api: DockerApi, scope: string) {
    this.#own = new OwnObjects(api, scope, "volumes");
  }

  async find(name: string): Promise<VolumeFacts | undefined> {
    const found = await this.#own.find(this.#own.nameOf(name));
    return found === undefined ? undefined : factsOf(found);
  }

  async list(): Promise<readonly VolumeFacts[]> {
    const { Volumes: found } = await this.#own.list<{ readonly Volumes: readonly DockerVolume[] | null }>();
    return (found ?? []).map(factsOf).toSorted((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** Docker keeps a volume with a size below the default in memory, since it has no other limit here. */
  async create(facts: VolumeFacts): Promise<void> {
    const isSized = facts.sizeBytes < defaultVolumeBytes;
    const options = { type: "tmpfs", device: "tmpfs", o: `size=${facts.sizeBytes},mode=755` };
    await this.#own.create(facts.name, facts, isSized ? { DriverOpts: options } : {});
  }

  async remove(name: string): Promise<void> {
    await this.#own.remove(name);
  }
}

function factsOf({ Labels }: DockerVolume): VolumeFacts {
  return JSON.parse(Labels[marks.configuration] ?? "{}") as VolumeFacts;
}
