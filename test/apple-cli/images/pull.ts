import { CommandError } from "../output/command-error.ts";
import { textOf, type DockerApi } from "../docker/docker-api.ts";
import type { ImageStore } from "./image-store.ts";
import type { Reference } from "./reference.ts";

const manifestTypes = [
  "application/vnd.oci.image.index.v1+json",
  "application/vnd.docker.distribution.manifest.list.v2+json",
  "application/vnd.oci.image.manifest.v1+json",
  "application/vnd.docker.distribution.manifest.v2+json",
];

const isLocal = (host: string): boolean => /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:\d+)?$/.test(host);

/** Digest that the registry has under the reference. */
async function askRegistry({ host, path, tag, digest }: Reference): Promise<string> {
  const url = `${isLocal(host) ? "http" : "https"}://${host}/v2/${path}/manifests/${digest ?? tag ?? "latest"}`;
  const refused = (status: string, reason: string): CommandError =>
    new CommandError("unknown", `HTTP request to ${url} failed with response: ${status}. Reason: ${reason}`);
  // Tests never reach Docker's own registry; this is its answer for everything that is missing or private.
  if (host === "docker.io") throw refused("401 Unauthorized", "authentication required");
  let response: Response;
  try {
    response = await fetch(url, { method: "GET", headers: { accept: manifestTypes.join(", ") } });
  } catch {
    throw new CommandError(
      "unknown",
      "The operation couldn\u2019t be completed. (NIOPosix.NIOConnectionError error 1.)",
    );
  }
  const text = await response.text();
  if (!response.ok) throw refused(`${response.status} ${response.statusText}`, text.trim());
  return response.headers.get("docker-content-digest") ?? "";
}

/** Fetches an image by its digest, so that Docker knows it only under the installation's own name. */
export async function pullImage(api: DockerApi, store: ImageStore, reference: Reference): Promise<void> {
  const digest = await askRegistry(reference);
  const source = `${reference.host}/${reference.path}@${digest}`;
  const answer = await textOf(await api.stream("POST", `/images/create?fromImage=${encodeURIComponent(source)}`));
  const failed = answer.split("\n").find((line) => line.includes('"error"'));
  if (failed !== undefined) throw new CommandError("unknown", (JSON.parse(failed) as { error: string }).error);
  await store.tag(encodeURIComponent(source), reference);
  // The name with the digest would otherwise stay when the image is deleted.
  await api.json("DELETE", `/images/${encodeURIComponent(source)}`).catch(() => undefined);
}
