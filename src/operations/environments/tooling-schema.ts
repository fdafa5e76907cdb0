import { z } from "zod";
import { toolingChanges } from "../contract/wire-values.ts";

/** Maximum number of files that one answer names. */
export const maxToolingFiles = 100;

/** Files run by the project owner's tools that programs have changed. */
export const toolingFilesSchema: z.ZodArray<
  z.ZodObject<{ path: z.ZodString; change: z.ZodEnum<{ new: "new"; changed: "changed"; removed: "removed" }> }>
> = z.array(
  z.object({
    path: z.string().describe("From the project's folder, or in an agent's container."),
    change: z.enum(toolingChanges),
  }),
);

/** One line per file, for an agent to read. */
export function toolingLines(files: z.output<typeof toolingFilesSchema> = []): readonly string[] {
  return files.map(({ path, change }) => `tooling file ${change}: ${path}`);
}
