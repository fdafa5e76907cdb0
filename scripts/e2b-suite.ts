import { execFileSync } from "node:child_process";
import { relative } from "node:path";
import { z } from "zod";

/** Tests of others that run, unmodified, against `glovebox serve --e2b`. */
export interface ClientSuite {
  /** In bench/results/clients.json, in the markers of docs/clients.md, and on the command line. */
  readonly name: string;
  /** The environment variable that names a checkout of its repository, at the commit. */
  readonly variable: string;
  readonly commit: string;
  /** Below the checkout, with its dependencies installed. */
  readonly folder: string;
  /** What Vitest is to run of it. */
  readonly words: readonly string[];
}

/** Files of E2B's JavaScript SDK with tests that need a server; the others of their folders intercept all requests. */
const liveFiles: readonly string[] = [
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

/** Its checkout has the tests in Python as well. */
const e2bSuite: ClientSuite = {
  name: "e2b-suite",
  variable: "GLOVEBOX_TEST_E2B",
  commit: "b8029973aa7da5f741f7bb1a9f833b38a0885438",
  folder: "packages/js-sdk",
  words: ["--project", "unit", ...liveFiles],
};

export const clientSuites: readonly ClientSuite[] = [
  e2bSuite,
  {
    name: "interpreter-suite",
    variable: "GLOVEBOX_TEST_E2B_INTERPRETER",
    commit: "7df1757bfd5baa037f909ce97c2dbe014da973c0",
    folder: "js",
    words: [],
  },
];

/** @throws Error if the checkout is another one or was changed */
export function assertUnmodified(checkout: string, { variable, commit: expected }: ClientSuite): void {
  const git = (...words: string[]): string => execFileSync("git", ["-C", checkout, ...words], { encoding: "utf8" });
  const commit = git("rev-parse", "HEAD").trim();
  if (commit !== expected) throw new Error(`${variable}: expected the commit ${expected}, got ${commit}`);
  if (git("status", "--porcelain", "--untracked-files=no") !== "")
    throw new Error(`${variable}: expected an unmodified checkout`);
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

/** What a suite said on each engine. */
export interface SuiteResults {
  readonly commit: string;
  readonly engines: Readonly<Record<string, readonly FileResult[]>>;
}

/** By the suite's name. */
export type ClientResults = Readonly<Record<string, SuiteResults>>;

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

function inFiles(name: string): string {
  return `files/${name}`;
}

function inGit(name: string): string {
  return `git/${name}`;
}

/** Waits until sandboxes of both of the SDKs' templates can be made: their images are built at the server's start. */
export async function haveImages(url: string, key: string): Promise<void> {
  const headers = { "x-api-key": key };
  for (const templateID of ["base", "code-interpreter-v1"]) {
    for (let status = 503; status === 503;) {
      const response = await fetch(`${url}/v2/sandboxes`, {
        method: "POST",
        headers,
        body: JSON.stringify({ templateID }),
      });
      ({ status } = response);
      const { sandboxID: id, message } = (await response.json()) as { sandboxID?: string; message?: string };
      if (id !== undefined) await fetch(`${url}/sandboxes/${id}`, { method: "DELETE", headers });
      else if (status !== 503) throw new Error(`${templateID}: ${message ?? status}`);
    }
  }
}
