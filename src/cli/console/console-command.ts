import type { Command } from "commander";
import type { CommandIo, SetExitCode } from "../command-io.ts";
import { consoleAddress } from "./console-address.ts";
import { openInBrowser } from "./open-in-browser.ts";

/** `glovebox console`: a server's console in the browser, signed in. */
export function addConsoleCommand(program: Command, io: CommandIo, setExitCode: SetExitCode): void {
  program
    .command("console")
    .option("--print", "print its address, which holds the token, instead of opening it")
    .addHelpText(
      "after",
      "\nThe server is that of GLOVEBOX_URL, else http://127.0.0.1:8420; GLOVEBOX_KEY is used where it is set, else your token.",
    )
    .action(async ({ print }: { readonly print?: true }) => {
      const address = await consoleAddress(io.signal);
      setExitCode(0);
      if (print === true) {
        io.stdout.write(`${address}\n`);
        return;
      }
      io.stderr.write(`glovebox: opening ${new URL("/", address).href} in your browser\n`);
      await openInBrowser(address, { platform: process.platform, signal: io.signal });
    });
}
