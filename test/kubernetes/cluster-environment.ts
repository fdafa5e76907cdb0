/** Variables that lead to the cluster of the tests; its network is accepted unless they say otherwise. */
export function clusterEnvironment(variables: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> {
  return {
    KUBECONFIG: process.env["GLOVEBOX_TEST_KUBECONFIG"] ?? "",
    GLOVEBOX_KUBERNETES_ACCEPT: "network",
    PATH: process.env["PATH"] ?? "",
    ...variables,
  };
}
