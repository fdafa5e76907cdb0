import { relative } from "node:path";

/** The part of vitest's JSON report that is read here. */
interface Report {
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly message?: string;
    readonly assertionResults: readonly {
      readonly fullName: string;
      readonly status: string;
      readonly failureMessages?: readonly string[];
    }[];
  }[];
}

/** Lines of each failure's message that are shown. */
const messageLines = 30;

/** What failed in vitest's JSON report, and why: for the end of a long output, where it is not overlooked. */
export function failureReport(text: string, root: string): readonly string[] {
  return (JSON.parse(text) as Report).testResults.flatMap((file) => {
    const path = relative(root, file.name);
    const failed = file.assertionResults.filter((test) => test.status === "failed");
    if (failed.length === 0 && file.status === "failed") return [entry(path, file.message ?? "")];
    return failed.map((test) => entry(`${path} > ${test.fullName}`, (test.failureMessages ?? []).join("\n")));
  });
}

function entry(name: string, message: string): string {
  const lines = message.split("\n").slice(0, messageLines);
  return [`failed: ${name}`, ...lines.map((line) => `  ${line}`)].join("\n");
}
