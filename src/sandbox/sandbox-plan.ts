import type { ContainerSpec } from "../engines/container-spec.ts";

/** Everything in a container's spec except what `Sandboxes` fills in itself. */
export type SandboxPlan = Omit<ContainerSpec, "name" | "labels"> & {
  readonly kind: string;
  /** What its caller has marked it with; default: nothing. */
  readonly labels?: Readonly<Record<string, string>> | undefined;
  /** Its caller's own word for it; default: none. (`name` is the container's, for the engine.) */
  readonly givenName?: string | undefined;
  /** The image as its caller knows it, where another was made from it; default: `image`. */
  readonly shownImage?: string | undefined;
  /** Its id, of `createId("sbx")`, where its caller knows it already; default: a new one. */
  readonly id?: string | undefined;
  /** Hard end: after it any sweep may remove what is left of the sandbox, once nothing runs in it. */
  readonly lifetimeMs: number;
  /** Variables of its programs, which those of visitors get too; none is a secret. */
  readonly programEnvironment?: Readonly<Record<string, string>> | undefined;
};
