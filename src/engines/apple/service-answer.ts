import { parseObject, textAt } from "./json.ts";

/** Whether the answer of `system status` says that the service runs; its other fields differ with the version. */
export function isServiceRunning(text: string): boolean {
  return textAt(parseObject(text), "status") === "running";
}

export interface CommandVersion {
  /** Such as `1.2.2`. */
  readonly text: string;
  readonly major: number;
  readonly build: string | undefined;
}

const versionForm = /^container CLI version (\d{1,4})((?:\.\d{1,4}){1,2}[\w.+-]*)(?:.*\bcommit: (\w{1,40}))?/m;

/** What `container --version` says; null when that is another program's. */
export function parseVersion(text: string): CommandVersion | null {
  const [, major, rest, build] = versionForm.exec(text) ?? [];
  if (major === undefined || rest === undefined) return null;
  return { text: `${major}${rest}`, major: Number(major), build };
}
