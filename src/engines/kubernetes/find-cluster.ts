import { readFile } from "node:fs/promises";
import { ownCluster, readKubeconfig, serviceAccountFolder, type ClusterAccess, type ConfigFile } from "./kubeconfig.ts";
import { configFault, noCluster } from "./kubernetes-errors.ts";
import type { KubernetesSettings } from "./settings.ts";

/** The cluster that the deployment names, or the one that this process runs in. @throws ENGINE_UNAVAILABLE */
export async function findCluster(
  { configFiles, context, namespace }: KubernetesSettings,
  environment: Readonly<Record<string, string>>,
): Promise<ClusterAccess> {
  const files = (await Promise.all(configFiles.map(readConfigFile))).filter((file) => file !== null);
  if (files.length > 0) return readKubeconfig(files, { context, namespace });
  const host = environment["KUBERNETES_SERVICE_HOST"];
  if (host === undefined) throw noCluster();
  const own = await readFile(`${serviceAccountFolder}/namespace`, "utf8").catch(() => "default");
  return ownCluster(host, environment["KUBERNETES_SERVICE_PORT"] ?? "443", namespace ?? own.trim());
}

async function readConfigFile(path: string): Promise<ConfigFile | null> {
  try {
    return { path, text: await readFile(path, "utf8") };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw configFault("it cannot be read", undefined, error);
  }
}
