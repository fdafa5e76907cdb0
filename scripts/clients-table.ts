import type { PythonCount } from "./python-suites.ts";
import { replaceMarked } from "./marked-section.ts";

/** What one client said on each engine. */
export interface ClientRow {
  readonly name: string;
  /** With its version. */
  readonly package: string;
  readonly engines: Readonly<Record<string, PythonCount>>;
}

/** What is kept of a program that did all it should and then aborted. */
export const abortedAtExit = "printed all, and ended with SIGABRT";

/** Why a test fails here, by its name or by what it said; the first that fits. */
const reasons: readonly (readonly [RegExp, string])[] = [
  [new RegExp(`^${abortedAtExit}$`), "aborts at its exit, in the native part of E2B's SDK"],
  [/pause|resume|autoPause/i, "needs pausing"],
  [/snapshot|fork/i, "needs snapshots or forks"],
  [/network|internet_access|allow_public_traffic|test_host|Name or service not known/i, "needs a network"],
  [/test_systemd|async_systemd/, "ends E2B's own server in the sandbox, which is none of ours"],
  [/got "(?:r|java)"|_(?:r|java)(?:_kernel)?$|test_(?:r|java) >/, "needs R or Java"],
  [/Installing ipython|custom_repr_object/, "needs IPython in the image"],
  [/test_get_image_on_save/, "shows a picture that Pillow only saves"],
  [/mcp_gateway/, "needs the MCP gateway"],
  [/normalizes_unset_tokens/, "calls a false server with a key that is none"],
  [/\/work|\/home\/user|'user'/, "expects the home `/home/user` and the user `user`"],
  [/RateLimitException/, "runs more at once than a sandbox may"],
  [
    /^tests\.(?:charts|images)\.|_(?:display_)?data >|_streaming >/,
    "draws with packages that this machine's Python lacks",
  ],
  [/code 127/, "needs a program of E2B's image"],
  [/Timeout|ConnectError|WriteError|connection/i, "ran out of time on this machine"],
];

/** The reason of a failed test. @throws Error for one that has none */
export function reasonOf({ test, message }: PythonCount["failed"][number]): string {
  const found = reasons.find(([form]) => form.test(test) || form.test(message));
  if (found === undefined) throw new Error(`No reason is known for ${test}: ${message}`);
  return found[1];
}

/** The text of docs/clients.md with the table of the clients. */
export function withClientsTable(text: string, rows: readonly ClientRow[]): string {
  const lines = rows.flatMap(({ name, package: version, engines }) =>
    Object.entries(engines).map(([engine, count]) => [
      ...[name, `\`${version}\``, engine],
      ...[count.passed, count.failed.length, count.skipped].map(String),
      reasonsOf(count),
    ]),
  );
  const head = ["client", "version", "engine", "passed", "failed", "skipped", "why they fail"];
  const table = [head, Array<string>(head.length).fill("---"), ...lines];
  return replaceMarked(text, "clients", table.map((cells) => `| ${cells.join(" | ")} |`).join("\n"));
}

function reasonsOf({ failed }: PythonCount): string {
  const counts = new Map<string, number>();
  for (const reason of failed.map(reasonOf)) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  return [...counts]
    .toSorted((one, other) => other[1] - one[1])
    .map(([reason, count]) => `${count} ${reason}`)
    .join("; ");
}
