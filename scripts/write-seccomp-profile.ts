/** Writes the seccomp profile of programs, as the policy has it, for the container of the server (compose.yaml). */
import { writeFileSync } from "node:fs";
import { seccompProfileText } from "./seccomp-profile.ts";

writeFileSync(new URL("../deploy/seccomp-profile.json", import.meta.url), seccompProfileText());
