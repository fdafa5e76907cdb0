import type { CallOptions } from "./call-options.ts";

/** The place that files and processes belong to, as requests name it. */
export type Place = { readonly sessionId: string } | { readonly envId: string };

/** A place that is known, or that is asked for before each call. */
export type PlaceSource = Place | ((call?: Pick<CallOptions, "signal">) => Promise<Place>);

export function placeOf(source: PlaceSource, call?: Pick<CallOptions, "signal">): Place | Promise<Place> {
  return typeof source === "function" ? source(call) : source;
}
