import { toShellLine } from "../run/shell-line.ts";
import { definedOnly, limitsOfOptions, parseNetworkOption, parseVariable } from "../run/run-options.ts";

/** Options of `glovebox test` as the parser leaves them. */
export interface TestOptions {
  readonly name?: string;
  readonly quiet?: boolean;
  readonly engine?: string;
  readonly image?: string;
  readonly dockerfile?: boolean;
  readonly setup?: string;
  readonly timeout?: string;
  readonly memory?: string;
  readonly cpus?: string;
  readonly disk?: string;
  readonly env: readonly string[];
  readonly trusted: readonly string[];
  readonly only: readonly string[];
  readonly reportFile?: string;
  readonly includeIgnored?: boolean;
  readonly network?: string;
  readonly minIsolation?: string;
  readonly junit?: string;
  readonly ctrf?: string;
  readonly json?: boolean;
}

/** The request that the options ask for, without the project's folder; values are checked by the operation. @throws INVALID_REQUEST naming the option */
export function requestOfTest(command: readonly string[], options: TestOptions): Record<string, unknown> {
  const reports = [options.ctrf === undefined ? [] : "ctrf", options.junit === undefined ? [] : "junit"].flat();
  return definedOnly({
    test_command: command.length === 0 ? undefined : toShellLine(command),
    dockerfile: options.dockerfile,
    name: options.name,
    setup_command: options.setup,
    environment: options.env.length > 0 ? Object.fromEntries(options.env.map(parseVariable)) : undefined,
    trusted_files: options.trusted.length > 0 ? options.trusted : undefined,
    only_tests: options.only.length > 0 ? options.only : undefined,
    report_file: options.reportFile,
    include_ignored: options.includeIgnored,
    reports: reports.length > 0 ? reports : undefined,
    limits: limitsOfOptions(options),
    network: parseNetworkOption(options.network),
    image: options.image,
    engine: options.engine,
    min_isolation: options.minIsolation,
  });
}
