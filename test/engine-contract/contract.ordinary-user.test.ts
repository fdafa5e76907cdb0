import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { OrdinaryUser, ordinaryUserFault } from "../helpers/ordinary-user.ts";
import { skipOrFail } from "../helpers/require.ts";
import { ordinaryUserSubject } from "./ordinary-user-subject.ts";
import { topics } from "./topics.ts";

/** What depends on who owns which process; the rest is the same for every user. */
const tried = [
  "ending",
  "privileges",
  "scratch",
  "network",
  "connect",
  "streams",
  "kept streams",
  "memory",
  "limits",
  "shares of users",
  "exact kill",
  "edges of the exact kill",
  "stopped helpers",
  "process tree",
  "cohabitant",
  "variables",
  "the subject",
];

const suiteMs = 400_000;

interface Report {
  readonly testResults: readonly { readonly assertionResults: readonly Result[] }[];
}

interface Result {
  readonly ancestorTitles: readonly string[];
  readonly title: string;
  readonly status: "passed" | "failed" | "skipped" | "pending" | "todo";
  readonly failureMessages: readonly string[];
}

describe("the contract of the embedded engine, kept for an ordinary user", () => {
  const fault = ordinaryUserFault();
  let user: OrdinaryUser | undefined;
  let results: readonly Result[] = [];
  let said = "";

  beforeAll(async () => {
    if (fault !== null) return;
    user = new OrdinaryUser();
    const report = join(user.home, "report.json");
    const pattern = `^engine contract: ${ordinaryUserSubject.name}\\W+(${tried.join("|")})\\W`;
    const { stderr } = await user.run(
      // Neither writes into node_modules, which do not belong to the user.
      ["vitest", "run", "--configLoader=native", "--cache=false"].concat(
        ["test/engine-contract/contract.local.test.ts", "--testNamePattern", pattern],
        ["--reporter=json", `--outputFile.json=${report}`],
      ),
      suiteMs,
    );
    said = stderr;
    // There is none when its time was up: each topic then fails below.
    if (!existsSync(report)) return;
    const { testResults } = JSON.parse(readFileSync(report, "utf8")) as Report;
    results = testResults.flatMap(({ assertionResults }) => assertionResults);
  }, suiteMs + 10_000);

  afterAll(() => user?.[Symbol.dispose]());

  it.for(tried)("%s", (topic, context) => {
    if (fault !== null) skipOrFail(context, "ordinary-user", fault);
    const own = results.filter(({ ancestorTitles }) => ancestorTitles.at(-1) === topic);
    const failed = own.filter(({ status }) => status === "failed");
    expect(failed.map(({ title, failureMessages }) => `${title}: ${failureMessages.join("\n")}`)).toEqual([]);
    expect(own.filter(({ status }) => status === "passed").length, said).toBeGreaterThan(0);
  });

  it("tries topics that exist", () => {
    expect(Object.keys(topics).concat("the subject")).toEqual(expect.arrayContaining(tried));
  });
});
