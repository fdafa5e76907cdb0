import { GloveboxError } from "../../errors/glovebox-error.ts";
import { SandboxFiles } from "../files/sandbox-files.ts";
import { PeerCall, type OpenPeerCall } from "./peer-call.ts";
import { peerProtocol } from "./peer-messages.ts";
import { RemoteProgram } from "./remote-program.ts";
import type { RemoteSandbox } from "./added-program.ts";

/** How long the owner may take to remove a sandbox, and to answer at all. */
const removalMs = 15_000;
const answerMs = 10_000;

/** Where a sandbox of another process is reached. */
export interface RemoteAddress {
  readonly id: string;
  readonly address: string;
}

/**
 * A sandbox of another process of this user, by the address of that process's peer server.
 * @throws NOT_FOUND when it has ended, SANDBOX_LOST when the process does not answer, UNSUPPORTED for another version
 */
export async function reachRemote(
  { id, address, platform }: RemoteAddress & { readonly platform: NodeJS.Platform },
  signal?: AbortSignal,
): Promise<RemoteSandbox> {
  const { capabilities, places } = await describe(id, address, signal);
  const assertLiving = async (): Promise<void> => void (await describe(id, address));
  const exec: RemoteSandbox["exec"] = async ({ command, environment, workingDirectory, asProgram }, options) => {
    const request = { command, environment, working_directory: workingDirectory, as_program: asProgram ?? false };
    const { call } = await PeerCall.open(
      address,
      { protocol: peerProtocol, sandbox_id: id, action: "exec", ...request, command: [...command] },
      options?.signal,
    );
    return RemoteProgram.start(call);
  };
  return {
    id,
    capabilities,
    files: new SandboxFiles({ exec }, capabilities, { places, platform, assertLiving }),
    exec,
    remove: () => removeRemote({ id, address }),
  };
}

/** Asks the owner to end and remove the sandbox. @throws INTERNAL when it does not in 15 s; as `reachRemote` */
export async function removeRemote({ id, address }: RemoteAddress): Promise<void> {
  const late = AbortSignal.timeout(removalMs);
  try {
    const { call } = await PeerCall.open(address, { protocol: peerProtocol, sandbox_id: id, action: "remove" }, late);
    await call.expect("done");
  } catch (error) {
    if (late.aborted) throw notRemoved(id);
    // Gone before it was asked: that is what was wanted.
    if (!(error instanceof GloveboxError) || error.errorType !== "NOT_FOUND") throw error;
  }
}

type RemoteFacts = Pick<OpenPeerCall, "capabilities" | "places">;

async function describe(id: string, address: string, caller?: AbortSignal): Promise<RemoteFacts> {
  const signal = AbortSignal.any([AbortSignal.timeout(answerMs), ...(caller === undefined ? [] : [caller])]);
  try {
    const request = { protocol: peerProtocol, sandbox_id: id, action: "describe" } as const;
    const { call, ...facts } = await PeerCall.open(address, request, signal);
    await call.expect("done");
    return facts;
  } catch (error) {
    if (signal.aborted && caller?.aborted !== true) throw silent(id);
    throw error;
  }
}

function silent(id: string): GloveboxError {
  return new GloveboxError("SANDBOX_LOST", `The process that owns ${id} does not answer.`, {
    suggestion: "See whether it is stopped or overloaded; when it has ended, `glovebox prune` removes what it left.",
    context: { sandbox_id: id },
  });
}

function notRemoved(id: string): GloveboxError {
  return new GloveboxError("INTERNAL", `The process that owns ${id} did not remove it.`, {
    suggestion: "End that process; its sandboxes end with it.",
    context: { sandbox_id: id },
  });
}
