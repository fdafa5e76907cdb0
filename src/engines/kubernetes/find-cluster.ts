import { ownCluster, readKubeconfig, serviceAccountFolder, type ClusterAccess, type ConfigFile } from "./kubeconfig.ts";
import { configFault, noCluster } from "./kubernetes-errors.ts";
import { readConfigText } from "./read-config-text.ts";
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
  const own = await readConfigText(`${serviceAccountFolder}/namespace`).catch(() => "default");
  return ownCluster(host, environment["KUBERNETES_SERVICE_PORT"] ?? "443", namespace ?? own.trim());
}

async function readConfigFile(path: string): Promise<ConfigFile | null> {
  try {
    return { path, text: await readConfigText(path) };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return null;
    throw configFault(`${path} cannot be read: ${message.slice(0, 200)}`, undefined, error);
  }
}
