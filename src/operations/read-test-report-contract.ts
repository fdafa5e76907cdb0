import { z } from "zod";
import { defineOperation } from "./contract/operation-contract.ts";

/** Request of `read_test_report`. */
const readTestReportRequestSchema = z.strictObject({
  id: z.string().min(1).max(128).describe("The sandbox_id of a test run's result."),
});

/** Response of `read_test_report`. */
const readTestReportResponseSchema = z.object({
  sandbox_id: z.string(),
  ctrf: z.string().describe("Every test in the Common Test Report Format, as JSON."),
});

export type ReadTestReportResponse = z.output<typeof readTestReportResponseSchema>;

/** `read_test_report`: every test of an earlier run, which its own answer left out. */
export const readTestReportContract = defineOperation({
  name: "read_test_report",
  audience: "everyone",
  description:
    "Reads the whole report of a test run that has ended: every test with its name, status, duration and file. It is kept in the store for as long as runs are, or where nothing is stored in the memory of the process, the newest 16 MiB, compressed.",
  request: readTestReportRequestSchema,
  response: readTestReportResponseSchema,
  routes: [{ method: "GET", path: "/api/sandbox/{id}/tests" }],
});
