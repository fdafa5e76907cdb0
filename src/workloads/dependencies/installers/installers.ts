import type { Installer, InstallerName } from "./installer.ts";
import { bun, npm, pnpm, yarn } from "./javascript.ts";
import { poetry, pyproject, requirements, uv } from "./python.ts";

/** Every installer. */
export const installers: Readonly<Record<InstallerName, Installer>> = {
  bun,
  pnpm,
  yarn,
  npm,
  uv,
  poetry,
  requirements,
  pyproject,
};
