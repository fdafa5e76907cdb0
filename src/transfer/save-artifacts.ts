import type { ExecuteResponse } from "../operations/execute/execute-contract.ts";
import { CopyBudget } from "../sandbox/copy/copy-budget.ts";
import { HostFolder } from "../sandbox/copy/host-folder.ts";
import { TreeWriter } from "../sandbox/copy/tree-writer.ts";

type Artifact = NonNullable<ExecuteResponse["artifacts"]>[number];

/** A program's files that were saved on this machine, and what was left out. */
export interface SavedArtifacts {
  /** Relative to the folder. */
  readonly saved: readonly string[];
  /** One sentence for each kind of thing that was left out. */
  readonly warnings: readonly string[];
}

/**
 * Writes the result files of a program below a folder of this machine, and nowhere else, as their names are untrusted.
 * An existing file is replaced.
 * @throws POLICY_DENIED for a name that leads out, INVALID_REQUEST, PERMISSION_DENIED
 */
export async function saveArtifacts(
  artifacts: readonly Artifact[],
  folder: string,
  { platform, nowMs }: { readonly platform: NodeJS.Platform; readonly nowMs: number },
): Promise<SavedArtifacts> {
  const budget = new CopyBudget({});
  const saved: string[] = [];
  const warnings: string[] = [];
  await using root = await HostFolder.open(folder, platform);
  await using writer = new TreeWriter(root, { budget, platform });
  const modifiedAtMs = nowMs;
  for (const { path: name, encoding, content, omitted } of artifacts) {
    if (omitted !== undefined) {
      warnings.push(`${name} was not saved: ${omitted}`);
      continue;
    }
    const bytes = Buffer.from(content, encoding);
    for (const parent of parentsOf(name)) {
      await writer.write({ kind: "folder", path: parent, mode: 0o755, modifiedAtMs }, []);
    }
    const chunks = ReadableStream.from([bytes]);
    await writer.write({ kind: "file", path: name, mode: 0o644, modifiedAtMs, sizeBytes: bytes.length, chunks }, []);
    saved.push(name);
  }
  return { saved, warnings: [...warnings, ...budget.warnings] };
}

/** `a` and `a/b` of `a/b/c.txt`. */
function parentsOf(name: string): readonly string[] {
  const names = name.split("/").slice(0, -1);
  return names.map((_, index) => names.slice(0, index + 1).join("/"));
}
