/** Builds the supervisor for every architecture into `supervisor/bin` and writes down what was made. */
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { buildsModule } from "./supervisor-builds.ts";

const script = fileURLToPath(new URL("../supervisor/build.sh", import.meta.url));
const { status } = spawnSync("sh", [script], { stdio: "inherit" });
if (status === 0)
  writeFileSync(new URL("../src/engines/supervised/supervisor-builds.ts", import.meta.url), buildsModule());
else process.exitCode = status ?? 1;
