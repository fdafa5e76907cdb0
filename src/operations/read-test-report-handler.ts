import { GloveboxError } from "../errors/glovebox-error.ts";
import { unpackReport } from "../workloads/tests/report/packed-report.ts";
import { handle } from "./handling/handler.ts";
import { readTestReportContract } from "./read-test-report-contract.ts";

/** `read_test_report`: from the store, or where there is none from the memory of this process. */
export const readTestReportHandler = handle(readTestReportContract, async ({ testReports }, { id }, { principal }) => {
  const packed = await testReports.find({ id, principal });
  if (packed !== null) return { sandbox_id: id, ctrf: await unpackReport(packed) };
  throw new GloveboxError("NOT_FOUND", `No report of tests is kept of ${JSON.stringify(id)}.`, {
    suggestion:
      "Give the sandbox_id of a test run that was counted by a report; without a store only this process knows it.",
    context: { sandbox_id: id },
  });
});
