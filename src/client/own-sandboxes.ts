import type { z } from "zod";
import { strangeAnswer } from "./network-failure.ts";
import { ownSandboxesSchema, removedSandboxSchema } from "../operations/sandboxes/sandbox-state-schema.ts";
import { listSandboxesContract, removeSandboxesContract } from "../operations/sandboxes/sandboxes-contract.ts";
import type { OperationContract, RequestOf, ResponseOf } from "../operations/contract/operation-contract.ts";
import { pathSegment, type RouteRequest } from "./request-of-route.ts";

/** One request to a server; resolves to the body of a successful response, and the server's clock. */
export type Ask = (request: RouteRequest) => Promise<{ readonly body: unknown; readonly dateMs: number }>;

/**
 * The routes by which a server does operations on this machine's sandboxes, limited to those of the key; null: the
 * operation has none.
 */
export function ownSandboxesOperation(
  contract: OperationContract,
): ((request: object, ask: Ask) => Promise<unknown>) | null {
  if (contract === listSandboxesContract) return list;
  if (contract === removeSandboxesContract) return (request, ask) => remove(request as RemoveRequest, ask);
  return null;
}

type ListRequest = RequestOf<typeof listSandboxesContract>;
type RemoveRequest = RequestOf<typeof removeSandboxesContract>;

async function list({ engine }: ListRequest, ask: Ask): Promise<ResponseOf<typeof listSandboxesContract>> {
  const { body, dateMs } = await ask({ method: "GET", path: "/api/sandbox" });
  const { sandboxes } = checked(ownSandboxesSchema, body);
  const rows = sandboxes.flatMap(({ sandbox_id: id, engine: own, kind, elapsed_ms: elapsedMs, name, work, image }) => {
    // One that is still queued has no sandbox yet.
    if (id === null || own === null || (engine !== undefined && own !== engine)) return [];
    const createdAt = new Date(dateMs - elapsedMs).toISOString();
    const alive = { running: true, owner: "living" } as const;
    const about = { kind: kind ?? "", name, work, image };
    return [{ sandbox_id: id, engine: own, ...about, principal: "", created_at: createdAt, ...alive }];
  });
  return { sandboxes: [...new Map(rows.map((row) => [row.sandbox_id, row])).values()] };
}

async function remove({ ids }: RemoveRequest, ask: Ask): Promise<ResponseOf<typeof removeSandboxesContract>> {
  const removed: string[] = [];
  for (const id of ids) {
    const { body } = await ask({ method: "DELETE", path: `/api/sandbox/${pathSegment("id", id)}` });
    removed.push(checked(removedSandboxSchema, body).id);
  }
  return { removed };
}

function checked<Schema extends z.ZodType>(schema: Schema, body: unknown): z.output<Schema> {
  const parsed = schema.safeParse(body);
  if (!parsed.success) throw strangeAnswer("its sandboxes have another form", parsed.error);
  return parsed.data;
}
