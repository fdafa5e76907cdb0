import type { Config, ConfiguredTemplate } from "../config/config.ts";
import { E2bRefusal } from "./refusal.ts";
import { posix } from "node:path";

/** What a template's name stands for here. */
export type E2bTemplate = ConfiguredTemplate;

const maxNamed = 20;

/** The template of that name, `:default` and `:latest` included. @throws E2bRefusal 404 that names those that exist */
export function findTemplate({ templates }: Pick<Config, "templates">, asked: string): E2bTemplate {
  const name = asked.replace(/:(?:default|latest)$/, "");
  const found = templates.find((template) => template.name === name);
  if (found !== undefined) return found;
  const names = templates.slice(0, maxNamed).map((template) => template.name);
  const last = templates.length > maxNamed ? `others (${templates.length} in all)` : names.pop();
  const shown = JSON.stringify(asked.slice(0, 80));
  throw new E2bRefusal(
    404,
    `templateID: expected ${names.join(", ")} or ${last}, got ${shown}. The operator can add it: e2b.templates (GLOVEBOX_E2B_TEMPLATES)`,
  );
}

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

/** Variables of every program of a sandbox. */
export function globalVariables({ id, template, envVars }: E2bSandbox): Readonly<Record<string, string>> {
  return { ...envVars, E2B_SANDBOX: "true", E2B_SANDBOX_ID: id, E2B_TEMPLATE_ID: template.name };
}

/** Where programs of a sandbox start, and its home. */
export const homeFolder = "/home/user";

/** A path as clients write it, absolute inside the sandbox. @throws E2bRefusal 400 for an empty one */
export function absoluteInside(path: string): string {
  if (path === "") throw new E2bRefusal(400, "path: expected a path inside the sandbox, got nothing");
  if (path === "~" || path.startsWith("~/")) return posix.join(homeFolder, path.slice(1));
  return posix.resolve(homeFolder, path);
}
