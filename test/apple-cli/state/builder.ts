import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const builderFile = "builder";

/** Whether the container that builds images exists; it is listed with all others. */
export function hasBuilder(folder: string): boolean {
  return existsSync(join(folder, builderFile));
}

export function setBuilder(folder: string, there: boolean): void {
  if (there) writeFileSync(join(folder, builderFile), "");
  else rmSync(join(folder, builderFile), { force: true });
}
