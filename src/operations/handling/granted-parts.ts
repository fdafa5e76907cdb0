import { existingPlace } from "../../config/mounts/real-place.ts";
import { expandHome } from "../../config/mounts/expand-home.ts";
import type { LoadedMountPolicy } from "../../config/mounts/load-mount-policy.ts";
import { assertImageGranted } from "../../policy/grants/granted-images.ts";
import { assertNetworkGranted } from "../../policy/grants/granted-networks.ts";
import { grantedCeilings } from "../../policy/grants/granted-ceilings.ts";
import { agentImageFor } from "../../workloads/agent/image/agent-image.ts";
import type { Grant } from "../contract/grant.ts";
import { grantedEngines } from "./granted-engines.ts";
import type { PlatformParts } from "./platform-parts.ts";

/**
 * The platform as one call sees it under its grant: handlers see only the engines, ceilings, networks, secrets and
 * folders that it allows, so none has to check. Where the grant says nothing, the deployment's settings apply.
 */
export function grantedParts(parts: PlatformParts, grant: Grant): PlatformParts {
  const { config, network } = parts;
  const { networks, secrets } = grant;
  const images = {
    configured: configuredImages(config),
    granted: grant.images ?? [...config.allowedImages, ...config.templates.map(({ image }) => image)],
  };
  return {
    ...parts,
    ...(grant.engines === null ? {} : grantedEngines(parts, grant.engines)),
    config: {
      ...config,
      ceilings: grantedCeilings(config.ceilings, grant.ceilings),
      secrets: secrets === null ? config.secrets : config.secrets.filter(({ name }) => secrets.includes(name)),
    },
    assertNetworkAllowed: (policy, field) => {
      parts.assertNetworkAllowed(policy, field);
      if (networks !== null) assertNetworkGranted(policy, networks, field);
    },
    checkImage: (reference, field = "image") => {
      assertImageGranted(parts.checkImage(reference, field), images, field);
      return reference;
    },
    // Also for what a project's files name: a devcontainer, the FROM of a Dockerfile.
    provideImage: async (needed, ...rest) => {
      if (needed.origin === "configured") return parts.provideImage(needed, ...rest);
      assertImageGranted(
        needed.image,
        images,
        needed.origin === "project" ? "the image of the project's files" : "image",
      );
      return parts.provideImage({ ...needed, origin: "request" }, ...rest);
    },
    // Every network access goes through it, including those of an environment's preparation.
    network: {
      grant: async (policy, principal) => {
        if (networks !== null) assertNetworkGranted(policy, networks);
        return network.grant(policy, principal);
      },
    },
    loadMountPolicy: async () => boundMounts(await parts.loadMountPolicy(), grant.mountRoots, parts.host.homeDirectory),
  };
}

/** Those of single groups are their own, and so are templates that only this deployment has. */
function configuredImages({ images, templates, sessionBaseImage, agents }: PlatformParts["config"]): readonly string[] {
  const usual = templates.filter(({ isUsual }) => isUsual).map(({ image }) => image);
  const own = [...usual, sessionBaseImage];
  return [...new Set([...Object.values(images), ...own, agentImageFor(agents.agent, agents.image)])];
}

async function boundMounts(
  loaded: LoadedMountPolicy,
  mountRoots: Grant["mountRoots"],
  homeDirectory: string,
): Promise<LoadedMountPolicy> {
  if (mountRoots === null) return loaded;
  const places = await Promise.all(mountRoots.map((root) => existingPlace(expandHome(root, homeDirectory))));
  const within = places.filter((place) => place !== null);
  return { ...loaded, policy: { ...loaded.policy, within } };
}
