import type { Command } from "commander";
import { invalidField } from "../../errors/glovebox-error.ts";
import type { CommandIo, SetExitCode } from "../command-io.ts";
import { commandNodes } from "./command-tree.ts";
import { completedShells, type CompletedShell } from "./completed-shells.ts";
import { completionScript } from "./completion-scripts.ts";

const isCompleted = (shell: string): shell is CompletedShell => (completedShells as readonly string[]).includes(shell);

/**
 * `glovebox completion SHELL`: prints the script with which a shell completes all commands and options of `program`.
 */
export function addCompletionCommand(program: Command, io: CommandIo, setExitCode: SetExitCode): void {
  program
    .command("completion")
    .argument("<shell>", completedShells.join(", "))
    .addHelpText(
      "after",
      [
        "",
        'bash: add to ~/.bashrc:  eval "$(glovebox completion bash)"',
        'zsh:  add to ~/.zshrc, behind compinit:  eval "$(glovebox completion zsh)"',
        "fish: glovebox completion fish > ~/.config/fish/completions/glovebox.fish",
      ].join("\n"),
    )
    .action((shell: string) => {
      if (!isCompleted(shell)) throw invalidField("SHELL", `one of ${completedShells.join(", ")}`, shell);
      io.stdout.write(completionScript(shell, commandNodes(program)));
      setExitCode(0);
    });
}
