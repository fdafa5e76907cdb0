import type { Dialect } from "../dialect.ts";
import type { Api } from "../http/api.ts";

/** One container on its engine. */
export interface ContainerLink {
  readonly id: string;
  readonly api: Api;
  readonly dialect: Dialect;
}

/** Path of a call on the container. */
export function containerPath(link: Pick<ContainerLink, "id">, action: string): string {
  return `/containers/${link.id}/${action}`;
}
