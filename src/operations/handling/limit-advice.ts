import { mebibyte } from "../../base/bytes.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import type { LimitKind, Limits } from "../../policy/limits.ts";

/** What ran, and the highest limits it could have had. */
export interface RunLimits {
  readonly kind: LimitKind;
  readonly ceilings: Pick<Limits, "timeoutMs" | "memoryBytes">;
}

/** How to need less of a limit, and how to ask for more. */
interface Advice {
  readonly less: string;
  readonly more: string;
}

const time: Advice = { less: "Simplify the code so that it does less work", more: "raise timeout_seconds" };
const goesOn = "have it go on as a background process (start_process)";
const memory: Advice = {
  less: "Use less memory (work in smaller pieces or stream the data)",
  more: "raise limits.memory_mb",
};

/** By kind of work; a session and an environment keep the memory limit that they were created with. */
const advice: Readonly<Record<LimitKind, { readonly time: Advice; readonly memory: Advice }>> = {
  execute: { time, memory },
  session: {
    time: { ...time, less: `${time.less}, or ${goesOn}` },
    memory: { ...memory, more: "begin another session with a higher limits.memory_mb" },
  },
  environment: {
    time: { ...time, less: `Do less in one command, or ${goesOn}` },
    memory: { ...memory, more: "create another environment with a higher limits.memory_mb" },
  },
  test: { time: { ...time, less: "Run fewer tests at once" }, memory },
  preview: { time, memory },
  agent: { time: { less: "Ask for less at once", more: "raise timeout_seconds" }, memory },
};

/**
 * An error of a run with a suggestion that works: it names the field that the call takes and its maximum, or says that
 * the limit is already at its maximum.
 */
export function withLimitAdvice(error: GloveboxError, { kind, ceilings }: RunLimits): GloveboxError {
  const { errorType, message, context, cause } = error;
  const { timeout_seconds: seconds, limit_mb: mebibytes } = context;
  const isTime = errorType === "TIMEOUT" && typeof seconds === "number";
  if (!isTime && (errorType !== "OOM_KILLED" || typeof mebibytes !== "number")) return error;
  const { less, more } = advice[kind][isTime ? "time" : "memory"];
  const [given, most] = isTime
    ? [seconds, ceilings.timeoutMs / 1_000]
    : [mebibytes as number, ceilings.memoryBytes / mebibyte];
  const unit = isTime ? "s" : "MiB";
  const rest =
    given < most ? `, or ${more} (at most ${most} ${unit}).` : `: the limit of ${most} ${unit} is the highest here.`;
  return new GloveboxError(errorType, message, { suggestion: `${less}${rest}`, context, cause });
}
