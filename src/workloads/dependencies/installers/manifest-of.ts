import type { InputFiles } from "./installer.ts";

/** `package.json`; empty if it is invalid, which the installer reports. */
export function manifestOf(files: InputFiles): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(files["package.json"] ?? "");
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Readonly<Record<string, unknown>>)
      : {};
  } catch {
    return {};
  }
}
