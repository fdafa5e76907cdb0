import { isolatedPython } from "../../../sandbox/isolated-python.ts";
import type { CallOptions } from "../../../engines/engine.ts";
import { runSandboxCommand } from "../../../sandbox/sandbox-command.ts";
import type { Sandbox } from "../../../sandbox/sandbox.ts";

/** What a sandbox's Python has of its own, and what is in the working folder: nobody else's packages. */
export interface OwnModules {
  /** Names of distributions, in the usual form. */
  readonly distributions: ReadonlySet<string>;
  /** Python files at the top of the working folder; its folders count as packages. */
  readonly paths: readonly string[];
}

const program = `
import importlib.metadata, json, os, sys
names = [d.metadata["Name"] or "" for d in importlib.metadata.distributions()]
paths = [e.name + "/__init__.py" if e.is_dir() else e.name for e in os.scandir(sys.argv[1])]
print(json.dumps([names[:5000], paths[:5000]]))
`;

/** Asks the sandbox's Python; what is not available counts as nothing. @throws CANCELLED, SANDBOX_LOST */
export async function ownModules(
  sandbox: Pick<Sandbox, "exec" | "folderOf" | "capabilities">,
  { folder, signal }: CallOptions & { readonly folder: string },
): Promise<OwnModules> {
  const command = [...isolatedPython(sandbox.capabilities), "-c", program, sandbox.folderOf(folder)];
  const { stdout } = await runSandboxCommand(
    sandbox,
    { command, maxOutputBytes: 1_000_000, timeLimitMs: 20_000 },
    { signal },
  );
  const [names, paths] = parse(stdout.text());
  return { distributions: new Set(names.map((name) => name.toLowerCase().replaceAll(/[-_.]+/g, "-"))), paths };
}

/** Only strings are accepted: the program chooses the names of its files. */
function parse(text: string): readonly [readonly string[], readonly string[]] {
  let answer: unknown;
  try {
    answer = JSON.parse(text);
  } catch {
    // Cut off, or there is no Python: then nothing is known.
    return [[], []];
  }
  const [names, paths] = Array.isArray(answer) ? (answer as unknown[]) : [];
  return [strings(names), strings(paths)];
}

function strings(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === "string") : [];
}
