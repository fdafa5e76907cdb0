import type { Command } from "commander";
import { openCalls } from "../open-calls.ts";
import { doctorContract } from "../../operations/doctor/doctor-contract.ts";
import type { CommandIo, SetExitCode } from "../command-io.ts";
import { doctorReport, isHealthy } from "./doctor-report.ts";
import { exitCodes } from "../exit-code.ts";

interface DoctorOptions {
  readonly all?: boolean;
  readonly json?: boolean;
}

/** `glovebox doctor`: what can be used here, what is wrong, and the configuration that counts. */
export function addDoctorCommand(program: Command, io: CommandIo, setExitCode: SetExitCode): void {
  program
    .command("doctor")
    .option("--all", "show every setting, not only those that differ from the default")
    .option("--json", "print one JSON object, with everything")
    .addHelpText(
      "after",
      "\nExit code: 0 when `glovebox run` has an engine to run on that is a wall, 125 when it has none, 2 when the configuration is wrong.",
    )
    .action(async (options: DoctorOptions) => {
      await using calls = await openCalls();
      const response = await calls.send(doctorContract, {}, { signal: io.signal });
      const text = options.json === true ? JSON.stringify(response) : doctorReport(response, options);
      io.stdout.write(`${text}\n`);
      setExitCode(isHealthy(response) ? 0 : exitCodes.platformFailed);
    });
}
