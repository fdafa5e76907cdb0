import type { FastifyInstance } from "fastify";
import type { Logger } from "../../base/logger.ts";
import type { BytesInFlight } from "../../calls/bytes-in-flight.ts";
import type { OperationContract } from "../../operations/contract/operation-contract.ts";
import type { Platform } from "../../platform/platform.ts";
import type { HttpRuns } from "../http-runs.ts";

/** What routes are built from. */
export interface RouteContext {
  readonly platform: Platform;
  readonly logger: Logger;
  /** Version of Glovebox. */
  readonly version: string;
  readonly operations: readonly OperationContract[];
  readonly runs: HttpRuns;
  readonly inFlight: BytesInFlight;
  /** Whether the server is shutting down. */
  readonly isDraining: () => boolean;
  /** @throws CAPACITY while the server is shutting down */
  readonly assertTakesWork: () => void;
}

/** Adds routes to the server; each is guarded, unless its `config.isOpen` says otherwise. */
export type AddRoutes = (app: FastifyInstance, context: RouteContext) => void;
