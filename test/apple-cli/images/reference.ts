import { CommandError } from "../output/command-error.ts";

/** A reference with every omitted part filled in. */
export interface Reference {
  /** Such as `docker.io` or `127.0.0.1:5000`. */
  readonly host: string;
  /** Such as `library/alpine`. */
  readonly path: string;
  readonly tag: string | undefined;
  readonly digest: string | undefined;
  /** All of it, such as `docker.io/library/alpine:latest`. */
  readonly full: string;
}

const defaultHost = "docker.io";

/** Reads a reference as Apple does: the default host is Docker's, and the default tag is `latest`. */
export function readReference(text: string): Reference {
  if (/^[0-9a-f]{64}$/.test(text)) {
    throw new CommandError("invalidArgument", `cannot specify 64 byte hex string as reference`);
  }
  const [, first, rest] = /^([^/]+)\/(.*)$/.exec(text) ?? [];
  const hasHost = first !== undefined && (first.includes(".") || first.includes(":") || first === "localhost");
  const name = hasHost ? (rest ?? "") : text;
  const [, path, tag, digest] =
    /^([a-z0-9]+(?:[._/-]+[a-z0-9]+)*)(?::([\w][\w.-]{0,127}))?(?:@(sha256:[0-9a-f]{64}))?$/.exec(name) ?? [];
  if (path === undefined) throw new CommandError("invalidArgument", `cannot parse path for reference ${text}`);
  const host = hasHost ? first : defaultHost;
  const whole = host === defaultHost && !path.includes("/") ? `library/${path}` : path;
  const used = tag ?? (digest === undefined ? "latest" : undefined);
  const ending = `${used === undefined ? "" : `:${used}`}${digest === undefined ? "" : `@${digest}`}`;
  return { host, path: whole, tag: used, digest, full: `${host}/${whole}${ending}` };
}

/** The reference as people write it: without Docker's own host and folder. */
export function shortReference({ host, path, tag, digest }: Reference): string {
  const name = host === defaultHost ? path.replace(/^library\//, "") : `${host}/${path}`;
  return `${name}${tag === undefined ? "" : `:${tag}`}${digest === undefined ? "" : `@${digest}`}`;
}
