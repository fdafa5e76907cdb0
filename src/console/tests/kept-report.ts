import { useEffect, useState } from "preact/hooks";
import type { ReadTestReportResponse } from "../../operations/tests/read-test-report-contract.ts";
import { ask, sandboxPath } from "../api/ask.ts";

/** A whole report as the server keeps it. */
export interface KeptReport {
  readonly ctrf: string | undefined;
  readonly isAwaited: boolean;
}

/** The report of a sandbox's tests that is kept on the server; null: none is wanted. */
export function useKeptReport(id: string | null): KeptReport {
  const [report, setReport] = useState<KeptReport>({ ctrf: undefined, isAwaited: id !== null });
  useEffect(() => {
    if (id === null) return undefined;
    const gone = new AbortController();
    const read = async (): Promise<void> => {
      const { signal } = gone;
      const answer = await ask<ReadTestReportResponse>("GET", sandboxPath(id, "/tests"), { signal }).catch(() => null);
      if (!signal.aborted) setReport({ ctrf: answer?.ctrf, isAwaited: false });
    };
    void read();
    return () => gone.abort();
  }, [id]);
  return report;
}
