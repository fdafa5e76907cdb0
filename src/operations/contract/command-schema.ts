import { z } from "zod";
import { listOf } from "./bounded-schemas.ts";
import { maxArguments } from "./request-maxima.ts";

/** A command as requests give it. */
export type RequestCommand = string | readonly string[];

type CommandSchema = z.ZodUnion<readonly [z.ZodString, z.ZodArray<z.ZodString>]>;

/** What a command may be, for errors. */
const expected = 'expected a shell line such as "npm test", or a program and its arguments such as ["npm", "test"]';

/** A command of any request: a string is run by `sh -c` in the sandbox, a list is a program and its arguments. */
export const commandSchema: CommandSchema = z.union(
  [z.string().min(1, expected), listOf(z.string(), maxArguments).min(1, expected)],
  { error: expected },
);

/** The same where an empty one means that nothing is run. */
export const commandOrNothingSchema: CommandSchema = z.union([z.string(), listOf(z.string(), maxArguments)], {
  error: `${expected}, or "" for nothing`,
});

/** Several commands, run one after another. */
export const commandsSchema = (max: number): z.ZodArray<CommandSchema> => listOf(commandSchema, max);
