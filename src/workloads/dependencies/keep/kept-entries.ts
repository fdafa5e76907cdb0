import { dirname, join } from "node:path/posix";
import type { CallOptions } from "../../../engines/engine.ts";
import { GloveboxError } from "../../../errors/glovebox-error.ts";
import { workFolder } from "../../../policy/scratch.ts";
import type { CopyBudget } from "../../../sandbox/copy/copy-budget.ts";
import { counted } from "../../../sandbox/copy/tree-out.ts";
import type { NewTreeEntry, TreeEntry } from "../../../sandbox/files/file-facts.ts";
import type { SandboxFiles } from "../../../sandbox/files/sandbox-files.ts";

/** Segments of a path. */
const maxDepth = 64;

/**
 * What is kept of an installer's working folder: files, folders and links at and below `kept`, within the budget,
 * without setuid and setgid bits. Each is read separately, so that no file is a hard link to a download next to them.
 * The tree was created by untrusted code.
 * @throws POLICY_DENIED for more than the budget or for deeper folders, what `SandboxFiles.readTree` throws
 */
export async function* keptEntries(
  files: Pick<SandboxFiles, "readTree">,
  kept: readonly string[],
  { budget, signal }: CallOptions & { readonly budget: CopyBudget },
): AsyncGenerator<NewTreeEntry, void, undefined> {
  for (const place of kept) {
    try {
      let base: string | undefined;
      for await (const entry of files.readTree(`${workFolder}/${place}`, { signal })) {
        // Anything but a folder comes as a single entry, under its own name.
        base ??= entry.path === "" ? place : dirname(place);
        yield* placed(entry, base, budget);
      }
    } catch (error) {
      if (!(error instanceof GloveboxError) || error.errorType !== "NOT_FOUND") throw error;
    }
  }
}

/** The entry below the working folder; none if it is left out. */
function* placed(entry: TreeEntry, base: string, budget: CopyBudget): Generator<NewTreeEntry, void, undefined> {
  const path = join(base, entry.path);
  if (path.split("/").length > maxDepth) throw tooDeep(path);
  if (entry.kind === "other") budget.skip(path, "neither a file, a folder nor a link");
  else if (entry.kind === "file") yield { ...counted(entry, budget), path, mode: entry.mode & 0o777 };
  else {
    budget.take(0);
    const target = entry.kind === "hard-link" ? { target: join(base, entry.target) } : {};
    // A folder that its owner cannot enter could not be filled again.
    yield { ...entry, ...target, path, mode: (entry.mode & 0o777) | (entry.kind === "folder" ? 0o700 : 0) };
  }
}

function tooDeep(path: string): GloveboxError {
  return new GloveboxError(
    "POLICY_DENIED",
    `${JSON.stringify(path.slice(0, 200))} has folders more than ${maxDepth} deep.`,
  );
}
