import { listPackagesContract, prunePackagesContract, type PackageSetRow } from "../../operations/packages-contract.ts";
import { formatTable } from "../output/terminal-text.ts";
import type { Command } from "commander";
import { parseBytes } from "../../base/bytes.ts";
import { openCalls, type CommandCalls } from "../open-calls.ts";
import type { CommandIo, SetExitCode } from "../command-io.ts";

interface PackagesOptions {
  readonly json?: boolean;
  readonly to?: string;
  readonly all?: boolean;
}

const mebibyte = 1024 * 1024;

/** `glovebox packages`: the cache of packages that were installed for runs. */
export function addPackagesCommand(program: Command, io: CommandIo, setExitCode: SetExitCode): void {
  const packages = program
    .command("packages")
    // Its options may also come after its subcommands.
    .enablePositionalOptions(false)
    .option("--json", "print one JSON object");
  const add = (
    name: string,
    description: string,
    work: (calls: CommandCalls, options: PackagesOptions) => Promise<void>,
  ): Command =>
    packages
      .command(name, { isDefault: name === "list" })
      .description(description)
      .action(async (_: unknown, command: Command) => {
        await using calls = await openCalls();
        await work(calls, command.optsWithGlobals<PackagesOptions>());
        setExitCode(0);
      });
  const print = (value: object, text: string, { json }: PackagesOptions): void => {
    io.stdout.write(json === true ? `${JSON.stringify(value)}\n` : text);
  };

  add("list", "List them, most recently used first.", async (calls, options) => {
    const response = await calls.send(listPackagesContract, {}, {});
    print(response, packageTable(response.sets) || "No packages are kept yet.\n", options);
  });
  add("size", "Show how much disk they use, and the limit.", async (calls, options) => {
    const { sets, size_mb, max_mb } = await calls.send(listPackagesContract, {}, {});
    const text = `${size_mb} MB of ${max_mb} MB in ${sets.length} ${sets.length === 1 ? "set" : "sets"}\n`;
    print({ sets: sets.length, size_mb, max_mb }, text, options);
  });
  add("prune", "Remove the least recently used ones, never one in use.", async (calls, options) => {
    const to =
      options.all === true ? 0 : options.to === undefined ? undefined : parseBytes(options.to, "--to") / mebibyte;
    const response = await calls.send(prunePackagesContract, { max_mb: to }, {});
    const { removed, size_mb } = response;
    print(response, `${packageTable(removed)}${removed.length} removed, ${size_mb} MB left\n`, options);
  })
    .option("--to <size>", "remove until at most this much is left, such as 500m (default: packages.max_mb)")
    .option("--all", "remove all that are not in use");
}

/** Characters of a digest that are shown. */
const shortDigest = 12;

/** Sets of packages, a line each: sets of the same packages differ in what installed them, for what, and for whom. */
export function packageTable(sets: readonly PackageSetRow[]): string {
  if (sets.length === 0) return "";
  const cells = sets.map((set) => [
    set.requested.map((name) => withVersion(name, set.packages)).join(" "),
    set.installed_by,
    set.platform,
    `${set.engine} ${imageWords(set.image)}`,
    ownerWords(set.principal),
    `${set.size_mb} MB`,
    set.last_used_at.slice(0, 16).replace("T", " "),
    set.in_use ? "yes" : "no",
  ]);
  return formatTable(["PACKAGES", "BY", "FOR", "INSTALLED ON", "OWNER", "SIZE", "LAST USED", "IN USE"], cells);
}

/** A name that was asked for without a version, with the one it got; of a project's files the digest is cut. */
function withVersion(requested: string, packages: readonly string[]): string {
  const found = packages.find((each) => each.startsWith(`${requested}@`) || each.startsWith(`${requested}==`));
  return found ?? requested.replace(/^(sha256:[0-9a-f]{12})[0-9a-f]+$/, "$1");
}

/** An image is a digest; without images the host's own interpreters have one. */
function imageWords(image: string): string {
  const [, kind = "", digest = image] = /^(sha256|host):([0-9a-f]+)$/.exec(image) ?? [];
  return `${kind === "host" ? "host " : ""}${digest.slice(0, shortDigest)}`;
}

function ownerWords(principal: string | null): string {
  if (principal === null) return "all";
  return principal === "local" ? "you" : principal.replace(/^key:/, "key ");
}
