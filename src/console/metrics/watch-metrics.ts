import { signal, type ReadonlySignal } from "@preact/signals";
import type { GetMetricsResponse } from "../../operations/metrics/get-metrics-contract.ts";
import type { ApiFailure } from "../api/api-failure.ts";
import { ask, sandboxPath } from "../api/ask.ts";
import { poll } from "../api/polling.ts";
import { joined } from "./series.ts";

export interface MetricsState {
  /** Null: not known yet. */
  readonly answer: GetMetricsResponse | null;
  readonly failure: ApiFailure | null;
}

/** Ten minutes, second by second. */
const maxSamples = 600;
const eachMs = 2_000;

/** Follows the samples of a sandbox until it has ended or the returned function is called. */
export function watchMetrics(id: string): { readonly state: ReadonlySignal<MetricsState>; readonly stop: () => void } {
  const state = signal<MetricsState>({ answer: null, failure: null });
  const work = async (abort: AbortSignal): Promise<boolean> => {
    const known = state.value.answer?.samples ?? [];
    const query = { samples: maxSamples, since: known.at(-1)?.timestamp };
    const answer = await ask<GetMetricsResponse>("GET", sandboxPath(id, "/metrics"), { query, signal: abort });
    const samples = joined(known, answer.samples, maxSamples);
    if (!abort.aborted)
      state.value = { answer: { ...answer, samples: [...samples] as typeof answer.samples }, failure: null };
    return !answer.running;
  };
  const stop = poll(work, {
    eachMs,
    onFailure: (failure) => {
      if (failure !== null) state.value = { ...state.value, failure };
    },
  });
  return { state, stop };
}
