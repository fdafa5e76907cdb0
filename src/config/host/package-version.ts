import { readFileSync } from "node:fs";

/** Version of this package, from its manifest: the same place for sources and for the built package. */
export function readPackageVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL("../../../package.json", import.meta.url), "utf8"));
  return (manifest as { version: string }).version;
}
