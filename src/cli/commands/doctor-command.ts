import type { Command } from "commander";
import { openCalls } from "../open-calls.ts";
import { doctorContract } from "../../operations/doctor/doctor-contract.ts";
import type { CommandIo, SetExitCode } from "../command-io.ts";
import { coloured } from "../output/coloured.ts";
import { doctorReport, isHealthy } from "./doctor-report.ts";
import { exitCodes } from "../exit-code.ts";
import type { ProveOptions } from "../prove/prove-command.ts";
import { GloveboxError, invalidField } from "../../errors/glovebox-error.ts";

interface DoctorOptions extends ProveOptions {
  readonly all?: boolean;
  readonly verbose?: boolean;
  readonly prove?: boolean;
}

const ofProofs = { engine: "--engine", ociRuntime: "--oci-runtime", bombs: "--bombs" } as const;

/** `glovebox doctor`: what can be used here, what is wrong, and the effective configuration. */
export function addDoctorCommand(program: Command, io: CommandIo, setExitCode: SetExitCode): void {
  program
    .command("doctor")
    .option("--verbose", "also show the parts, abilities and notes of each engine, and why one is chosen")
    .option("--all", "show all settings, not only changed ones")
    .option("--prove", "run the attacks of the threat model on the available engines, and report the result of each")
    .option("--engine <engine>", "with --prove: only this one")
    .option("--oci-runtime <name>", "with --prove: OCI runtime of the engine")
    .option("--bombs", "with --prove: also the attacks that load the machine")
    .option("--json", "print everything as one JSON object")
    .addHelpText(
      "after",
      "\nExit code: 0 if `glovebox run` has an engine that isolates, 125 if not, 2 if the configuration is wrong." +
        "\nWith --prove: 0 when every engine that was tried has held, 1 when an attack got through that it is declared to deny, 125 when nothing was proven.",
    )
    .action(async (options: DoctorOptions) => {
      const alone = Object.entries(ofProofs).find(([name]) => options[name as keyof typeof ofProofs] !== undefined);
      if (options.prove !== true && alone !== undefined) throw invalidField(alone[1], "--prove beside it", undefined);
      await using calls = await openCalls();
      if (options.prove === true) {
        if (calls.isRemote) throw onThisMachine();
        const { prove } = await import("../prove/prove-command.ts");
        return setExitCode(await prove(calls, options, io));
      }
      const response = await calls.send(doctorContract, {}, { signal: io.signal });
      const text = options.json === true ? JSON.stringify(response) : withColours(doctorReport(response, options), io);
      io.stdout.write(`${text}\n`);
      setExitCode(isHealthy(response) ? 0 : exitCodes.platformFailed);
    });
}

function onThisMachine(): GloveboxError {
  return new GloveboxError("UNSUPPORTED", "doctor --prove is for this machine, and GLOVEBOX_URL names a server.", {
    suggestion: "Run it on the server's machine, or unset GLOVEBOX_URL.",
  });
}

/** Prefixes that its lines begin with. */
function withColours(report: string, { stdout }: CommandIo): string {
  return report
    .replaceAll(/^(?:\[ok\]|Ready)/gm, (word) => coloured(word, "green", stdout))
    .replaceAll(/^(?:\[--\]|Not ready)/gm, (word) => coloured(word, "yellow", stdout))
    .replaceAll(/^ +danger(?=:)/gm, (word) => coloured(word, "red", stdout));
}
