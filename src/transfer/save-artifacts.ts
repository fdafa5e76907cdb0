import type { ExecuteResponse } from "../operations/execute-contract.ts";
import { CopyBudget } from "../sandbox/copy/copy-budget.ts";
import { makeOnHost } from "../sandbox/copy/find-on-host.ts";
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
 * Writes the result files of a program below a folder of this machine (an absolute path; made if it is missing), and
 * nowhere else, as their names are untrusted. An existing file is replaced. No link is followed on the way to the folder
 * either: a sandbox that has one of the folders above as a mount could put it there, or swap it in meanwhile.
 * @throws POLICY_DENIED for a name that leads out, INVALID_REQUEST, PERMISSION_DENIED
 */
export async function saveArtifacts(
  artifacts: readonly Artifact[],
  folder: string,
  { platform, nowMs }: { readonly platform: NodeJS.Platform; readonly nowMs: number },
): Promise<SavedArtifacts> {
  const budget = new CopyBudget({});
  const saved: string[] = [];
  await using root = await makeOnHost(folder, platform);
  await using writer = new TreeWriter(root, { budget, platform });
  const modifiedAtMs = nowMs;
  for (const { path: name, encoding, content, omitted } of artifacts) {
    // The answer's own warnings name them.
    if (omitted !== undefined) continue;
    const bytes = Buffer.from(content, encoding);
    for (const parent of parentsOf(name)) {
      await writer.write({ kind: "folder", path: parent, mode: 0o755, modifiedAtMs }, []);
    }
    const chunks = ReadableStream.from([bytes]);
    await writer.write({ kind: "file", path: name, mode: 0o644, modifiedAtMs, sizeBytes: bytes.length, chunks }, []);
    saved.push(name);
  }
  return { saved, warnings: budget.warnings };
}

/** `a` and `a/b` of `a/b/c.txt`. */
function parentsOf(name: string): readonly string[] {
  const names = name.split("/").slice(0, -1);
  return names.map((_, index) => names.slice(0, index + 1).join("/"));
}
