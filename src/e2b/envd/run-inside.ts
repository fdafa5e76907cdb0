import { execInSandboxContract } from "../../operations/live-sandbox-contract.ts";
import { mebibyte } from "../../base/bytes.ts";
import { ConnectError } from "./connect-error.ts";
import type { RpcCall } from "./rpc-call.ts";

/** What a script of ours said. */
export interface ScriptAnswer {
  readonly exitCode: number;
  readonly stdout: Buffer;
}

const maxOutputBytes = 4 * mebibyte;
const withinMs = 60_000;

/**
 * Runs a script for files in the sandbox, with what it is about as arguments. Whatever it says is the sandbox's own word.
 * @throws ConnectError for too much output, what `exec_in_sandbox` throws
 */
export async function runInside(
  { context, exchange, target }: RpcCall,
  script: string,
  args: string[],
): Promise<ScriptAnswer> {
  const { sandbox, sandboxId } = target;
  const pieces: Uint8Array[] = [];
  let length = 0;
  const command = ["/bin/sh", "-c", script, "sh", ...args];
  const answer = await context.platform.call(
    execInSandboxContract,
    { sandbox_id: sandboxId, command, environment: { LC_ALL: "C" } },
    {
      principal: sandbox.caller.principal,
      signal: AbortSignal.any([exchange.signal, sandbox.ended, AbortSignal.timeout(withinMs)]),
      onEvent: (event) => {
        if (event.type !== "output" || event.stream !== "stdout") return;
        length += event.bytes.length;
        if (length <= maxOutputBytes) pieces.push(event.bytes);
      },
    },
  );
  if (length > maxOutputBytes)
    throw new ConnectError("resource_exhausted", "too many files for one list; list less deep");
  return { exitCode: answer.exit_code, stdout: Buffer.concat(pieces) };
}
