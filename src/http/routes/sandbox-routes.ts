import type { FastifyInstance } from "fastify";
import type { RunningCall } from "../../calls/running-call.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import { hasLabels } from "../../operations/contract/request/labels-schema.ts";
import { parseRequest } from "../../operations/contract/parse-request.ts";
import {
  listOwnSandboxesRequestSchema,
  type OwnSandboxes,
  type SandboxStateAnswer,
} from "../../operations/sandboxes/sandbox-state-schema.ts";
import { callerOf } from "../auth/caller.ts";
import type { HttpRun } from "../runs/http-run.ts";
import { isOfOwnSandbox } from "../runs/own-sandbox.ts";
import { storedRows, storedState } from "../runs/stored-run.ts";
import { jsonType, textOf } from "../server/wire-answer.ts";
import { assembleRequest, fieldTypes, type RequestParts } from "./read-request.ts";
import type { RouteContext } from "./route-context.ts";

type LiveRecord = ReturnType<RouteContext["platform"]["sandboxes"]["recordsOf"]>[number];
type SandboxRow = OwnSandboxes["sandboxes"][number];

const listForm = { request: listOwnSandboxesRequestSchema };
const listTypes = fieldTypes(listForm);

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
      ...working.map((call) => rowOfRun(call, records)),
      ...records.filter(({ id }) => !own.has(id)).map((record) => rowOfPlace(record, now())),
    ];
    const answer: OwnSandboxes = { sandboxes: rows.filter(({ labels }) => hasLabels(labels, label)) };
    return reply.send(answer);
  });

  app.get<{ Params: { id: string } }>("/api/sandbox/:id", async (request, reply) => {
    const { principal } = callerOf(request);
    const { id } = request.params;
    const run = runs.find(id, principal);
    if (run !== null) return reply.type(jsonType).send(await stateOfRun(run));
    const record = sandboxes.recordsOf(principal).find((each) => each.id === id);
    if (record === undefined) {
      const stored = await store?.runs.find({ id, principal });
      if (store === null || stored === null || stored === undefined) throw unknownSandbox(id);
      return reply.send(await storedState(store.runs, stored, now()));
    }
    const { kind: _, engine: __, ...row } = rowOfPlace(record, now());
    return reply.send({ ...row, progress: null, stdout_tail: "", stderr_tail: "" } satisfies SandboxStateAnswer);
  });

  app.delete<{ Params: { id: string } }>("/api/sandbox/:id", async (request, reply) => {
    const { principal } = callerOf(request);
    const { id } = request.params;
    const run = runs.find(id, principal);
    const sandbox = sandboxes.recordsOf(principal).some((each) => each.id === id) ? sandboxes.find(id) : undefined;
    if (run !== null) await runs.remove(run);
    else if (sandbox !== undefined) await sandbox.remove();
    // A run of another server can only be ended there.
    else if (((await store?.runs.find({ id, principal }))?.ended_ms ?? null) === null) throw unknownSandbox(id);
    store?.runs.forget({ id, principal });
    return reply.send({ id, removed: true });
  });
}

/** A run as shown in a list, without parsing its answer, which may be long. */
async function stateOfRun(run: HttpRun): Promise<string> {
  const { call, hasEnded } = run;
  const { progress, stdout, stderr } = {
    progress: call.message,
    stdout: call.stdout.text(),
    stderr: call.stderr.text(),
  };
  const state: SandboxStateAnswer = {
    ...aboutRun(call),
    state: hasEnded ? "ended" : call.sandboxId === null ? "starting" : "running",
    ...{ progress, stdout_tail: stdout, stderr_tail: stderr },
  };
  if (!hasEnded) return JSON.stringify(state);
  const answer = await run.answer();
  return `${JSON.stringify(state).slice(0, -1)},"${answer.isError ? "error" : "result"}":${textOf(answer)}}`;
}

function rowOfRun(call: RunningCall, records: readonly LiveRecord[]): SandboxRow {
  const about = aboutRun(call);
  const record = records.find(({ id }) => id === about.sandbox_id);
  return {
    ...about,
    state: call.sandboxId === null ? "starting" : "running",
    kind: record?.kind ?? null,
    engine: record?.engine ?? null,
  };
}

function aboutRun(call: RunningCall): Pick<SandboxRow, "id" | "sandbox_id" | "operation" | "labels" | "elapsed_ms"> {
  const { id, sandboxId, operation, labels, elapsedMs } = call;
  const sandbox_id = sandboxId ?? (isOfOwnSandbox(call) ? id : null);
  return { id, sandbox_id, operation, labels: { ...labels }, elapsed_ms: Math.round(elapsedMs) };
}

function rowOfPlace(
  { id, kind, engine, labels = {}, createdAtMs }: LiveRecord,
  nowMs: number,
): SandboxRow & { state: "running" } {
  return {
    ...{ id, sandbox_id: id, operation: null, labels: { ...labels }, elapsed_ms: Math.max(0, nowMs - createdAtMs) },
    ...{ state: "running", kind, engine },
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
