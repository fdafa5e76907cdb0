import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseFileReport } from "../src/workloads/tests/report/summarise-reports.ts";
import { clientPrograms } from "./foreign-clients.ts";

/** Tests of others, in Python. */
export interface PythonSuite {
  readonly name: string;
  /** The package of the client that is tested. */
  readonly client: string;
  /** Its folder, below a checkout of one of E2B's repositories, or below that of the clients. */
  readonly of: "checkout" | "interpreter" | "clients";
  readonly folder: string;
  readonly words: readonly string[];
}

/** Without the files whose tests need no server, or only a false one. */
const notLive = ["test_config_propagation", "test_sync_client_lifecycle", "test_args", "test_parity"];

export const pythonSuites: readonly PythonSuite[] = [
  {
    name: "E2B's SDK, Python: its live tests",
    client: "e2b",
    of: "checkout",
    folder: "packages/python-sdk",
    words: [
      ...["-n", "2", ...notLive.map((name) => `--ignore-glob=**/${name}.py`), "tests/shared/git"],
      ...["sync", "async"].flatMap((kind) => [`tests/${kind}/api_${kind}`, `tests/${kind}/sandbox_${kind}`]),
    ],
  },
  {
    name: "E2B's code interpreter, Python: its tests",
    client: "e2b-code-interpreter",
    of: "interpreter",
    folder: "python",
    words: ["tests"],
  },
  {
    name: "LangChain's tests of sandboxes, on langchain-e2b",
    client: "langchain-e2b",
    of: "clients",
    folder: "programs",
    words: ["-o", "asyncio_mode=auto", "test_langchain_e2b.py"],
  },
];

/** What a suite said on an engine; a file that could not be read is among the failed. */
export interface PythonCount {
  readonly passed: number;
  readonly skipped: number;
  readonly failed: readonly { readonly test: string; readonly message: string }[];
}

/** Without blocking this process, which reads what the server says: the server would wait for it. */
export async function runPythonSuite(
  { of, folder, words }: PythonSuite,
  places: Readonly<Record<PythonSuite["of"] | "report", string>>,
  environment: NodeJS.ProcessEnv,
): Promise<PythonCount> {
  cpSync(clientPrograms, join(places.clients, "programs"), { recursive: true });
  const all = ["-q", "-p", "no:cacheprovider", "--tb=line", `--junitxml=${places.report}`, ...words];
  // Its exit code says that a test failed; the report says which.
  const suite = spawn(join(places.clients, "venv/bin/pytest"), all, {
    cwd: join(places[of], folder),
    stdio: ["ignore", "inherit", "inherit"],
    env: { ...environment, PYTHONDONTWRITEBYTECODE: "1" },
  });
  await once(suite, "exit");
  return countOf(readFileSync(places.report, "utf8"));
}

/** Reads a JUnit report. @throws for another form, and for one without tests */
export function countOf(text: string): PythonCount {
  const { tests } = parseFileReport(text, "/");
  if (tests.length === 0) throw new Error("The report has no tests.");
  const failed = tests.filter(({ status }) => status === "failed" || status === "error");
  return {
    passed: tests.filter(({ status }) => status === "passed").length,
    skipped: tests.filter(({ status }) => status === "skipped").length,
    failed: failed.map(({ suite, name, message }) => ({
      test: [...suite, name].join(" > "),
      message:
        (message ?? "")
          .split("\n", 1)[0]
          ?.replaceAll(/127\.0\.0\.1:\d+/g, "SERVER")
          .slice(0, 200) ?? "",
    })),
  };
}
