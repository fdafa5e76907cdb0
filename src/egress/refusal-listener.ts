import type { Denial } from "../policy/network/denial.ts";

/** Receives what is refused to any sandbox of a server. */
export interface RefusalListener {
  refused(sandbox: string, denial: Denial): void;
  /** The sandbox's network has ended; comes once, also where nothing was refused. */
  ended(sandbox: string): void;
}

/** Takes out of a text of the sandbox what must not be shown. */
export type RedactText = (text: string) => string;
