import { DockerError, type DockerApi } from "./docker-api.ts";
import { marks, scopedName, scopeFilter } from "./marks.ts";

/** Docker's word for them in its paths. */
export type ObjectKind = "networks" | "volumes";

/** Volumes or networks of one installation on Docker. */
export class OwnObjects<Docker> {
  readonly #api: DockerApi;
  readonly #scope: string;
  readonly #kind: ObjectKind;

  constructor(api: DockerApi, scope: string, kind: ObjectKind) {
    this.#api = api;
    this.#scope = scope;
    this.#kind = kind;
  }

  /** Docker's name for the one with that name. */
  nameOf(name: string): string {
    return scopedName(this.#scope, name);
  }

  /** By Docker's name. */
  async find(dockerName: string): Promise<Docker | undefined> {
    try {
      return await this.#api.json<Docker>("GET", this.#addressOf(dockerName));
    } catch (error) {
      if (error instanceof DockerError && error.status === 404) return undefined;
      throw error;
    }
  }

  /** Docker's list of all of them. */
  list<Answer>(): Promise<Answer> {
    return this.#api.json<Answer>("GET", `/${this.#kind}?filters=${scopeFilter(this.#scope)}`);
  }

  async create(name: string, facts: object, more: object): Promise<void> {
    const labels = { [marks.scope]: this.#scope, [marks.configuration]: JSON.stringify(facts) };
    await this.#api.json("POST", `/${this.#kind}/create`, { Name: this.nameOf(name), Labels: labels, ...more });
  }

  async remove(name: string): Promise<void> {
    await this.#api.json("DELETE", this.#addressOf(this.nameOf(name)));
  }

  #addressOf(dockerName: string): string {
    return `/${this.#kind}/${encodeURIComponent(dockerName)}`;
  }
}
