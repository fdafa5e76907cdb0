/** Who sends, as far as Glovebox knows it by itself. */
export interface Sender {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly version: string;
  readonly instance: string;
}

/**
 * Who sends: the service, its version and this process of it; then what `OTEL_RESOURCE_ATTRIBUTES` (`name=value,...`, with
 * percent-encoded values) and `OTEL_SERVICE_NAME` say. Nothing of the machine is looked up.
 */
export function resourceAttributes({ environment, version, instance }: Sender): Record<string, string> {
  const given = (environment["OTEL_RESOURCE_ATTRIBUTES"] ?? "").split(",").flatMap((pair) => {
    const [name = "", ...rest] = pair.split("=");
    const value = decoded(rest.join("=").trim());
    return name.trim() === "" || rest.length === 0 || value === null ? [] : [[name.trim(), value] as const];
  });
  const service = environment["OTEL_SERVICE_NAME"] ?? "";
  return {
    "service.name": "glovebox",
    "service.version": version,
    "service.instance.id": instance,
    ...Object.fromEntries(given),
    ...(service === "" ? {} : { "service.name": service }),
  };
}

function decoded(value: string): string | null {
  try {
    return decodeURIComponent(value);
  } catch {
    return null;
  }
}
