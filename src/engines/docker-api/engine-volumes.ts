import { createHash } from "node:crypto";
import { tarEnd, tarHeader, tarPadding, tarOfFolder } from "../../base/tar.ts";
import { createId } from "../../base/id.ts";
import { untilCancelled } from "../../base/abort.ts";
import { keptImages } from "../labels.ts";
import { readSupervisor, supervisorFolder, type SupervisorBinary } from "../supervised/supervisor-binary.ts";
import { removeContainer } from "./container/container-link.ts";
import type { Api } from "./http/api.ts";
import type { ImageFacts } from "./images.ts";
import { programUser } from "../../policy/profile.ts";
import type { ContainerSpec, MountSpec } from "../container-spec.ts";
import { nearUids, groupFile, hostsFile, passwdFile, type OwnFile } from "../container-users.ts";
import type { CallOptions } from "../engine.ts";
import { uninterrupted } from "./container/uninterrupted.ts";

/** The name of every container's own host. */
export const containerHostname = "sandbox";
/** The users that programs have where they need not be somebody; others are added when they are met. */
const usualUsers: readonly string[] = [
  programUser,
  ...Array.from({ length: nearUids.maximum - nearUids.minimum }, (_, at) => nearUids.minimum + at).map(
    (uid) => `${uid}:${uid}`,
  ),
];

/** A file of the volume. */
interface HeldFile {
  readonly name: string;
  readonly content: Buffer;
}

/** How often files are copied at most. */
const maxTries = 4;

/** Far more than the archive of one small program. */
const maxArchiveBytes = 4_194_304;

/**
 * The volume that brings the supervisor into containers, read-only, and the files that name their users and their host: named
 * by the hash of what it holds, so that another version never finds this one's, and kept when Glovebox ends (SPEC CL1). Two
 * servers may fill it at once: both write the same.
 *
 * One that is there is not read before it is used, which takes a container that is never started: every container mounts
 * the file that is written last, so an engine refuses it where the volume is not complete.
 */
export class SupervisorVolume {
  readonly name: string;
  readonly #api: Api;
  readonly #binary: SupervisorBinary;
  #filled: Promise<string> | undefined;
  #folder: string | null = null;
  /** Whether what is there must be read before it is used. */
  #isDoubted = false;
  readonly #users = new Map<string, Promise<void>>();

  constructor(api: Api, binary: SupervisorBinary) {
    this.#api = api;
    this.#binary = binary;
    const held = createHash("sha256")
      .update(binary.sha256)
      .update(Buffer.concat([...filesFor(programUser), ...archived(heldHosts())]));
    this.name = `glovebox-supervisor-${binary.architecture}-${held.digest("hex").slice(0, 32)}`;
  }

  /** Fills it, if it is not there or was doubted since it was last read; with any present image. */
  async ready(
    image: Pick<ImageFacts, "id" | "volumes">,
    { processUser: user = programUser, rootCapabilities }: Pick<ContainerSpec, "processUser" | "rootCapabilities">,
    signal: AbortSignal | undefined,
  ): Promise<readonly OwnFile[]> {
    if (this.#filled === undefined) {
      // Shared by all who wait, so that none of them can end it; a failure is tried again.
      const filling = this.#find().then((folder) => folder ?? this.#fill(image));
      this.#filled = filling;
      filling.catch(() => this.doubt());
    }
    const folder = await untilCancelled(this.#filled, signal);
    if (!usualUsers.includes(user)) await untilCancelled(this.#nameUser(image, user), signal);
    // Installers add users of their own to the image's files.
    const users = rootCapabilities === undefined ? (["passwd", "group"] as const) : [];
    return [
      { source: `${folder}/${heldHosts().name}`, target: "/etc/hosts" },
      ...users.map((file) => ({ source: `${folder}/${nameOf(file, user)}`, target: `/etc/${file}` })),
    ];
  }

  /** Whether the engine's refusal is about a file that is no longer there. */
  misses(error: unknown): boolean {
    const cause = error instanceof Error ? error.cause : null;
    return this.#folder !== null && cause instanceof Error && cause.message.includes(this.#folder);
  }

  async #nameUser(image: Pick<ImageFacts, "id" | "volumes">, user: string): Promise<void> {
    if (!this.#isDoubted) return;
    const known = this.#users.get(user);
    if (known !== undefined) return known;
    const naming = this.#put(image, [heldGroup(user)], filesFor(user));
    this.#users.set(user, naming);
    naming.catch(() => this.#users.delete(user));
    return naming;
  }

  /** It lacks something: somebody has removed or emptied it, it came only half way, or it has not met a user. */
  doubt(): void {
    this.#isDoubted = true;
    this.#filled = undefined;
    this.#users.clear();
  }

  /** Where it is on the engine's machine; null when it is not there, or not as it should be. */
  async #find(): Promise<string | null> {
    if (this.#isDoubted) return null;
    const request = { method: "GET", path: `/volumes/${this.name}` } as const;
    const { status, body } = await this.#api.call("look for a volume", request, [404]);
    return status === 404 ? null : this.#foundAt(body);
  }

  #foundAt(volume: unknown): string {
    const { Mountpoint: folder } = volume as { readonly Mountpoint: string };
    this.#folder = folder;
    return folder;
  }

  /** Where it is on the engine's machine, when it has all that every container needs. */
  async #fill(image: Pick<ImageFacts, "id" | "volumes">): Promise<string> {
    const program = await readSupervisor(this.#binary);
    const supervisor = { name: "supervisor", content: program };
    const hosts = heldHosts();
    // The hosts last: where they are, all is.
    const pieces = [...usualUsers.flatMap(filesFor), ...archived(supervisor, 0o555), ...archived(hosts)];
    await this.#put(image, [supervisor, hosts], pieces);
    const { body } = await this.#api.call("inspect a volume", { method: "GET", path: `/volumes/${this.name}` });
    return this.#foundAt(body);
  }

  /** Puts the pieces of an archive there, unless the files that tell are what they should be. */
  async #put(
    image: Pick<ImageFacts, "id" | "volumes">,
    telling: readonly HeldFile[],
    pieces: readonly Buffer[],
  ): Promise<void> {
    const { body } = await this.#api.call("create a container", {
      method: "POST",
      path: "/containers/create",
      query: { name: createId("glovebox-supervisor") },
      body: fillerConfig(image, this.name),
    });
    const { Id: id } = body as { readonly Id: string };
    try {
      const archive = Buffer.concat([...pieces, tarEnd]);
      for (let tries = 1; ; tries += 1) {
        const held = await Promise.all(telling.map((file) => this.#holds(id, file)));
        if (held.every(Boolean)) return;
        const path = `/containers/${id}/archive`;
        const copied = this.#api.call("copy files", {
          method: "PUT",
          path,
          query: { path: supervisorFolder },
          archive,
        });
        if (tries === maxTries) return void (await copied);
        // Another server that replaces a file at the same moment makes an engine fail.
        if (await copied.then(Boolean, () => false)) return;
      }
    } finally {
      await removeContainer(this.#api, id, { keepVolumes: true });
    }
  }

  /** Whether another server has filled it; replacing the program would hinder containers that start meanwhile. */
  async #holds(id: string, { name, content }: HeldFile): Promise<boolean> {
    const query = { path: `${supervisorFolder}/${name}` };
    const request = { method: "GET", path: `/containers/${id}/archive`, query } as const;
    const answer = await this.#api.stream("look for the supervisor", request, "any");
    if (!("chunks" in answer)) return false;
    const pieces: Uint8Array[] = [];
    let bytes = 0;
    for await (const piece of answer.chunks) {
      pieces.push(piece);
      bytes += piece.length;
      if (bytes > maxArchiveBytes) return false;
    }
    return Buffer.concat(pieces).includes(content);
  }
}

interface FolderHolderOptions extends CallOptions {
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

/** What names the host of every container. */
function heldHosts(): HeldFile {
  return { name: "hosts", content: Buffer.from(hostsFile(containerHostname)) };
}

function nameOf(file: "passwd" | "group", user: string): string {
  return `${file}-${user.replace(":", "-")}`;
}

/** What names a user, as pieces of an archive; the group last: where it is, the other is. */
function filesFor(user: string): readonly Buffer[] {
  return [
    ...archived({ name: nameOf("passwd", user), content: Buffer.from(passwdFile(user)) }),
    ...archived(heldGroup(user)),
  ];
}

function heldGroup(user: string): HeldFile {
  return { name: nameOf("group", user), content: Buffer.from(groupFile(user)) };
}

function archived({ name: path, content }: HeldFile, mode = 0o444): readonly Buffer[] {
  const header = tarHeader({ kind: "file", path, mode, modifiedAtMs: 0, sizeBytes: content.length });
  return [header, content, tarPadding(content.length)];
}

/** A container that is never started. */
function fillerConfig(image: Pick<ImageFacts, "id" | "volumes">, volume: string): object {
  return {
    Image: image.id,
    Entrypoint: ["/never-started"],
    Cmd: [],
    HostConfig: {
      NetworkMode: "none",
      CapDrop: ["ALL"],
      Mounts: [
        {
          Type: "volume",
          Source: volume,
          Target: supervisorFolder,
          VolumeOptions: { NoCopy: true, Labels: keptImages },
        },
      ],
      // Else each of them would be a volume of its own.
      Tmpfs: Object.fromEntries(image.volumes.map((path) => [path, "ro,size=4096"])),
    },
  };
}
