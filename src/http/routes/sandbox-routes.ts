import { splitLabel, hasLabels } from "../../operations/contract/request-schemas.ts";
import {
  listOwnSandboxesRequestSchema,
  removeSandboxQuerySchema,
  type OwnSandboxes,
  type SandboxStateAnswer,
  type StoredRunAnswer,
} from "../../operations/sandboxes-contract.ts";
import type { RouteContext } from "./route-context.ts";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { RunningCall } from "../../calls/running-calls.ts";
import { GloveboxError, toGloveboxError } from "../../errors/glovebox-error.ts";
import { parseRequest } from "../../operations/contract/parse-request.ts";
import { callerOf, keyEnded } from "../caller.ts";
import { findNamed, type Named } from "../../base/id.ts";
import { isOfOwnSandbox, type HttpRuns, type RunPlace, type HttpRun } from "../http-runs.ts";
import { jsonType, textOf, withinShare, HttpRefusal, answerOfError } from "../http-answer.ts";
import { assembleRequest, fieldTypes, type RequestParts } from "./read-request.ts";
import type { WebSocket } from "@fastify/websocket";
import type { OperationContract } from "../../operations/contract/operation-contract.ts";
import { LiveConnection, liveBytes } from "../../live/live-connection.ts";

type SandboxRow = OwnSandboxes["sandboxes"][number];
type About = Omit<SandboxRow, "state" | "stored">;

const listForm = { request: listOwnSandboxesRequestSchema };
const listTypes = fieldTypes(listForm);
const removeForm = { request: removeSandboxQuerySchema };
const removeTypes = fieldTypes(removeForm);

/** The caller's current runs, one run with its result, and ending a run (SPEC API table). */
export function addSandboxRoutes(app: FastifyInstance, { platform, runs }: RouteContext): void {
  const { sandboxes, store, now } = platform;
  app.get("/api/sandbox", async (request, reply) => {
    const { principal } = callerOf(request);
    const query = request.query as RequestParts["query"];
    const { label, state, limit } = parseRequest(
      listForm,
      assembleRequest({ path: {}, query, body: request.body }, { takesBody: false, types: listTypes }),
    );
    if (state === "ended") {
      if (store === null) throw storesNothing();
      return reply.send({
        sandboxes: await storedRows(store.runs, { principal, label, limit }),
      } satisfies OwnSandboxes);
    }
    const working = runs.working(principal);
    const own = new Set(working.map(({ id }) => id));
    const records = sandboxes.recordsOf(principal);
    const rows = [
      ...working.map((call) => rowOfRun(call, placeOf(call, runs, records))),
      ...records.filter(({ id }) => !own.has(id)).map((record) => rowOfPlace(record, now())),
    ];
    const answer: OwnSandboxes = { sandboxes: rows.filter(({ labels }) => hasLabels(labels, label)) };
    return reply.send(answer);
  });

  app.get<{ Params: { id: string } }>("/api/sandbox/:id", async (request, reply) => {
    const { principal } = callerOf(request);
    const records = sandboxes.recordsOf(principal);
    const id = meantRun(request.params.id, { runs, records, principal });
    const run = runs.find(id, principal);
    if (run !== null) return reply.type(jsonType).send(await stateOfRun(run, placeOf(run.call, runs, records)));
    const record = records.find((each) => each.id === id);
    if (record === undefined) {
      const stored = await store?.runs.find({ id, principal });
      if (store === null || stored === null || stored === undefined) throw unknownSandbox(id);
      return reply.send(await storedState(store.runs, stored, now()));
    }
    const row = rowOfPlace(record, now());
    return reply.send({ ...row, progress: null, stdout_tail: "", stderr_tail: "" } satisfies SandboxStateAnswer);
  });

  app.delete<{ Params: { id: string } }>("/api/sandbox/:id", async (request, reply) => {
    const { principal } = callerOf(request);
    const { forget } = parseRequest(
      removeForm,
      assembleRequest(
        { path: {}, query: request.query as RequestParts["query"], body: request.body },
        { takesBody: false, types: removeTypes },
      ),
    );
    const records = sandboxes.recordsOf(principal);
    const id = meantRun(request.params.id, { runs, records, principal });
    const run = runs.find(id, principal);
    const sandbox = records.some((each) => each.id === id) ? sandboxes.find(id) : undefined;
    if (run !== null) await (forget ? runs.remove(run) : runs.end(run));
    else if (sandbox !== undefined) await sandbox.remove();
    // A run of another server can only be ended there.
    else if (((await store?.runs.find({ id, principal }))?.ended_ms ?? null) === null) throw unknownSandbox(id);
    if (forget) store?.runs.forget({ id, principal });
    return reply.send({ id, removed: true });
  });
}

type StoredRuns = NonNullable<RouteContext["platform"]["store"]>["runs"];
type StoredRun = Awaited<ReturnType<StoredRuns["listEnded"]>>[number];

/** Codes of WebSocket. */
const closed = { refused: 1008 } as const;

/** A WebSocket for each operation that has a channel (`wire-messages.ts`). */
export function addLiveRoutes(app: FastifyInstance, context: RouteContext): void {
  for (const contract of context.operations) {
    if (contract.audience !== "everyone" || contract.channel === undefined) continue;
    app.route({
      method: "GET",
      url: contract.channel.replaceAll(/\{(\w+)\}/g, ":$1"),
      preValidation: async ({ ws }) => {
        if (!ws) throw noWebSocket();
        context.assertTakesWork();
      },
      handler: () => Promise.reject(noWebSocket()),
      wsHandler: (socket, request) => serveLiveCall(context, contract, { socket, request }),
    });
  }
}

/** One call, from the client's first message to its end; whatever ends the connection ends the call and what it started. */
async function serveLiveCall(
  { runs, inFlight, logger }: RouteContext,
  contract: OperationContract,
  { socket, request }: { readonly socket: WebSocket; readonly request: FastifyRequest },
): Promise<void> {
  const caller = callerOf(request);
  const connection = new LiveConnection(socket);
  const over = new AbortController();
  const revoke = (): void => connection.end(answerOfError(keyEnded()), closed.refused);
  caller.revoked?.addEventListener("abort", revoke, { once: true, signal: over.signal });
  if (caller.revoked?.aborted === true) revoke();
  try {
    const held = inFlight.hold(caller.principal, liveBytes);
    socket.once("close", () => held.release());
    const start = await connection.started();
    if (start === null) return connection.close(closed.refused, "expected start as the first message");
    const wanted = parseRequest(contract, requestOf(start.request, request));
    const { streams, tell: onEvent } = connection;
    const run = runs.begin({ contract, request: wanted, caller, key: undefined, streams, onEvent });
    run.join(connection.gone);
    const answer = await run.answer();
    const share = { held, besideBytes: liveBytes, id: run.call.id, keep: () => runs.keep(run) };
    const last = withinShare(answer, share);
    connection.end({ body: textOf(last), isError: last.isError });
  } catch (error) {
    const known = toGloveboxError(error);
    if (known.errorType === "INTERNAL") logger.error({ err: error }, "a live call failed");
    connection.end(answerOfError(known));
  } finally {
    over.abort();
  }
}

/** Combines the path with the first message; apart from a ticket, the query is empty. */
function requestOf(body: unknown, { params, query }: FastifyRequest): Record<string, unknown> {
  const { ticket: _, ...stray } = query as Record<string, string>;
  const path = params as Record<string, string>;
  return assembleRequest({ path, query: stray, body }, { takesBody: true, types: new Map() });
}

function noWebSocket(): HttpRefusal {
  return new HttpRefusal(426, "INVALID_REQUEST", "This path is a WebSocket.", {
    suggestion: "Open a WebSocket, or use one of the plain requests in /docs.",
  });
}

/** The id that is meant by an id, a name or the beginning of an id; a run that is still waiting has a name already. */
function meantRun(
  word: string,
  own: { readonly runs: HttpRuns; readonly records: readonly RunPlace[]; readonly principal: string },
): string {
  const { runs, records, principal } = own;
  const live = new Set(records.map(({ id }) => id));
  // A call in a session's sandbox has that sandbox's name; the sandbox is meant.
  const waiting = runs.working(principal).filter((call) => !live.has(sandboxOf(call) ?? ""));
  return findNamed<Named>(word, [...records, ...waiting], "id")?.id ?? word;
}

/** A run as shown in a list, without parsing its answer, which may be long. */
async function stateOfRun(run: HttpRun, place: RunPlace | undefined): Promise<string> {
  const { call, hasEnded } = run;
  const { progress, stdout, stderr } = {
    progress: call.message,
    stdout: call.stdout.text(),
    stderr: call.stderr.text(),
  };
  const state: SandboxStateAnswer = {
    ...aboutRun(call, place),
    state: hasEnded ? "ended" : call.sandboxId === null ? "starting" : "running",
    ...{ progress, stdout_tail: stdout, stderr_tail: stderr },
  };
  if (!hasEnded) return JSON.stringify(state);
  const answer = await run.answer();
  return `${JSON.stringify(state).slice(0, -1)},"${answer.isError ? "error" : "result"}":${textOf(answer)}}`;
}

function rowOfRun(call: RunningCall, place: RunPlace | undefined): SandboxRow {
  return { ...aboutRun(call, place), state: call.sandboxId === null ? "starting" : "running" };
}

/** The sandbox of a run as it was when its program began; before that, as far as there is one. */
function placeOf(call: RunningCall, runs: HttpRuns, records: readonly RunPlace[]): RunPlace | undefined {
  return runs.placeOf(call) ?? records.find(({ id }) => id === sandboxOf(call));
}

function aboutRun(call: RunningCall, place: RunPlace | undefined): About {
  const { id, operation, labels, elapsedMs } = call;
  return {
    ...{ id, sandbox_id: sandboxOf(call), operation, name: call.name ?? place?.name ?? null },
    ...{ work: place?.work ?? null, labels: { ...labels }, elapsed_ms: Math.round(elapsedMs) },
    ...{ kind: place?.kind ?? null, engine: place?.engine ?? null, image: place?.image ?? null },
  };
}

function sandboxOf(call: RunningCall): string | null {
  return call.sandboxId ?? (isOfOwnSandbox(call) ? call.id : null);
}

function rowOfPlace(
  { id, kind, engine, name, work, image, labels = {}, createdAtMs }: RunPlace,
  nowMs: number,
): SandboxRow & { state: "running" } {
  return {
    ...{ id, sandbox_id: id, operation: null, name: name ?? null, work: work ?? null, labels: { ...labels } },
    ...{ elapsed_ms: Math.max(0, nowMs - createdAtMs), state: "running", kind, engine, image: image ?? null },
  };
}

function unknownSandbox(id: string): GloveboxError {
  return new GloveboxError("NOT_FOUND", `You have no sandbox or run ${JSON.stringify(id.slice(0, 80))}.`, {
    suggestion: "GET /api/sandbox lists the running ones, with state=ended the ended ones.",
    context: { id: id.slice(0, 80) },
  });
}

function storesNothing(): GloveboxError {
  return new GloveboxError("UNSUPPORTED", "state: this server stores no runs, so it can list only live ones.", {
    suggestion: "Leave out state, or ask the operator to enable the store (store.kind).",
    context: { field: "state" },
  });
}

/** The caller's ended runs in the store. @throws INTERNAL if it does not answer */
async function storedRows(
  runs: StoredRuns,
  query: { readonly principal: string; readonly label: readonly string[] | undefined; readonly limit: number },
): Promise<OwnSandboxes["sandboxes"]> {
  const { principal, label = [], limit } = query;
  const found = await runs.listEnded({ principal, labels: label.map((each) => splitLabel(each)), limit });
  return found.map((run) => ({ ...aboutStored(run), state: "ended" as const }));
}

/**
 * A run whose answer is no longer in memory, with the end of its output. @throws INTERNAL if the store does not answer
 */
async function storedState(runs: StoredRuns, run: StoredRun, nowMs: number): Promise<SandboxStateAnswer> {
  const { stdout, stderr } = await runs.tails(run);
  return {
    ...aboutStored(run, nowMs),
    state: run.ended_ms === null ? "running" : "ended",
    ...{ progress: null, stdout_tail: stdout, stderr_tail: stderr },
  };
}

function aboutStored(run: StoredRun, nowMs: number = run.started_ms) {
  const stored: StoredRunAnswer = {
    ...{ run_id: run.id, kind: run.kind, engine: run.engine, session_id: run.session, env_id: run.environment },
    policy_digest: run.policy_digest,
    started_at: timestamp(run.started_ms),
    ended_at: run.ended_ms === null ? null : timestamp(run.ended_ms),
    ...{ outcome: run.outcome, exit_code: run.exit_code, duration_ms: run.duration_ms, error_type: run.error_type },
    interrupted: run.interrupted === 1,
  };
  const elapsed_ms = Math.max(0, (run.ended_ms ?? nowMs) - run.started_ms);
  return {
    ...{ id: run.toldId, sandbox_id: run.sandbox, operation: null, name: run.name, work: run.work },
    ...{ labels: { ...run.labels }, elapsed_ms, kind: run.kind, engine: run.engine, image: run.image },
    stored,
  };
}

function timestamp(ms: number): string {
  return new Date(ms).toISOString();
}
