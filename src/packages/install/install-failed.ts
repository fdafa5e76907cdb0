import { GloveboxError, type GloveboxErrorOptions } from "../../errors/glovebox-error.ts";

/** The error of packages that cannot be installed; `reason` is one line. */
export function installFailed(
  packages: readonly string[],
  reason: string,
  options: GloveboxErrorOptions = {},
): GloveboxError {
  return new GloveboxError("PACKAGE_INSTALL_FAILED", `Installing ${packages.join(", ")} failed: ${reason}.`, {
    ...options,
    context: { packages, reason, ...options.context },
  });
}
