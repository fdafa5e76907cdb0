import type { BunTarget } from "../base/bun-packages.ts";
import type { Kit } from "../base/kit.ts";
import type { Logger } from "../base/logger.ts";
import type { Tracer } from "../base/tracer.ts";

/** When an engine that can be mended may be restarted: never, with no other sandbox live, or although others are. */
export const restartRules = ["never", "idle", "always"] as const;
export type RestartRule = (typeof restartRules)[number];

/** What engines are told of their machine and of the configuration; each takes what it needs. */
export interface EngineSurroundings extends Pick<Kit, "now" | "monotonicMs" | "platform" | "executable"> {
  readonly architecture: NodeJS.Architecture;
  /** Null where the system has no numeric users. */
  readonly uid: number | null;
  /**
   * Identity of this server, once others can tell when it is gone: for what an engine makes by itself, and for its lease where servers
   * of several machines share the engine. Default: none.
   */
  readonly owner?: (() => Promise<string>) | undefined;
  /** Number of this process. */
  readonly processId: number;
  /** The host's variables that are meant for engines and their tools; nothing of them reaches a sandbox. */
  readonly environment: Readonly<Record<string, string>>;
  /** Folder for what must outlive the process, closed to other users. */
  readonly stateDirectory: string;
  /** The same for root, open to other users who know a name in it. */
  readonly passableStateDirectory: string;
  /** Whether no image may be pulled or built: what is missing is an error. */
  readonly prebuiltOnly: boolean;
  /** When an engine that can be restarted may be. */
  readonly engineRestart: RestartRule;
  /** Told of what an engine decides by itself; default: nobody is. */
  readonly logger?: Logger | undefined;
  /** Told of the calls of every engine; default: nobody is. */
  readonly tracer?: Tracer | undefined;
  /** The archive of Bun's package for a machine, its hash checked. @throws Error whose message is the reason */
  readonly fetchBun: (target: BunTarget) => Promise<Uint8Array>;
  /** A random integer, `minimum` included, `maximum` excluded. */
  readonly randomInteger: (minimum: number, maximum: number) => number;
}
