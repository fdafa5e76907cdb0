import { secretCheck } from "../base/http/token-proof.ts";
import type { Authenticate } from "./caller.ts";

/** The principal for callers without a key: the user of this process. */
const principal = "local";
export const localPrincipal: string = principal;

/** Accepts the user's token as the user; null: requires none, so every caller is the user. */
export function authenticateLocalUser(token: string | null): Authenticate {
  if (token === null) return () => ({ principal });
  const isToken = secretCheck(token);
  return (bearer) => (isToken(bearer) ? { principal } : null);
}
