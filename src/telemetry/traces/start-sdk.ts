import type { NodeSDKConfiguration } from "@opentelemetry/sdk-node";
import type { Logger } from "../../base/logger.ts";
import type { AskedSignals } from "./asked-signals.ts";
import { diagnosticsTo } from "./diagnostics.ts";
import { resourceAttributes } from "./resource-attributes.ts";

export interface SdkOptions {
  readonly signals: AskedSignals;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Of Glovebox. */
  readonly version: string;
  /** Names this process among those of the same service. */
  readonly instance: string;
  readonly logger: Logger;
  /** Milliseconds of a clock that never goes back. */
  readonly monotonicMs: () => number;
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
