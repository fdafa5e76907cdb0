import type { ContainerSpec } from "../../container-spec.ts";
import type { Dialect } from "../dialect.ts";
import type { Api } from "../http/api.ts";

/** What the parts of one container share. */
export interface ContainerLink {
  readonly id: string;
  readonly spec: ContainerSpec;
  readonly api: Api;
  readonly dialect: Dialect;
  /** Whether we have asked for the container's end ourselves; everything still running in it then counts as killed. */
  readonly isEndedByUs: () => boolean;
  /** Whether the container still runs. Sure also while the engine has not noticed a death yet, where a keeper answers. */
  readonly isAlive: () => Promise<boolean>;
}

/** Path of a call on the container. */
export function containerPath(link: Pick<ContainerLink, "id">, action: string): string {
  return `/containers/${link.id}/${action}`;
}
