type Variables = Readonly<Record<string, string>>;

/** What installers are told beside what the network's own variables tell all programs. */
export function installerVariables(network: Variables): Variables {
  const registry = network["npm_config_registry"];
  const proxy = network["http_proxy"];
  return {
    // The project's history, of which versions are made, is not in its copy.
    SETUPTOOLS_SCM_PRETEND_VERSION: "0.0.0",
    // Both generations of Yarn read no variable of npm's for it: the first is of Yarn 1, the second of later ones.
    ...(registry === undefined
      ? {}
      : { yarn_registry: registry, YARN_NPM_REGISTRY_SERVER: registry.replace(/\/$/, "") }),
    ...(proxy === undefined ? {} : { YARN_HTTP_PROXY: proxy, YARN_HTTPS_PROXY: proxy }),
  };
}
