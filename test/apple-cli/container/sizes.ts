import { CommandError } from "../output/command-error.ts";

const units = ["b", "k", "m", "g", "t", "p"];

/** A size in bytes: a number and a unit, where k means 1024; without a unit, bytes. */
export function readSize(text: string): number {
  const [, number, unit = ""] = /^\s*(\d+(?:\.\d+)?|\.\d+)\s*([^\d\s.]*)\s*$/.exec(text) ?? [];
  if (number === undefined) throw new CommandError("unknown", "invalid size");
  const read = /^([bkmgtp])?(?:i?b)?$/i.exec(unit);
  if (read === null) throw new CommandError("unknown", `invalid symbol: ${unit}`);
  const letter = read[1] ?? "b";
  return Math.floor(Number(number) * 1024 ** units.indexOf(letter.toLowerCase()));
}

export const mebibyte = 1024 * 1024;
