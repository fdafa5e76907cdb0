import { shellQuoted } from "../../base/processes/shell-quoted.ts";
import type { TerminalSize } from "./terminal-size.ts";

/**
 * Who holds the terminal inside: a program of ours in Python, which follows the size of the caller's; `script`, of
 * util-linux or BusyBox, which does not; or nobody, and the program has no terminal.
 */
export type TerminalHolder = "python" | "script" | "none";

/** What a sandbox has for a terminal. */
export interface TerminalTools {
  readonly holder: TerminalHolder;
  readonly shell: "bash" | "sh";
}

/** Prints the holder, then the shell. */
export const findToolsScript = `
if python3 -I -S -c 'import fcntl, select, termios' 2>/dev/null; then echo python
elif script -qfec true /dev/null </dev/null >/dev/null 2>&1; then echo script
else echo none
fi
if command -v bash >/dev/null; then echo bash; else echo sh; fi
`;

/** Reads what the script has printed; anything unclear counts as absent. */
export function parseTools(text: string): TerminalTools {
  const [holder, shell] = text.split("\n");
  return {
    holder: holder === "python" || holder === "script" ? holder : "none",
    shell: shell === "bash" ? "bash" : "sh",
  };
}

export interface TerminalProgram {
  readonly tools: TerminalTools;
  /** Null: an interactive shell. */
  readonly command: readonly string[] | null;
  readonly size: TerminalSize;
  /** Text of `images/terminals/terminal.py`. */
  readonly pythonSource: string;
}

/** The command that runs the program in a terminal. */
export function terminalCommand({ tools, command, size, pythonSource }: TerminalProgram): readonly string[] {
  const program = command ?? (tools.holder === "none" ? [tools.shell, "-i"] : [tools.shell]);
  const [rows, columns] = [String(size.rows), String(size.columns)];
  switch (tools.holder) {
    case "python":
      return ["python3", "-I", "-S", "-c", pythonSource, rows, columns, ...program];
    case "script": {
      const line = `stty rows ${rows} cols ${columns} 2>/dev/null; exec ${program.map(shellQuoted).join(" ")}`;
      return ["env", "SHELL=/bin/sh", "script", "-qfec", line, "/dev/null"];
    }
    case "none":
      return program;
  }
}
