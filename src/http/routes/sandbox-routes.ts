import { splitLabel, hasLabels } from "../../operations/contract/request-schemas.ts";
import {
  listOwnSandboxesRequestSchema,
  removeSandboxQuerySchema,
  type OwnSandboxes,
  type SandboxStateAnswer,
  type StoredRunAnswer,
} from "../../operations/sandboxes-contract.ts";
import type { RouteContext } from "./route-context.ts";
import type { FastifyInstance } from "fastify";
import type { RunningCall } from "../../calls/running-calls.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import { parseRequest } from "../../operations/contract/parse-request.ts";
import { callerOf } from "../caller.ts";
import { findNamed, type Named } from "../../base/id.ts";
import { isOfOwnSandbox, type HttpRuns, type RunPlace, type HttpRun } from "../http-runs.ts";
import { jsonType, textOf } from "../http-answer.ts";
import { assembleRequest, fieldTypes, type RequestParts } from "./read-request.ts";

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

type StoredRuns = NonNullable<RouteContext["platform"]["store"]>["runs"];
type StoredRun = Awaited<ReturnType<StoredRuns["listEnded"]>>[number];

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
