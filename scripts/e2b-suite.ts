import { relative } from "node:path";
import { z } from "zod";

/** The commit of E2B's repository whose tests are counted. */
export const e2bCommit = "b8029973aa7da5f741f7bb1a9f833b38a0885438";

/** Files of its JavaScript SDK with tests that need a server; the others of their folders intercept all requests. */
export const liveFiles: readonly string[] = [
  ...["info", "kill", "list", "snapshot"].map((name) => `api/${name}`),
  ...["connect", "create", "fork", "host", "internetAccess", "kill", "lifecyclePayload", "metrics", "network"],
  ...["secure", "snapshot", "snapshot-api", "timeout"],
  ...["connect", "envVars", "kill", "list", "run", "sandboxKilledDuringRun", "sendStdin"].map(
    (name) => `commands/${name}`,
  ),
  ...["contentEncoding", "exists", "info", "list", "makeDir", "metadata", "read", "remove", "rename"].map(inFiles),
  ...["signing", "watch", "write"].map(inFiles),
  ...["add", "branches", "clone", "commit", "config", "dangerouslyAuthenticate", "init"].map(inGit),
  ...["remote", "reset", "restore", "status", "sync"].map(inGit),
  ...["kill", "ptyConnect", "ptyCreate", "resize", "sendInput"].map((name) => `pty/${name}`),
].map((name) => `tests/${name.startsWith("api/") ? "" : "sandbox/"}${name}.test.ts`);

function inFiles(name: string): string {
  return `files/${name}`;
}

function inGit(name: string): string {
  return `git/${name}`;
}

/** What one file of the suite said. */
export interface FileResult {
  /** Below `tests/`, without its ending. */
  readonly file: string;
  readonly passed: number;
  readonly skipped: number;
  /** Each with the first line of its error. */
  readonly failed: readonly { readonly name: string; readonly message: string }[];
}

export interface ClientResults {
  readonly commit: string;
  readonly engines: Readonly<Record<string, readonly FileResult[]>>;
}

const reportSchema = z.object({
  testResults: z.array(
    z.object({
      name: z.string(),
      message: z.string().optional(),
      assertionResults: z.array(
        z.object({ fullName: z.string(), status: z.string(), failureMessages: z.array(z.string()).optional() }),
      ),
    }),
  ),
});

const maxMessage = 160;

/** Reads the report of Vitest's reporter `json`. A file that could not run counts as one that failed. @throws for another form */
export function parseSuiteReport(text: string, suite: string): readonly FileResult[] {
  const { testResults } = reportSchema.parse(JSON.parse(text));
  return testResults
    .map(({ name, message = "", assertionResults }) => {
      const of = (status: string): typeof assertionResults => assertionResults.filter((each) => each.status === status);
      const passed = of("passed");
      const failed = of("failed").map(({ fullName, failureMessages = [] }) => ({
        name: fullName,
        message: firstLine(failureMessages[0] ?? ""),
      }));
      const couldNotRun = assertionResults.length === 0 ? [{ name: "the file", message: firstLine(message) }] : [];
      return {
        file: relative(`${suite}/tests`, name).replace(/\.test\.ts$/, ""),
        passed: passed.length,
        skipped: assertionResults.length - passed.length - failed.length,
        failed: [...failed, ...couldNotRun],
      };
    })
    .toSorted((one, other) => (one.file < other.file ? -1 : 1));
}

/** Without what differs from run to run: ids and addresses. */
function firstLine(message: string): string {
  const [line = ""] = message.split("\n", 1);
  return line
    .replaceAll(/\bi[a-z0-9]{20}\b/g, "ID")
    .replaceAll(/127\.0\.0\.1:\d+/g, "SERVER")
    .slice(0, maxMessage);
}
