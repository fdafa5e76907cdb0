import { constants } from "node:os";
import { CommandError } from "../../output/command-error.ts";

const lastSignal = 64;

/** A Linux signal by name, with or without SIG and in any case, or by number. */
export function readSignal(text: string): string {
  const name = `SIG${text.toUpperCase().replace(/^SIG/, "")}`;
  if (name in constants.signals) return name;
  if (/^\d+$/.test(text) && Number(text) > 0 && Number(text) <= lastSignal) return text;
  throw new CommandError("invalidArgument", `invalid signal: ${text}`);
}
