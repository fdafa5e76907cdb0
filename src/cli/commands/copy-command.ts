import type { Command } from "commander";
import { parseBytes } from "../../base/bytes.ts";
import { invalidField } from "../../errors/glovebox-error.ts";
import { openCalls } from "../open-calls.ts";
import { copyIntoSandboxContract, copyOutOfSandboxContract } from "../../operations/live-sandbox-contract.ts";
import type { CommandIo, SetExitCode } from "../command-io.ts";
import { sandboxWords } from "../output/option-words.ts";
import { escapeLine } from "../output/terminal-text.ts";

interface CopyOptions {
  readonly maxSize?: string;
  readonly maxEntries?: string;
  readonly json?: boolean;
}

/**
 * `ID:PATH`, where ID is an id or the beginning of one, or a name before an absolute path; anything else is a path of this
 * machine, such as one behind the letter of a drive.
 */
const insideForm = /^(sbx-[a-z0-9]{1,40}(?=:)|(?![A-Za-z]:[\\/])[A-Za-z0-9][A-Za-z0-9._-]{0,63}(?=:\/)):(.*)$/s;

/** `glovebox cp`: copies files and folders into and out of a live sandbox. */
export function addCopyCommand(program: Command, io: CommandIo, setExitCode: SetExitCode): void {
  program
    .command("cp")
    .argument("<source>", `host path, or ID:PATH inside a sandbox; ID: ${sandboxWords}`)
    .argument("<target>", "ID:PATH or a host path, whichever SOURCE is not; an existing folder, or the new name")
    .option("--max-size <size>", "all files together, such as 500m (default: 1g)")
    .option("--max-entries <number>", "files, folders and links (default: 100000)")
    .option("--json", "print one JSON object")
    .addHelpText(
      "after",
      "\nA host path with a colon begins with ./ or /. SOURCE/. means the contents of the folder. Copying out of a sandbox never writes outside TARGET, follows no links," +
        "\nand leaves out links that lead outside. Exit code: 0, 125 Glovebox failed or refused, 2 wrong usage.",
    )
    .action(async (source: string, target: string, { maxSize, maxEntries, json }: CopyOptions) => {
      const [from, to] = [insideForm.exec(source), insideForm.exec(target)];
      if ((from === null) === (to === null)) {
        throw invalidField("SOURCE and TARGET", "exactly one of them as ID:PATH", `${source} ${target}`);
      }
      const limits = {
        ...(maxSize === undefined ? {} : { max_bytes: parseBytes(maxSize, "--max-size") }),
        ...(maxEntries === undefined ? {} : { max_entries: Number(maxEntries) }),
      };
      const [, id = "", inside = ""] = from ?? to ?? [];
      await using calls = await openCalls();
      const call = { signal: io.signal };
      const response =
        from === null
          ? await calls.send(copyIntoSandboxContract, { source, sandbox_id: id, target: inside, ...limits }, call)
          : await calls.send(copyOutOfSandboxContract, { sandbox_id: id, source: inside, target, ...limits }, call);
      if (json === true) io.stdout.write(`${JSON.stringify(response)}\n`);
      else for (const warning of response.warnings) io.stderr.write(`glovebox: ${escapeLine(warning)}\n`);
      setExitCode(0);
    });
}
