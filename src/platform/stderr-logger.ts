import { createRequire } from "node:module";
import type pinoModule from "pino";
import type { Logger } from "../base/logger.ts";
import { logLevels, type LogLevel } from "../config/config.ts";

/**
 * The log on stderr: stdout belongs to programs and protocols. Its library is loaded for the first line that is severe
 * enough, which most commands never write.
 */
export function stderrLogger(least: LogLevel, fieldsOfCall: () => Readonly<Record<string, unknown>>): Logger {
  let opened: Logger | undefined;
  const open = (): Logger => {
    const pino = createRequire(import.meta.url)("pino") as typeof pinoModule;
    return pino(
      { name: "glovebox", level: least, mixin: () => ({ ...fieldsOfCall() }) },
      pino.destination({ dest: 2, sync: true }),
    );
  };
  const at = (level: keyof Logger): Logger["info"] =>
    least !== "silent" && logLevels.indexOf(level) <= logLevels.indexOf(least)
      ? (fields, message) => (opened ??= open())[level](fields, message)
      : () => undefined;
  return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}
