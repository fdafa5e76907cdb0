import { signal, type ReadonlySignal } from "@preact/signals";
import type { SandboxStateAnswer } from "../operations/sandboxes-contract.ts";
import type { ApiFailure } from "./api-failure.ts";
import { ask, sandboxPath } from "./ask.ts";
import { poll } from "./polling.ts";

/** One run or sandbox, as it was in the server's last answer. */
export interface RunState {
  readonly id: string;
  readonly answer: SandboxStateAnswer | null;
  readonly failure: ApiFailure | null;
}

const eachMs = 2_000;

/** Follows a run until it has ended or the returned function is called. */
export function watchRun(id: string): { readonly state: ReadonlySignal<RunState>; readonly stop: () => void } {
  const state = signal<RunState>({ id, answer: null, failure: null });
  const stop = poll(
    async (abort) => {
      const answer = await ask<SandboxStateAnswer>("GET", sandboxPath(id), { signal: abort });
      if (!abort.aborted) state.value = { id, answer, failure: null };
      return answer.state === "ended";
    },
    {
      eachMs,
      onFailure: (failure) => {
        if (failure !== null) state.value = { ...state.value, failure };
      },
    },
  );
  return { state, stop };
}

/** Ends a run or a sandbox; a preview is asked to end first. @throws ApiFailure */
export async function endRun(id: string, isPreview: boolean): Promise<void> {
  await ask("DELETE", isPreview ? `/api/sandbox/preview/${encodeURIComponent(id)}` : sandboxPath(id));
}
