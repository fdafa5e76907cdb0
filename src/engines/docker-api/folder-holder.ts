import { tarOfFolder } from "../../base/tar.ts";
import type { ContainerSpec, MountSpec } from "../container-spec.ts";
import type { CallOptions } from "../engine.ts";
import type { Api } from "./http/api.ts";
import { removeContainer } from "./container/remove-container.ts";
import { uninterrupted } from "./container/uninterrupted.ts";
import type { ImageFacts } from "./images.ts";

export interface FolderHolderOptions extends CallOptions {
  readonly api: Api;
  /** Of the container that will have the folders. */
  readonly spec: Pick<ContainerSpec, "name" | "labels">;
  readonly image: Pick<ImageFacts, "id" | "volumes">;
  readonly folders: readonly MountSpec[];
}

/**
 * Brings folders of this machine to an engine on another one: a container that is never started, with a nameless volume
 * for each folder, filled over the API. Another container takes the volumes over, read-only; then this one can go, and
 * the engine removes the volumes with the last container that has them.
 */
export class FolderHolder implements AsyncDisposable {
  readonly id: string;
  readonly #api: Api;
  #isTakenOver = false;

  private constructor(id: string, api: Api) {
    this.id = id;
    this.#api = api;
  }

  /** @throws what the engine's refusal means, CANCELLED; nothing is left then */
  static async make(options: FolderHolderOptions): Promise<FolderHolder> {
    const { api, spec, folders, signal } = options;
    const request = {
      method: "POST",
      path: "/containers/create",
      query: { name: `${spec.name}-folders` },
      body: holderConfig(options),
    } as const;
    const id = await uninterrupted(
      async () => ((await api.call("create a container", request)).body as { readonly Id: string }).Id,
      (made) => removeContainer(api, made),
      signal,
    );
    const holder = new FolderHolder(id, api);
    try {
      for (const { source, target } of folders) {
        const archive = tarOfFolder(source);
        const path = `/containers/${id}/archive`;
        await api.call("copy files", { method: "PUT", path, query: { path: target }, archive, signal });
      }
    } catch (error) {
      await holder[Symbol.asyncDispose]();
      throw error;
    }
    return holder;
  }

  /** The volumes now belong to another container and end with it. */
  handOver(): void {
    this.#isTakenOver = true;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await removeContainer(this.#api, this.id, { keepVolumes: this.#isTakenOver });
  }
}

function holderConfig({ spec, folders, image }: FolderHolderOptions): object {
  const targets = new Set(folders.map(({ target }) => target));
  return {
    Image: image.id,
    Entrypoint: ["/never-started"],
    Cmd: [],
    Labels: spec.labels,
    HostConfig: {
      NetworkMode: "none",
      CapDrop: ["ALL"],
      Mounts: [...targets].map((target) => ({
        Type: "volume",
        Target: target,
        VolumeOptions: { NoCopy: true, Labels: spec.labels },
      })),
      // Otherwise they would be taken over too.
      Tmpfs: Object.fromEntries(
        image.volumes.filter((path) => !targets.has(path)).map((path) => [path, "ro,size=4096"]),
      ),
    },
  };
}
