import { secretCheck } from "../../base/http/same-secret.ts";
import type { Authenticate } from "./caller.ts";

/** The principal of everybody who reaches this process without a key of their own: its user. */
const principal = "local";
export const localPrincipal: string = principal;

/** Takes the user's token for the user; null: asks for none, so that everybody is. */
export function authenticateLocalUser(token: string | null): Authenticate {
  if (token === null) return () => ({ principal });
  const isToken = secretCheck(token);
  return (bearer) => (isToken(bearer) ? { principal } : null);
}
