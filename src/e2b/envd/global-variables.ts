import type { E2bSandbox } from "../e2b-sandbox.ts";

/** Variables of every program of a sandbox. */
export function globalVariables({ id, template, envVars }: E2bSandbox): Readonly<Record<string, string>> {
  return { ...envVars, E2B_SANDBOX: "true", E2B_SANDBOX_ID: id, E2B_TEMPLATE_ID: template.name };
}
