import type { ImageOrigin } from "../../policy/image-reference.ts";
import type { Engine } from "../../engines/engine.ts";
import type { Denial } from "../../policy/network/denial.ts";
import type { DiskScratch } from "../../sandbox/disk-scratch.ts";
import type { Sandboxes } from "../../sandbox/sandboxes.ts";
import type { GrantNetwork } from "../run/start-program.ts";
import type { Kit } from "../../base/kit.ts";

/** What a run of something in a project needs, whatever it is. */
export interface ProjectRunDependencies extends Kit {
  readonly engine: Engine;
  readonly sandboxes: Sandboxes;
  readonly diskScratch: DiskScratch;
  /** Has an image there, pulled or built. */
  readonly provideImage: (image: string, origin: ImageOrigin) => Promise<void>;
  readonly network: GrantNetwork;
  readonly maxOutputBytes: number;
}

/** What such a run tells while it goes on. */
export interface ProjectRunListener {
  readonly onSandbox: (sandboxId: string) => void;
  readonly onOutput: (stream: "stdout" | "stderr", bytes: Uint8Array) => void | Promise<void>;
  readonly onDenied: (denial: Denial) => void;
  /** What goes on before it, in words for people. */
  readonly onProgress: (message: string) => void;
}
