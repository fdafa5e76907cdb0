import { KubernetesApi } from "../../src/engines/kubernetes/kubernetes-api.ts";
import { findCluster } from "../../src/engines/kubernetes/kubernetes-engine.ts";
import { readSettings } from "../../src/engines/kubernetes/cluster-settings.ts";

/** Variables that lead to the cluster of the tests; its network is accepted unless they say otherwise. */
export function clusterEnvironment(variables: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> {
  const namespace = process.env["GLOVEBOX_KUBERNETES_NAMESPACE"];
  return {
    ...(namespace === undefined ? {} : { GLOVEBOX_KUBERNETES_NAMESPACE: namespace }),
    KUBECONFIG: process.env["GLOVEBOX_TEST_KUBECONFIG"] ?? "",
    GLOVEBOX_KUBERNETES_ACCEPT: "network",
    PATH: process.env["PATH"] ?? "",
    ...variables,
  };
}

/** The cluster itself, by these variables. */
export function clusterApi(environment: Readonly<Record<string, string>>): KubernetesApi {
  const settings = readSettings(environment, process.arch);
  return new KubernetesApi({ environment, now: Date.now, findCluster: () => findCluster(settings, environment) });
}
