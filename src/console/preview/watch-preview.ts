import { signal, type ReadonlySignal } from "@preact/signals";
import type { PreviewRow } from "../../operations/previews/preview-schema.ts";
import type { ApiFailure } from "../api/api-failure.ts";
import { ask } from "../api/ask.ts";
import { poll } from "../api/polling.ts";

export interface PreviewState {
  /** Null: not known yet. */
  readonly row: PreviewRow | null;
  readonly failure: ApiFailure | null;
}

const eachMs = 3_000;

/** Follows a preview until the returned function is called. */
export function watchPreview(id: string): { readonly state: ReadonlySignal<PreviewState>; readonly stop: () => void } {
  const state = signal<PreviewState>({ row: null, failure: null });
  const stop = poll(
    async (abort) => {
      const row = await ask<PreviewRow>("GET", `/api/sandbox/preview/${encodeURIComponent(id)}`, { signal: abort });
      if (!abort.aborted) state.value = { row, failure: null };
      return false;
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
