import { setFlagsFromString } from "node:v8";
import { once } from "node:events";
import type { Command } from "commander";
import type { Logger } from "../../base/logger.ts";
import { isLoopback } from "../../base/http/request-head.ts";
import { readPackageVersion } from "../../config/host/own-package.ts";
import { accessTokenFile, openAccessToken } from "../../config/server-access.ts";
import { engineChoices } from "../../config/engine-words.ts";
import type { Config } from "../../config/config.ts";
import { readDomain } from "../../config/section-schemas.ts";
import { loadHostConfig } from "../../config/load-config.ts";
import type { Authenticate } from "../../http/caller.ts";
import type { HttpServer } from "../../http/http-server.ts";
import type { KeyRing } from "../../keys/key-ring.ts";
import { keysPlace } from "../../keys/keys-file.ts";
import type { E2bServer, E2bServerOptions } from "../../e2b/e2b-server.ts";
import { GloveboxError, invalidField } from "../../errors/glovebox-error.ts";
import type { McpDoor } from "../../mcp/mcp-door.ts";
import type { SettledSessions } from "../../mcp/open-mcp-door.ts";
import type { CallOperation } from "../../operations/contract/operation-contract.ts";
import { operationTable } from "../../operations/table.ts";
import type { CommandIo, SetExitCode } from "../command-io.ts";
import { exitCodes } from "../exit-code.ts";
import { escapeLine } from "../output/terminal-text.ts";

/**
 * Has V8 collect garbage early instead of letting the heap of this process grow into the machine's memory: a flood of
 * log lines otherwise leaves hundreds of MB of garbage behind. This is not a limit: work that needs much memory still
 * gets it.
 */
export function keepHeapSmall(): void {
  // V8 reads each of them whenever it decides, not only at start-up.
  setFlagsFromString("--optimize-for-size");
  setFlagsFromString("--semi-space-growth-factor=1");
  // The middle one of V8's compilers leaves 13 MB behind in the C library's heap. Runs are as fast without it; a flood of
  // short log lines is a fifth slower.
  setFlagsFromString("--no-maglev");
}

interface ServeOptions {
  readonly port: string;
  readonly host: string;
  readonly engine?: string;
  readonly config?: string;
  readonly minIsolation?: string;
  readonly drainTimeout?: string;
  readonly prebuiltOnly?: true;
  readonly prove?: true;
  readonly e2b?: string | true;
  readonly e2bDomain?: string;
  readonly token: boolean;
}

/** The server, once it is open. */
interface Served {
  readonly platform: { readonly logger: Logger; endPrincipal(principal: string): Promise<void> };
  readonly server: HttpServer;
  readonly door: McpDoor;
  /** Null: it does not answer E2B's SDKs. */
  readonly forE2b: E2bServer | null;
}

/** Where E2B's SDKs are answered if no port is named. */
const e2bPort = "8421";
const openToAll = "--no-token: every user and program on this machine can run code here, and see and end what runs";
/** A call over MCP that takes longer is answered with its id, and continues. */
const answerWithinMs = 45_000;

/** `glovebox serve`: the API over HTTP, and MCP at /mcp. */
export function addServeCommand(program: Command, io: CommandIo, setExitCode: SetExitCode): void {
  program
    .command("serve")
    .option("--port <port>", "port to listen on; 0 takes a free one", "8420")
    .option("--host <host>", "name or address to listen on; without API keys only loopback", "127.0.0.1")
    .option("--engine <engine>", `${engineChoices} (default: auto)`)
    .option("--config <file>", "configuration file (default: GLOVEBOX_CONFIG, else the user's own)")
    .option("--no-token", "on loopback: require no token, so every user of this machine can run code")
    .option(
      "--min-isolation <level>",
      "preload, namespaces, container or vm: refuse engines with weaker isolation (default: namespaces)",
    )
    .option("--prove", "run the attacks of the threat model first; serve nothing when one gets through")
    .option("--e2b [port]", `answer E2B's SDKs too, at this port; 0 takes a free one (default: ${e2bPort})`)
    .option(
      "--e2b-domain <domain>",
      "with --e2b: domain whose subdomains lead to that port, such as https://e2b.example; ports of sandboxes have names below it",
    )
    .option("--prebuilt-only", "never pull or build images; a missing one is an error")
    .option("--drain-timeout <duration>", "how long running work may continue at shutdown (default: 30s)")
    .addHelpText(
      "after",
      "\nSIGTERM and SIGINT stop it: it accepts no new work, waits for running work, ends the rest and removes everything. A second SIGINT stops it at once.\nExit code: 0; 1 if an engine did not remove everything within 10 s; the next start does.",
    )
    .action(async (options: ServeOptions) => setExitCode(await serve(options, io)));
}

async function serve(options: ServeOptions, io: CommandIo): Promise<number> {
  const { host, token: asksForToken } = options;
  const port = parsePort("--port", options.port);
  const e2b = options.e2b === undefined ? null : parsePort("--e2b", options.e2b === true ? e2bPort : options.e2b);
  const domain = options.e2bDomain === undefined ? null : parseDomain(options.e2bDomain);
  keepHeapSmall();
  // Loaded on use: the other commands start faster without a server.
  const { openHttpServer, decideAuthentication, openMcpDoor, createHttpHandler } = await load();
  // Checks that need nothing open come first.
  using keys = await openKeys(options.config);
  // On loopback keys may come later.
  const isKeyless = keys.size === 0 && !isLoopback(host);
  const authenticate = (token: string | null): Authenticate =>
    decideAuthentication({ host, token, keys: isKeyless ? null : (bearer) => keys.authenticate(bearer) });
  authenticate(null);
  const { door, settledSessions } = await openMcpDoor({
    door: "server",
    engine: options.engine,
    configFile: options.config,
    settings: {
      min_isolation: options.minIsolation,
      drain_timeout: options.drainTimeout,
      prebuilt_only: options.prebuiltOnly,
    },
    grantOf: (principal) => keys.grantOf(principal),
    storeByDefault: true,
    prefersContainers: true,
    profiles: ["all"],
    answerWithinMs,
    signal: io.signal,
  });
  const { platform } = door;
  const { config } = platform;
  let left: readonly string[];
  try {
    if (options.prove === true) await proveFirst(platform.call, io);
    const token = asksForToken && isLoopback(host) ? await openAccessToken(platform.host) : null;
    const mcp = createHttpHandler(door);
    const guard = { rules: { loopbackOnly: isLoopback(host), ...config }, authenticate: authenticate(token) };
    const server = await openHttpServer({
      ...{ host, port, platform, token, ...guard },
      version: readPackageVersion(),
      inFlight: door.inFlight,
      operations: operationTable,
      mcp: (request, response, caller) => mcp.handle(request, response, caller),
    });
    const forE2b =
      e2b === null
        ? null
        : await openE2b({ ...{ host, platform, domain, ...guard }, port: e2b, inFlight: door.inFlight });
    followKeys(keys, { platform, server, door, forE2b });
    const ofUser = token === null ? openToAll : `it requires the token in ${accessTokenFile(platform.host)}`;
    const access = isLoopback(host) ? ofUser : `it requires an API key (${keys.size} in force)`;
    io.stderr.write(
      `glovebox: serving at ${server.url} (MCP at ${server.url}/mcp)\nglovebox: ${access}\n` +
        `glovebox: the console is at ${server.url}/ (\`glovebox console\` opens it signed in)\n` +
        (forE2b === null ? "" : `glovebox: E2B's SDKs are answered at ${forE2b.url} (docs/clients.md)\n`) +
        (settledSessions === null ? "" : `glovebox: ${sessionsNotice(settledSessions)}\n`),
    );
    if (forE2b !== null && (config.executionMode ?? "container") === "container")
      void prepareTemplates(platform.call, io);
    if (!io.signal.aborted) await once(io.signal, "abort");
    forE2b?.drain();
    await Promise.all([server.drain(config.drainTimeoutMs), door.drainCalls(config.drainTimeoutMs)]);
    await Promise.all([server.endRuns(), door.endCalls(), forE2b?.close()]);
    await mcp.close();
    await server.close();
  } finally {
    left = await door.close();
  }
  return left.length === 0 ? 0 : exitCodes.leftBehind;
}

function sessionsNotice({ engine }: SettledSessions): string {
  return engine === null
    ? "no container engine answers, so sessions run in the embedded sandbox until the next start (EXECUTION_MODE=container requires an engine)"
    : `sessions run in containers of ${engine} (EXECUTION_MODE=preload: in the embedded sandbox)`;
}

/** @throws POLICY_DENIED if an attack succeeded */
async function proveFirst(call: CallOperation, io: CommandIo): Promise<void> {
  const [{ assertHeld }, { proveContract }, { localPrincipal }] = await Promise.all([
    import("../prove-command.ts"),
    import("../../operations/prove-contract.ts"),
    import("../../http/authentication.ts"),
  ]);
  await assertHeld((request) => call(proveContract, request, { principal: localPrincipal, signal: io.signal }), io);
}

/** Has the images of E2B's templates made before a sandbox needs them: its client would not wait that long. */
async function prepareTemplates(call: CallOperation, io: CommandIo): Promise<void> {
  const [{ pullImagesContract }, { localPrincipal }] = await Promise.all([
    import("../../operations/images-contract.ts"),
    import("../../http/authentication.ts"),
  ]);
  const say = (words: string): void => void io.stderr.write(`glovebox: ${escapeLine(words)}\n`);
  let image = "";
  const onEvent: NonNullable<Parameters<CallOperation>[2]["onEvent"]> = (event) => {
    const [, verb = "", now = ""] =
      (event.type === "progress" && /^(Building|Pulling) (\S+):/.exec(event.message)) || [];
    if (now === "" || now === image) return;
    image = now;
    say(`${verb.toLowerCase()} ${now} for E2B's templates; until then its sandboxes are refused with a reason`);
  };
  try {
    await call(
      pullImagesContract,
      { images: [], e2b: true },
      { principal: localPrincipal, signal: io.signal, onEvent },
    );
    if (image !== "") say("the images of E2B's templates are ready");
  } catch (error) {
    // Nobody waits for this: whatever it is, it must not end the server, and the first sandbox that needs an image tries again.
    if (!(error instanceof GloveboxError))
      return say(`the images of E2B's templates cannot be made yet: ${String(error)}`);
    // Engines that make no images, engines that are not there, and a server that ends, have nothing to say.
    if (["UNSUPPORTED", "ENGINE_UNAVAILABLE", "CANCELLED"].includes(error.errorType)) return;
    say(`the images of E2B's templates cannot be made yet: ${error.message} ${error.suggestion}`);
  }
}

async function load() {
  const modules = await Promise.all([
    import("../../http/http-server.ts"),
    import("../../http/authentication.ts"),
    import("../../mcp/open-mcp-door.ts"),
    import("../../mcp/serve-over-http.ts"),
  ]);
  const [server, authentication, door, handler] = modules;
  return { ...server, ...authentication, ...door, ...handler };
}

/** Nothing of it is loaded unless it is asked for. */
async function openE2b(options: E2bServerOptions): Promise<E2bServer> {
  const { openE2bServer } = await import("../../e2b/e2b-server.ts");
  return openE2bServer(options);
}

/** When a key is removed, everything its principal has running ends. */
function followKeys(keys: KeyRing, { platform, server, door, forE2b }: Served): void {
  keys.follow({
    logger: platform.logger,
    onRevoked: (principal) => {
      server.cancelRuns(principal);
      door.cancelCalls(principal);
      forE2b?.endPrincipal(principal);
      void platform.endPrincipal(principal);
    },
  });
}

/** @throws if their file is invalid */
async function openKeys(configFile: string | undefined): Promise<KeyRing> {
  const { config, host } = await loadHostConfig({ configFile });
  const { KeyRing: Keys } = await import("../../keys/key-ring.ts");
  return Keys.open({ place: keysPlace(config, host), now: () => Date.now(), monotonicMs: () => performance.now() });
}

function parseDomain(text: string): Config["preview"]["domain"] {
  const domain = readDomain(text.toLowerCase());
  if (domain !== null) return domain;
  throw invalidField(
    "--e2b-domain",
    "a domain such as e2b.example or https://e2b.example, whose every subdomain leads here",
    text,
  );
}

function parsePort(field: string, text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (!(port <= 65_535)) throw invalidField(field, "a port such as 8420, or 0 for a free one", text);
  return port;
}
