import type { Denial } from "../policy/network/denial.ts";

/** Receives what is refused to any sandbox of a server. */
export interface RefusalListener {
  refused(sandbox: string, denial: Denial): void;
  /** The sandbox's network has ended; reported once, even if nothing was refused. */
  ended(sandbox: string): void;
}

/** Removes from a text of the sandbox what must not be shown. */
export type RedactText = (text: string) => string;
