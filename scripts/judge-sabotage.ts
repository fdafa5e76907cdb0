/** The part of vitest's JSON report that is read here. */
interface Report {
  readonly testResults: readonly {
    readonly message?: string;
    readonly assertionResults: readonly { readonly status: string; readonly failureMessages?: readonly string[] }[];
  }[];
}

/**
 * What a run of the chosen tests says: "passed" (at least one ran and none failed), "caught" (one failed by an
 * assertion), or why it proves nothing.
 */
export function judgeSabotage(text: string | null): string {
  if (text === null) return "vitest wrote no report";
  const files = (JSON.parse(text) as Report).testResults;
  const tests = files.flatMap((file) => file.assertionResults).filter(({ status }) => /^(passed|failed)$/.test(status));
  const failures = tests
    .filter(({ status }) => status === "failed")
    .map((test) => (test.failureMessages ?? []).join("\n"));
  if (failures.some((message) => /^(AssertionError|Error: (expect|promise (resolved|rejected) ))/.test(message)))
    return "caught";
  if (failures.length > 0) return `it fails, but not by an assertion: ${failures[0]?.split("\n")[0] ?? ""}`;
  if (tests.length === 0) return `no test ran ${files.map((file) => file.message ?? "").join(" ")}`.trim();
  return "passed";
}
