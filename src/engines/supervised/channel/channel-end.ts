/** Why a channel is over. */
export type ChannelEndReason =
  /** We asked for the end of everything inside, and it came. */
  | "asked"
  /** We gave it up. */
  | "closed"
  /** The stream of bytes ended or broke. */
  | "cut"
  /** The supervisor did not answer in time. */
  | "silent"
  /** It said what does not fit the protocol. */
  | "nonsense"
  /** It said that it ends, and why. */
  | "trouble"
  /** It is not what it must be. */
  | "refused"
  /** It reads nothing any more of what it is sent. */
  | "stuck";

/** How a channel ended. */
export interface ChannelEnd {
  readonly reason: ChannelEndReason;
  /** One sentence for the log: what the supervisor says may be in it, which is untrusted. */
  readonly detail: string;
  /** The supervisor's exit code, where it told one. */
  readonly code: number | null;
}

/** Text of the supervisor's for the log: printable, and bounded by its frame. */
export function shownText(bytes: Uint8Array): string {
  return Buffer.from(bytes)
    .toString("latin1")
    .replaceAll(/[^ -~]/g, "?");
}
