import type { NodeSDKConfiguration } from "@opentelemetry/sdk-node";
import type { Kit } from "../base/kit.ts";
import type { Logger } from "../base/logger.ts";
import type { AskedSignals } from "./asked-signals.ts";

export interface SdkOptions extends Pick<Kit, "logger" | "monotonicMs"> {
  readonly signals: AskedSignals;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Of Glovebox. */
  readonly version: string;
  /** Names this process among those of the same service. */
  readonly instance: string;
}

/** An SDK that sends. */
export interface StartedSdk {
  /** Sends what waits, as long as that takes. */
  shutdown(): Promise<void>;
}

/**
 * Starts OpenTelemetry's SDK, which takes exporters, endpoints, sampling and its bounds from the standard variables.
 * @throws what importing it throws when it is not installed, and what it finds wrong with the variables
 */
export async function startSdk(options: SdkOptions): Promise<StartedSdk> {
  const { signals, logger, monotonicMs } = options;
  const [{ NodeSDK }, api] = await Promise.all([import("@opentelemetry/sdk-node"), import("@opentelemetry/api")]);
  const { diag, DiagLogLevel } = api;
  // What it says goes to the log: by itself it would write to stdout, which belongs to programs and protocols.
  const speak = (): void =>
    void diag.setLogger(diagnosticsTo(logger, monotonicMs), {
      logLevel: DiagLogLevel.INFO,
      suppressOverrideMessage: true,
    });
  const configuration: Partial<NodeSDKConfiguration> = {
    // Its own detectors look up the host's name and the command line; neither is anybody's business.
    resourceDetectors: [{ detect: () => ({ attributes: resourceAttributes(options) }) }],
    logRecordProcessors: [],
    ...(signals.traces ? {} : { spanProcessors: [] }),
    ...(signals.metrics ? {} : { metricReaders: [] }),
  };
  speak();
  const sdk = new NodeSDK(configuration);
  speak();
  sdk.start();
  return {
    shutdown: async () => {
      try {
        await sdk.shutdown();
      } finally {
        // The next one to open in this process starts over.
        for (const part of [api.trace, api.metrics, api.propagation, api.context, diag]) part.disable();
      }
    },
  };
}

/** A collector that is away fails every few seconds; so often it is worth a warning. */
const warnEveryMs = 10 * 60_000;
/** Characters of a message: errors of exporters quote what the collector answered. */
const maxMessageLength = 500;

type Say = (message: string) => void;

/** Where the SDK says what goes wrong. */
interface Diagnostics {
  readonly error: Say;
  readonly warn: Say;
  readonly info: Say;
  readonly debug: Say;
  readonly verbose: Say;
}

/** Passes it on to the log: one warning in ten minutes, the rest for those who look closely. */
export function diagnosticsTo(logger: Logger, monotonicMs: () => number): Diagnostics {
  let quietUntilMs = -Infinity;
  const debug: Say = (message) => logger.debug({ opentelemetry: message.slice(0, maxMessageLength) }, "OpenTelemetry");
  const warn: Say = (message) => {
    if (monotonicMs() < quietUntilMs) return debug(message);
    quietUntilMs = monotonicMs() + warnEveryMs;
    logger.warn({ opentelemetry: message.slice(0, maxMessageLength) }, "traces or metrics may not be sent");
  };
  return { error: warn, warn, info: debug, debug, verbose: debug };
}

/** Who sends, as far as Glovebox knows it by itself. */
interface Sender {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly version: string;
  readonly instance: string;
}

/**
 * Who sends: the service, its version and this process of it; then what `OTEL_RESOURCE_ATTRIBUTES` (`name=value,...`, with
 * percent-encoded values) and `OTEL_SERVICE_NAME` say. Nothing of the machine is looked up.
 */
export function resourceAttributes({ environment, version, instance }: Sender): Record<string, string> {
  const given = (environment["OTEL_RESOURCE_ATTRIBUTES"] ?? "").split(",").flatMap((pair) => {
    const [name = "", ...rest] = pair.split("=");
    const value = decoded(rest.join("=").trim());
    return name.trim() === "" || rest.length === 0 || value === null ? [] : [[name.trim(), value] as const];
  });
  const service = environment["OTEL_SERVICE_NAME"] ?? "";
  return {
    "service.name": "glovebox",
    "service.version": version,
    "service.instance.id": instance,
    ...Object.fromEntries(given),
    ...(service === "" ? {} : { "service.name": service }),
  };
}

function decoded(value: string): string | null {
  try {
    return decodeURIComponent(value);
  } catch {
    return null;
  }
}
