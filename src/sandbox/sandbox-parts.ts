import type { Capabilities } from "../engines/capabilities.ts";
import type { Container, EngineName } from "../engines/engine.ts";
import type { FixedFolder } from "./mounts/fixed-folders.ts";
import type { SandboxObserver } from "./sandbox-observer.ts";
import type { Kit } from "../base/kit.ts";

/** What a sandbox is made of; provided by `Sandboxes`. */
export interface SandboxParts extends Pick<Kit, "logger" | "now" | "platform"> {
  readonly id: string;
  readonly engineName: EngineName;
  readonly capabilities: Capabilities;
  readonly container: Container;
  readonly kind: string;
  /** What its caller has marked it with. */
  readonly labels: Readonly<Record<string, string>>;
  /** Its caller's own word for it; null: none. */
  readonly givenName: string | null;
  /** Null where its engine has none. */
  readonly image: string | null;
  /** What its programs may do, except for what belongs to each run. */
  readonly policy: Readonly<Record<string, unknown>>;
  /** Told of its runs. */
  readonly observers: readonly SandboxObserver[];
  /** See `SandboxPlan`. */
  readonly programEnvironment: Readonly<Record<string, string>>;
  /** Folders of this machine that its programs may write to. */
  readonly writablePaths: readonly string[];
  /** Its scratch and what it may only read, by their paths inside. */
  readonly folders: readonly FixedFolder[];
  /** Labels that say whose an object is that may exist for this long from now. */
  readonly ownershipFor: (lifetimeMs: number) => Readonly<Record<string, string>>;
  /** Told what runs in it now. */
  readonly onWork: (work: string) => void;
  /** Told that it will end without anybody waiting for that: its place is on its way back. */
  readonly onLeaving: () => void;
  /** Gives the place back; told whether nothing of the sandbox is left. */
  readonly onRemoved: (isGone: boolean) => Promise<void>;
}

/** What its caller chooses of a sandbox, and what they may choose still when it runs already. */
export type SandboxIdentity = Pick<SandboxParts, "id" | "labels" | "givenName" | "programEnvironment">;
