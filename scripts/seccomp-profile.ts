import { ociSeccompProfile } from "../src/policy/seccomp/engine-profile.ts";

/** The profile in the form that Docker and Podman read from a file. */
export function seccompProfileText(): string {
  return `${JSON.stringify(ociSeccompProfile(), null, 1)}\n`;
}
