import type { CallOptions } from "./call-options.ts";

/** The place that files and processes belong to, as named in requests. */
export type Place = { readonly sessionId: string } | { readonly envId: string };

/** A place that is known, or that is looked up before each call. */
export type PlaceSource = Place | ((call?: Pick<CallOptions, "signal">) => Promise<Place>);

export function placeOf(source: PlaceSource, call?: Pick<CallOptions, "signal">): Place | Promise<Place> {
  return typeof source === "function" ? source(call) : source;
}
