import type { CallOperation, OperationCall } from "../operations/contract/operation-call.ts";
import type { OperationContract, RequestOf, ResponseOf } from "../operations/contract/operation-contract.ts";
import { packFilesContract, unpackFilesContract } from "../operations/sandboxes/copies/archive-contract.ts";
import { copyIntoSandboxContract, copyOutOfSandboxContract } from "../operations/sandboxes/copies/copy-contract.ts";
import type { Caller } from "../library/objects/calls.ts";
import { archiveOfTop } from "../sandbox/copy/archive.ts";
import { CopyBudget } from "../sandbox/copy/copy-budget.ts";
import { withHostSource } from "../sandbox/copy/copy-in.ts";
import { copyOut } from "../sandbox/copy/copy-out.ts";
import { ArchiveInside } from "./archive-inside.ts";

/** This machine, as copies need it. */
export interface OwnMachine {
  readonly platform: NodeJS.Platform;
  /** Base of relative paths. */
  readonly workingDirectory: string;
}

type CopyIn = RequestOf<typeof copyIntoSandboxContract>;
type CopyOut = RequestOf<typeof copyOutOfSandboxContract>;
type Copied = ResponseOf<typeof copyIntoSandboxContract>;

/**
 * The calls of a server, plus copies between its sandboxes and this machine, which the server itself cannot do: this
 * machine's half is done here, and does not trust the other half.
 */
export function withCopies(caller: Caller, machine: OwnMachine): Caller {
  const call = async (contract: OperationContract, request: object, how: OperationCall): Promise<unknown> => {
    if (contract === copyIntoSandboxContract) return copyIntoServer(caller.call, machine, request as CopyIn, how);
    if (contract === copyOutOfSandboxContract) return copyOutOfServer(caller.call, machine, request as CopyOut, how);
    return caller.call(contract, request as never, how);
  };
  return { ...caller, call: call as Caller["call"] };
}

/**
 * Copies a file or folder of this machine into a sandbox, through its owner's calls. @throws as `copyIn`, and what the
 * calls throw
 */
export async function copyIntoServer(
  ask: CallOperation,
  machine: OwnMachine,
  request: CopyIn,
  how: OperationCall,
): Promise<Copied> {
  const { source, sandbox_id, target, max_bytes: maxBytes, max_entries: maxEntries } = request;
  const budget = new CopyBudget({ maxBytes, maxEntries });
  return withHostSource({ ...machine, source, budget }, async (top) => {
    const { name, isContentOnly: content_only } = top;
    const limits = { max_bytes: maxBytes, max_entries: maxEntries };
    const failed = Promise.withResolvers<never>();
    const stdin = failing(archiveOfTop(top), failed.reject);
    const wanted = { sandbox_id, target, name, content_only, ...limits };
    const placed = ask(unpackFilesContract, wanted, { ...how, stdin });
    // If reading fails here, that is the reason, whatever the server reports about the truncated archive.
    const { warnings } = await Promise.race([failed.promise, placed]);
    return { sandbox_id, entries: budget.entries, bytes: budget.bytes, warnings: [...budget.warnings, ...warnings] };
  });
}

/** Copies a file or folder of such a sandbox to this machine. @throws as `copyOut`, and what the calls throw */
export async function copyOutOfServer(
  ask: CallOperation,
  machine: OwnMachine,
  request: CopyOut,
  how: OperationCall,
): Promise<Copied> {
  const { sandbox_id, source, target, max_bytes, max_entries } = request;
  const budget = new CopyBudget({ maxBytes: max_bytes, maxEntries: max_entries });
  const wanted = { sandbox_id, source, max_bytes, max_entries };
  await using files = new ArchiveInside((more) => ask(packFilesContract, wanted, { ...how, ...more }), how.signal);
  await copyOut({ ...machine, files, source, target, budget }, { signal: how.signal });
  const { warnings } = await files.answer;
  return { sandbox_id, entries: budget.entries, bytes: budget.bytes, warnings: [...warnings, ...budget.warnings] };
}

/** The same pieces; the reason for a premature end is reported separately. */
async function* failing(
  pieces: AsyncIterable<Uint8Array>,
  onFailed: (error: unknown) => void,
): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    yield* pieces;
  } catch (error) {
    onFailed(error);
    throw error;
  }
}
