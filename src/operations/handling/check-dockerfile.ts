import { GloveboxError, invalidField } from "../../errors/glovebox-error.ts";
import type { PlatformParts } from "./platform-parts.ts";

interface DockerfileRequest {
  readonly dockerfile?: boolean | undefined;
  readonly image?: string | undefined;
}

/**
 * Whether to build the project's Dockerfile: only if both the request and the deployment allow it (SPEC TE4).
 * @throws POLICY_DENIED if the deployment does not, INVALID_REQUEST if an image is given too
 */
export function checkDockerfile(
  { dockerfile = false, image }: DockerfileRequest,
  { buildDockerfiles, prebuiltOnly }: Pick<PlatformParts["config"], "buildDockerfiles" | "prebuiltOnly">,
): boolean {
  if (!dockerfile) return false;
  if (image !== undefined) throw invalidField("dockerfile", "either `dockerfile` or `image`", "both");
  if (buildDockerfiles && !prebuiltOnly) return true;
  const rule = buildDockerfiles ? "prebuilt_only" : "build_dockerfiles";
  throw new GloveboxError("POLICY_DENIED", `This deployment builds no Dockerfiles of projects (${rule}).`, {
    suggestion: "Name an `image` that has what the project needs, or have the operator set build_dockerfiles to true.",
    context: { field: "dockerfile", rule },
  });
}
