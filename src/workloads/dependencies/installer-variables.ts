type Variables = Readonly<Record<string, string>>;

/**
 * Variables for installers, in addition to the network's variables for all programs. `version`: those that replace a
 * version from the project's history, which is not in its copy; default: what the commonest tools read.
 */
export function installerVariables(
  network: Variables,
  version: Variables = { SETUPTOOLS_SCM_PRETEND_VERSION: "0.0.0" },
): Variables {
  const registry = network["npm_config_registry"];
  const proxy = network["http_proxy"];
  return {
    ...version,
    // Yarn does not read npm's variable for it: the first one is for Yarn 1, the second for later versions.
    ...(registry === undefined
      ? {}
      : { yarn_registry: registry, YARN_NPM_REGISTRY_SERVER: registry.replace(/\/$/, "") }),
    ...(proxy === undefined ? {} : { YARN_HTTP_PROXY: proxy, YARN_HTTPS_PROXY: proxy }),
  };
}
