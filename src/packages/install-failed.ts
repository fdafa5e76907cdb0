import type { Isolation } from "../policy/isolation.ts";
import { GloveboxError, type GloveboxErrorOptions } from "../errors/glovebox-error.ts";

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

/** The refusal where nothing keeps an installer from the host. */
export function refusedOnHost(specs: readonly string[], isolation: Isolation): GloveboxError {
  return installFailed(specs, "at isolation preload nothing keeps an installer from the host", {
    suggestion:
      "Use a container engine or a system with namespaces (`glovebox doctor` tells what is missing). The operator of this machine may allow it here too, without install scripts: `packages.install_at_preload` (`GLOVEBOX_PACKAGES_INSTALL_AT_PRELOAD=true`).",
    context: { isolation, setting: "packages.install_at_preload" },
  });
}
