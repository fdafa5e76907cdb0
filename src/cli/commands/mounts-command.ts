import type { Command } from "commander";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import { openCalls } from "../open-calls.ts";
import {
  checkMountContract,
  listMountsContract,
  type CheckMountRequest,
  type CheckMountResponse,
} from "../../operations/mounts-contract.ts";
import { mountUses } from "../../operations/contract/wire-values.ts";
import type { MountUse } from "../../policy/mounts/mount-policy.ts";
import { checkChoice } from "../../policy/choice.ts";
import type { CommandIo, SetExitCode } from "../command-io.ts";
import { exitCodes } from "../exit-code.ts";
import { mountCheckReport, mountsReport } from "../output/mounts-report.ts";

interface CheckOptions {
  readonly as?: string;
  readonly readOnly?: boolean;
  readonly readWrite?: boolean;
  readonly main?: boolean;
  readonly target?: string;
  readonly json?: boolean;
}

/** `glovebox mounts check` and `list`: which paths of this machine sandboxes may get, and why. */
export function addMountsCommand(program: Command, io: CommandIo, setExitCode: SetExitCode): void {
  const mounts = program.command("mounts");
  mounts
    .command("check")
    .description("Say whether a sandbox can get a path, by which rule, and what would allow it.")
    .argument("<path>", "file or folder")
    .option("--as <use>", "project (including files in one) or additional (default: both)")
    .option("--read-only", "ask for reading only")
    .option("--read-write", "ask for writing too")
    .option("--main", "ask for the main group")
    .option("--target <path>", "relative path below /workspace/extra")
    .option("--json", "print one JSON object")
    .addHelpText(
      "after",
      "\nExit code: 0 if it is allowed (with --read-write: writable) for one of the requested uses, else 1.",
    )
    .action(async (path: string, options: CheckOptions) => {
      const request = checkRequest(path, options);
      await using calls = await openCalls();
      const response = await calls.send(checkMountContract, request, { signal: io.signal });
      io.stdout.write(options.json === true ? `${JSON.stringify(response)}\n` : mountCheckReport(response));
      setExitCode(isGranted(response, options) ? 0 : exitCodes.refused);
    });
  mounts
    .command("list")
    .description("Show the allowlist, the allowed folders, the blocked patterns and the protected places.")
    .option("--json", "print one JSON object")
    .action(async ({ json }: { readonly json?: boolean }) => {
      await using calls = await openCalls();
      const response = await calls.send(listMountsContract, {}, { signal: io.signal });
      io.stdout.write(json === true ? `${JSON.stringify(response)}\n` : mountsReport(response));
      setExitCode(0);
    });
}

function checkRequest(path: string, options: CheckOptions): CheckMountRequest {
  if (options.readOnly === true && options.readWrite === true) {
    throw new GloveboxError("INVALID_REQUEST", "--read-only and --read-write: expected one of them.", {
      suggestion: "Leave one of them out.",
      context: { field: "--read-only" },
    });
  }
  const use: MountUse | undefined = options.as === undefined ? undefined : checkChoice(options.as, mountUses, "--as");
  return {
    path,
    use,
    access: options.readOnly === true ? "read-only" : "read-write",
    is_main: options.main === true,
    target: options.target,
  };
}

function isGranted({ verdicts }: CheckMountResponse, { readWrite }: CheckOptions): boolean {
  return verdicts.some((verdict) => verdict.allowed && !(readWrite === true && verdict.read_only));
}
