import type { E2bTemplate } from "./templates.ts";

/** Who a sandbox belongs to, as its key was authenticated when it was created. */
export interface E2bCaller {
  readonly principal: string;
  /** Aborts when the caller's key is revoked or expires. */
  readonly revoked?: AbortSignal | undefined;
  /** Counts one request. @throws CAPACITY for one too many */
  readonly countRequest?: (() => void) | undefined;
}

/** What a client asks of a new sandbox. */
export interface E2bSandboxNeeds {
  readonly template: E2bTemplate;
  readonly timeoutMs: number;
  readonly metadata: Readonly<Record<string, string>>;
  readonly envVars: Readonly<Record<string, string>>;
  /** Whether its ports are open to whoever knows its id; otherwise its token for traffic is asked for. */
  readonly isPublic: boolean;
  /** The Host that its programs are told, with `${PORT}` for the port; null: `localhost` with the port. */
  readonly maskedHost: string | null;
}

/** A sandbox of E2B's clients: one session of Glovebox, until its end. */
export interface E2bSandbox extends Omit<E2bSandboxNeeds, "timeoutMs"> {
  /** In E2B's grammar: small letters and digits. */
  readonly id: string;
  readonly caller: E2bCaller;
  /** For its files and programs; whoever has it needs no key. */
  readonly token: string;
  /** For the contexts of its code interpreter, which the SDKs ask for without the other one. */
  readonly trafficToken: string;
  readonly sessionId: string;
  readonly limits: { readonly cpus: number; readonly memoryMb: number; readonly diskMb: number };
  readonly startedAtMs: number;
  readonly endAtMs: number;
  /** Aborts at its end. */
  readonly ended: AbortSignal;
}

/** A live sandbox, for a request with its token. */
export interface SandboxTarget {
  readonly sandbox: E2bSandbox;
  /** The engine's id of the sandbox that it has now. */
  readonly sandboxId: string;
}
