import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import type { CallOptions } from "../engine.ts";
import type { SupervisorBinary } from "../supervised/supervisor-binary.ts";
import type { KubernetesApi } from "./api.ts";
import { engineName } from "./kubernetes-errors.ts";
import { ownerReferences } from "./owner.ts";
import { managedBy, supervisorFile } from "./pod-manifest.ts";

/** The immutable object of the namespace by which the supervisor reaches pods; servers share it. */
export class SupervisorObject {
  readonly name: string;
  readonly #api: KubernetesApi;
  readonly #binary: SupervisorBinary;
  readonly #owner: string | undefined;
  #made: Promise<void> | undefined;

  constructor(api: KubernetesApi, binary: SupervisorBinary, owner: string | undefined) {
    this.name = `glovebox-supervisor-${binary.architecture}-${binary.sha256.slice(0, 32)}`;
    this.#api = api;
    this.#binary = binary;
    this.#owner = owner;
  }

  /** Has it there. @throws UNSUPPORTED when something else has its name */
  async ready(): Promise<void> {
    const made = (this.#made ??= this.#make());
    made.catch(() => {
      this.#made = undefined;
    });
    await made;
  }

  /** Has it there again if somebody has deleted it, without which pods wait for ever. */
  async restore({ signal }: CallOptions): Promise<void> {
    const path = await this.#api.path("configmaps", this.name);
    const look = { method: "GET", path, signal, metadataOnly: true } as const;
    const { status } = await this.#api.call("look at the supervisor", look, [404]);
    if (status !== 404) return;
    this.#made = undefined;
    await this.ready();
  }

  async #make(): Promise<void> {
    const [bytes, path, owner] = await Promise.all([
      readFile(this.#binary.path),
      this.#api.path("configmaps"),
      ownerReferences(this.#api, this.#owner),
    ]);
    const body = {
      ...{ apiVersion: "v1", kind: "ConfigMap", immutable: true },
      metadata: { name: this.name, labels: managedBy, ...owner },
      binaryData: { [supervisorFile]: bytes.toString("base64") },
    };
    const { status } = await this.#api.call(
      "bring the supervisor into the cluster",
      { method: "POST", path, body },
      [409],
    );
    if (status !== 409) return;
    const found = await this.#api.call("look at the supervisor", { method: "GET", path: `${path}/${this.name}` });
    const data = (found.body["binaryData"] as Readonly<Record<string, string>> | undefined)?.[supervisorFile] ?? "";
    const sha256 = createHash("sha256").update(Buffer.from(data, "base64")).digest("hex");
    if (sha256 === this.#binary.sha256) return;
    throw new GloveboxError(
      "UNSUPPORTED",
      `The ConfigMap ${this.name} holds something else than Glovebox's supervisor.`,
      {
        suggestion: `Find out who made it, and delete it: kubectl delete configmap ${this.name}`,
        context: { engine: engineName },
      },
    );
  }
}
