/** Writes the policy's seccomp profile of programs, for the container of the server (compose.yaml). */
import { writeFileSync } from "node:fs";
import { seccompProfileText } from "./seccomp-profile.ts";

writeFileSync(new URL("../deploy/seccomp-profile.json", import.meta.url), seccompProfileText());
