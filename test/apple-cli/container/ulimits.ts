import { CommandError } from "../output/command-error.ts";

export interface Rlimit {
  /** Such as `RLIMIT_NOFILE`. */
  readonly limit: string;
  readonly soft: number;
  readonly hard: number;
}

const known = new Set(
  "core cpu data fsize locks memlock msgqueue nice nofile nproc rss rtprio rttime sigpending stack".split(" "),
);

/** Stands for no limit: the highest number that JSON can represent. */
export const unlimited = Number.MAX_SAFE_INTEGER;

function readNumber(text: string, of: string): number {
  if (text === "unlimited" || text === "-1") return unlimited;
  if (!/^\d+$/.test(text)) throw new CommandError("invalidArgument", `invalid ulimit value: ${of}`);
  return Number(text);
}

/** `type=soft[:hard]`, each type once. */
export function readUlimits(entries: readonly string[]): readonly Rlimit[] {
  const read = entries.map((entry) => {
    const [type = "", value, ...more] = entry.split("=");
    if (value === undefined || more.length > 0)
      throw new CommandError("invalidArgument", `invalid ulimit format: ${entry}`);
    if (!known.has(type)) throw new CommandError("invalidArgument", `unsupported ulimit type: ${type}`);
    const [soft = "", hard = soft] = value.split(":");
    const limits = { soft: readNumber(soft, entry), hard: readNumber(hard, entry) };
    if (limits.soft > limits.hard)
      throw new CommandError("invalidArgument", `ulimit soft limit exceeds hard limit: ${entry}`);
    return { limit: `RLIMIT_${type.toUpperCase()}`, ...limits };
  });
  if (new Set(read.map(({ limit }) => limit)).size < read.length) {
    throw new CommandError("invalidArgument", "duplicate ulimit type");
  }
  return read;
}
