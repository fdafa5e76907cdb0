import type { Endpoint, TlsMaterial } from "../docker-api/http/endpoint.ts";
import { parseAddress } from "../docker-api/http/parse-address.ts";
import type { Unavailability } from "../docker-api/http/unavailability.ts";

/**
 * The endpoint that an address names, or why it cannot be used (`parseAddress`). `tls` null: plain, but for `https://`.
 */
export function parseDockerHost(
  address: string,
  { origin, tls }: { readonly origin: string; readonly tls: TlsMaterial | null },
): Endpoint | Unavailability {
  return parseAddress(address, {
    origin,
    tls,
    title: "Docker",
    variable: "DOCKER_HOST",
    socketPath: "/var/run/docker.sock",
    // Docker's own convention.
    ports: { plain: 2375, tls: 2376 },
    overSsh: true,
  });
}
