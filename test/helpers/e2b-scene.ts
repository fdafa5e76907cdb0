import { vi } from "vitest";
import { startKeyServer, type KeyServer, type TestKey } from "./key-server.ts";
import type { TestedEngine } from "./open-glovebox.ts";
import { sessionImages } from "./test-images.ts";

/** A server for E2B's SDKs with two keys, of which `mine` is in the environment as the SDKs read it. */
export interface E2bScene extends AsyncDisposable {
  readonly server: KeyServer;
  readonly mine: TestKey;
  readonly other: TestKey;
  /** A plain request to the control API; the key of `mine` unless another one is given. */
  ask(route: string, body?: unknown, more?: AskOptions): Promise<E2bAnswer>;
  /** A plain request to a sandbox. */
  askSandbox(
    target: SandboxAddress,
    route: string,
    more?: AskOptions & { readonly body?: RequestInit["body"] },
  ): Promise<Response>;
}

export interface AskOptions {
  readonly key?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface SandboxAddress {
  readonly id: string;
  readonly token?: string | undefined;
  readonly port?: number;
}

export interface E2bAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: { readonly code?: number; readonly message?: string } & Readonly<Record<string, unknown>>;
}

/** Starts it; the environment is the test's own until the scene is disposed of. */
export async function openE2bScene(
  more: Readonly<Record<string, string>> = {},
  engine: TestedEngine = "local",
  options: readonly string[] = [],
): Promise<E2bScene> {
  const { session } = sessionImages;
  // That of the code interpreter takes minutes to build, and only its own test needs its packages.
  const quick = JSON.stringify({ "code-interpreter-v1": session });
  const settings =
    engine === "local" ? more : { GLOVEBOX_IMAGE_SESSION: session, GLOVEBOX_E2B_TEMPLATES: quick, ...more };
  const server = await startKeyServer(["--e2b", "0", "--engine", engine, ...options], settings);
  const mine = await server.addKey("mine");
  const other = await server.addKey("other");
  vi.stubEnv("E2B_API_KEY", mine.text);
  vi.stubEnv("E2B_API_URL", server.e2bUrl);
  vi.stubEnv("E2B_SANDBOX_URL", server.e2bUrl);
  return {
    ...{ server, mine, other },
    ask: async (route, body, { key = mine.text, headers = {} } = {}) => {
      const [method = "", path = ""] = route.split(" ");
      const response = await fetch(`${server.e2bUrl}${path}`, {
        method,
        headers: { "x-api-key": key, ...headers },
        ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
      });
      const text = await response.text();
      return {
        status: response.status,
        headers: response.headers,
        body: (text === "" ? {} : JSON.parse(text)) as never,
      };
    },
    askSandbox: ({ id, token, port = 49_983 }, route, { headers = {}, body } = {}) => {
      const [method = "", path = ""] = route.split(" ");
      const shown: Record<string, string> = token === undefined ? {} : { "x-access-token": token };
      return fetch(`${server.e2bUrl}${path}`, {
        method,
        headers: { "e2b-sandbox-id": id, "e2b-sandbox-port": String(port), ...shown, ...headers },
        ...(body === undefined ? {} : { body }),
      });
    },
    [Symbol.asyncDispose]: async () => {
      vi.unstubAllEnvs();
      await server[Symbol.asyncDispose]();
    },
  };
}
