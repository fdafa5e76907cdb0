import type { FileReader } from "../docker-api/http/client-files.ts";

/** The text of the first file with registry credentials that Podman's own client would read; null when there is none. */
export async function readRegistryCredentials(
  environment: Readonly<Record<string, string | undefined>>,
  files: Pick<FileReader, "read">,
): Promise<string | null> {
  const home = environment["HOME"] ?? environment["USERPROFILE"] ?? "";
  const runtime = environment["XDG_RUNTIME_DIR"];
  const chosen = environment["REGISTRY_AUTH_FILE"];
  const usual = [
    ...(runtime ? [`${runtime}/containers/auth.json`] : []),
    `${home}/.config/containers/auth.json`,
    `${environment["DOCKER_CONFIG"] || `${home}/.docker`}/config.json`,
  ];
  for (const path of chosen ? [chosen] : usual) {
    const text = await files.read(path);
    if (text !== null) return text;
  }
  return null;
}
