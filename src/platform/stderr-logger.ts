import { createRequire } from "node:module";
import type pinoModule from "pino";
import type { Logger } from "../base/kit.ts";
import { logLevels, type LogLevel } from "../config/config.ts";

/** What decides which entries of the log on stderr are written, and how. */
export interface StderrLogOptions {
  /** Entries that are less severe are left out. */
  readonly least: LogLevel;
  /** Fields that every line of a running call has. */
  readonly fieldsOfCall: () => Readonly<Record<string, unknown>>;
  /** Makes what writes the lines, for the first of them; default: one JSON object a line. */
  readonly openLog?: (() => Logger) | undefined;
}

/**
 * The log on stderr: stdout belongs to programs and protocols. Its library is loaded for the first line that is severe
 * enough, which most commands never write.
 */
export function stderrLogger({ least, fieldsOfCall, openLog }: StderrLogOptions): Logger {
  let opened: Logger | undefined;
  const openJson = (): Logger => {
    const pino = createRequire(import.meta.url)("pino") as typeof pinoModule;
    return pino({ name: "glovebox", level: least }, pino.destination({ dest: 2, sync: true }));
  };
  const open = openLog ?? openJson;
  const at = (level: keyof Logger): Logger["info"] =>
    least !== "silent" && logLevels.indexOf(level) <= logLevels.indexOf(least)
      ? (fields, message) => (opened ??= open())[level]({ ...fieldsOfCall(), ...fields }, message)
      : () => undefined;
  return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}
