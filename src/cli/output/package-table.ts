import type { PackageSetRow } from "../../operations/packages-contract.ts";
import { formatTable } from "./format-table.ts";

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
