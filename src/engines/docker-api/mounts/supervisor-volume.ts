import { createHash } from "node:crypto";
import { tarEnd, tarHeader, tarPadding } from "../../../base/tar/tar-encoder.ts";
import { createId } from "../../../base/id.ts";
import { untilCancelled } from "../../../base/abort.ts";
import { keptImages } from "../../labels.ts";
import { readSupervisor, supervisorFolder, type SupervisorBinary } from "../../supervised/supervisor-binary.ts";
import { removeContainer } from "../container/remove-container.ts";
import type { Api } from "../http/api.ts";
import type { ImageFacts } from "../images/images.ts";
import { programUser } from "../../../policy/profile.ts";
import type { ContainerSpec } from "../../container-spec.ts";
import { nearUids } from "../../host-uids.ts";
import { groupFile, hostsFile, passwdFile, type OwnFile } from "../../user-names.ts";

/** The name of every container's own host. */
export const containerHostname = "sandbox";
/** The users that programs have where they need not be somebody; others are added when they are met. */
const usualUsers: readonly string[] = [
  programUser,
  ...Array.from({ length: nearUids.maximum - nearUids.minimum }, (_, at) => nearUids.minimum + at).map(
    (uid) => `${uid}:${uid}`,
  ),
];

/** Far more than the archive of one small program. */
const maxArchiveBytes = 4_194_304;

/**
 * The volume that brings the supervisor into containers, read-only, and the files that name their users and their host: named
 * by the hash of what it holds, so that another version never finds this one's, and kept when Glovebox ends (SPEC CL1). Two
 * servers may fill it at once: both write the same.
 */
export class SupervisorVolume {
  readonly name: string;
  readonly #api: Api;
  readonly #binary: SupervisorBinary;
  #filled: Promise<string> | undefined;
  #folder: string | null = null;
  readonly #users = new Map<string, Promise<void>>();

  constructor(api: Api, binary: SupervisorBinary) {
    this.#api = api;
    this.#binary = binary;
    const held = createHash("sha256")
      .update(binary.sha256)
      .update(Buffer.concat(filesFor(programUser)));
    this.name = `glovebox-supervisor-${binary.architecture}-${held.digest("hex").slice(0, 32)}`;
  }

  /** Fills it, if that was not done since it was last forgotten; with any present image. */
  async ready(
    image: Pick<ImageFacts, "id" | "volumes">,
    { processUser: user = programUser, rootCapabilities }: Pick<ContainerSpec, "processUser" | "rootCapabilities">,
    signal: AbortSignal | undefined,
  ): Promise<readonly OwnFile[]> {
    if (this.#filled === undefined) {
      // Shared by all who wait, so that none of them can end it; a failure is tried again.
      const filling = this.#fill(image);
      this.#filled = filling;
      filling.catch(() => this.forget());
    }
    const folder = await untilCancelled(this.#filled, signal);
    if (!usualUsers.includes(user)) await untilCancelled(this.#nameUser(image, user), signal);
    const hosts = { source: `${folder}/${nameOf("hosts", user)}`, target: "/etc/hosts" };
    // Installers add users of their own to the image's files.
    const users = rootCapabilities === undefined ? (["passwd", "group"] as const) : [];
    return [hosts, ...users.map((file) => ({ source: `${folder}/${nameOf(file, user)}`, target: `/etc/${file}` }))];
  }

  /** Whether the engine's refusal is about a file that is no longer there. */
  misses(error: unknown): boolean {
    const cause = error instanceof Error ? error.cause : null;
    return this.#folder !== null && cause instanceof Error && cause.message.includes(this.#folder);
  }

  #nameUser(image: Pick<ImageFacts, "id" | "volumes">, user: string): Promise<void> {
    const known = this.#users.get(user);
    if (known !== undefined) return known;
    const naming = this.#put(image, nameOf("group", user), Buffer.from(groupFile(user)), filesFor(user));
    this.#users.set(user, naming);
    naming.catch(() => this.#users.delete(user));
    return naming;
  }

  /** Somebody has removed or emptied it. */
  forget(): void {
    this.#filled = undefined;
    this.#users.clear();
  }

  /** Where it is on the engine's machine, when it has all that every container needs. */
  async #fill(image: Pick<ImageFacts, "id" | "volumes">): Promise<string> {
    const program = await readSupervisor(this.#binary);
    // The program last: where it is, all is.
    const pieces = [...usualUsers.flatMap(filesFor), ...archived("supervisor", program, 0o555)];
    await this.#put(image, "supervisor", program, pieces);
    const { body } = await this.#api.call("inspect a volume", { method: "GET", path: `/volumes/${this.name}` });
    const { Mountpoint: folder } = body as { readonly Mountpoint: string };
    this.#folder = folder;
    return folder;
  }

  /** Puts the pieces of an archive there, unless the file of that name is what it should be. */
  async #put(
    image: Pick<ImageFacts, "id" | "volumes">,
    name: string,
    content: Buffer,
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
      if (await this.#holds(id, name, content)) return;
      const path = `/containers/${id}/archive`;
      const query = { path: supervisorFolder };
      await this.#api.call("copy files", { method: "PUT", path, query, archive: Buffer.concat([...pieces, tarEnd]) });
    } finally {
      await removeContainer(this.#api, id, { keepVolumes: true });
    }
  }

  /** Whether another server has filled it; replacing the program would hinder containers that start meanwhile. */
  async #holds(id: string, name: string, content: Buffer): Promise<boolean> {
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

function nameOf(file: "passwd" | "group" | "hosts", user: string): string {
  return file === "hosts" ? file : `${file}-${user.replace(":", "-")}`;
}

/** What names a user and its host, as pieces of an archive; the group last, where it is, the others are. */
function filesFor(user: string): readonly Buffer[] {
  return [
    ...(user === programUser ? archived("hosts", Buffer.from(hostsFile(containerHostname)), 0o444) : []),
    ...archived(nameOf("passwd", user), Buffer.from(passwdFile(user)), 0o444),
    ...archived(nameOf("group", user), Buffer.from(groupFile(user)), 0o444),
  ];
}

function archived(path: string, bytes: Buffer, mode: number): readonly Buffer[] {
  const header = tarHeader({ kind: "file", path, mode, modifiedAtMs: 0, sizeBytes: bytes.length });
  return [header, bytes, tarPadding(bytes.length)];
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
