import type { CallOptions } from "../../engines/engine.ts";
import { CopyBudget } from "../../sandbox/copy/copy-budget.ts";
import { HostFolder } from "../../sandbox/copy/host-folder.ts";
import { readHostTree } from "../../sandbox/copy/read-host-tree.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";
import { copyFolder } from "./inside/folders.ts";
import { ignoringFilter } from "./project/project-tree.ts";
import type { TestsSpec } from "./tests-spec.ts";

/** Files, folders and links of a project. */
const maxEntries = 100_000;

/**
 * Copies the project into the sandbox, which nothing ever writes back; resolves to what was left out of it. Links stay
 * links: where they lead is inside the sandbox.
 * @throws POLICY_DENIED for more than fits, and what reading the project throws
 */
export async function copyProject(
  spec: TestsSpec,
  sandbox: Sandbox,
  { signal, platform }: CallOptions & { readonly platform: NodeJS.Platform },
): Promise<readonly string[]> {
  const budget = new CopyBudget({ maxBytes: spec.limits.diskBytes, maxEntries });
  await using folder = await HostFolder.of(spec.project, platform);
  const filter = spec.includeIgnored ? undefined : ignoringFilter();
  await sandbox.files.writeTree(copyFolder, readHostTree(folder, budget, { filter }), { signal });
  return budget.warnings;
}
