import type { RunTestsResponse } from "../operations/tests-contract.ts";

/** Null unless it is the result of a test run. */
export function readTestResult(result: unknown): RunTestsResponse | null {
  if (typeof result !== "object" || result === null) return null;
  const { verdict, failures } = result as Partial<RunTestsResponse>;
  return typeof verdict === "string" && Array.isArray(failures) ? (result as RunTestsResponse) : null;
}
