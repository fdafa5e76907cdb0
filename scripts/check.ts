import { checkNames, runChecks } from "./run-checks.ts";

process.exitCode = (await runChecks(checkNames)).length > 0 ? 1 : 0;
