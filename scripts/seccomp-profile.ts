import { ociSeccompProfiles } from "../src/policy/seccomp/oci-profile.ts";

/** The profile as Docker and Podman read it from a file. */
export function seccompProfileText(): string {
  return `${JSON.stringify(ociSeccompProfiles().programs, null, 1)}\n`;
}
