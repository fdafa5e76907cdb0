import type { BytesInFlight } from "../calls/bytes-in-flight.ts";
import type { Platform } from "../platform/platform.ts";
import type { ProcessTable } from "./envd/process-table.ts";
import type { WatchTable } from "./envd/watch-table.ts";
import type { PortGates } from "./envd/port-gates.ts";
import type { SandboxHosts } from "./sandbox-hosts.ts";
import type { Exchange } from "./exchange.ts";
import type { ExecutionBook } from "./execution-book.ts";
import type { E2bCaller } from "./e2b-sandbox.ts";
import type { E2bSandboxes } from "./e2b-sandboxes.ts";

/** What all requests of E2B's clients need. */
export interface E2bContext {
  readonly platform: Platform;
  readonly sandboxes: E2bSandboxes;
  readonly processes: ProcessTable;
  readonly watches: WatchTable;
  readonly executions: ExecutionBook;
  readonly hosts: SandboxHosts;
  readonly ports: PortGates;
  readonly inFlight: BytesInFlight;
  /** Counts a request, and its connection, for the caller whose key, token or signature it shows. @throws CAPACITY */
  readonly admit: (exchange: Exchange, caller: E2bCaller) => void;
  /** @throws CAPACITY while the server is shutting down */
  readonly assertTakesWork: () => void;
}
