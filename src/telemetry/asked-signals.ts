/** What the environment asks to be sent (docs/traces.md). */
export interface AskedSignals {
  readonly traces: boolean;
  readonly metrics: boolean;
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Whether the standard variables ask for traces and metrics: an endpoint or an exporter is named, and nothing says no.
 * Without any of them nothing is sent, not even to the collector on this machine that the standard takes then.
 */
export function askedSignals(environment: Environment): AskedSignals {
  const value = (name: string): string => environment[name]?.trim() ?? "";
  const isOff = value("OTEL_SDK_DISABLED").toLowerCase() === "true";
  const asks = (signal: "TRACES" | "METRICS"): boolean => {
    const exporters = value(`OTEL_${signal}_EXPORTER`);
    if (isOff || exporters === "none") return false;
    const endpoints = [value("OTEL_EXPORTER_OTLP_ENDPOINT"), value(`OTEL_EXPORTER_OTLP_${signal}_ENDPOINT`)];
    return [exporters, ...endpoints].some((named) => named !== "");
  };
  return { traces: asks("TRACES"), metrics: asks("METRICS") };
}

/** Levels of the SDK's own messages at which none goes to standard output. */
const quietLevels: ReadonlySet<string> = new Set(["", "none", "error", "warn"]);

/** Whether they want something on standard output: what is sent, or what the SDK says of itself. */
export function wantsStdout(environment: Environment): boolean {
  const exporters = ["TRACES", "METRICS"].flatMap((signal) =>
    (environment[`OTEL_${signal}_EXPORTER`] ?? "").split(","),
  );
  const level = environment["OTEL_LOG_LEVEL"]?.trim().toLowerCase() ?? "";
  return !quietLevels.has(level) || exporters.some((name) => name.trim() === "console");
}
