import { relative } from "node:path";

/** The part of vitest's JSON report that is read here. */
interface Report {
  readonly testResults: readonly {
    readonly name: string;
    readonly assertionResults: readonly {
      readonly fullName: string;
      readonly status: string;
      readonly failureMessages?: readonly string[];
    }[];
  }[];
}

/** Tests that passed when they were tried again, each with the first line of its earlier failure. */
export function retryReport(text: string, root: string): readonly string[] {
  return (JSON.parse(text) as Report).testResults.flatMap((file) =>
    file.assertionResults
      .filter(({ status, failureMessages = [] }) => status === "passed" && failureMessages.length > 0)
      .map(({ fullName, failureMessages: [message = ""] = [] }) => {
        const [reason = ""] = message.split("\n");
        return `retried: ${relative(root, file.name)} > ${fullName}\n  ${reason}`;
      }),
  );
}
