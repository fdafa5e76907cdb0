import { invalidField } from "../../errors/glovebox-error.ts";

/** Which place a request means, and in the same form, which one an answer is about. */
export interface PlaceFields {
  readonly env_id?: string | undefined;
  readonly session_id?: string | undefined;
}

/** The place of an answer. */
export type AboutPlace = { readonly env_id: string } | { readonly session_id: string };

/** @throws INVALID_REQUEST if a request names two places */
export function assertOnePlace({ env_id: environment, session_id: session }: PlaceFields): void {
  if (environment === undefined || session === undefined) return;
  throw invalidField("session_id", "to be left out beside env_id", session);
}
