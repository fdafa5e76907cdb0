import * as z from "zod";
import type { Config } from "./config.ts";

type PreviewShape = {
  domain: z.ZodDefault<z.ZodNullable<z.ZodString>>;
  backend: z.ZodDefault<z.ZodNullable<z.ZodString>>;
};

/** The section `preview`. */
export function previewSection(): z.ZodPrefault<z.ZodObject<PreviewShape, z.core.$strict>> {
  const domainWords = "a domain such as preview.example or https://preview.example, whose every subdomain leads here";
  const backendWords = "an origin such as http://127.0.0.1:3001, without a path";
  return z
    .strictObject(
      {
        domain: z
          .string(domainWords)
          .refine((text) => readDomain(text) !== null, domainWords)
          .nullable()
          .default(null)
          .describe(
            "Domain under which each preview gets its own name beyond loopback, prefixed with `https://` if something in front of this server terminates TLS; unset: previews can be reached from the server's machine only.",
          ),
        backend: z
          .string(backendWords)
          .refine(isHttpOrigin, backendWords)
          .nullable()
          .default(null)
          .describe("Origin that receives previews' requests under `/api`; unset: they are refused."),
      },
      "an object",
    )
    .prefault({});
}

export function toPreview({ domain, backend }: z.output<z.ZodObject<PreviewShape>>): Config["preview"] {
  return { domain: domain === null ? null : readDomain(domain), backend };
}

/** Of a name of hosts, below which ours have labels of their own. */
const maxNameChars = 200;
/** With its scheme and port. */
const maxDomainChars = maxNameChars + "https://:65535".length;

/** `[scheme://]name[:port]`; the name has at least two labels, the last of which is not a number; null for other texts. */
export function readDomain(text: string): Config["preview"]["domain"] {
  if (text.length > maxDomainChars) return null;
  const label = "[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?";
  const form = new RegExp(`^(?:(https?)://)?((?:${label}\\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?)(?::(\\d{1,5}))?$`);
  const [, scheme = "http", name, port] = form.exec(text) ?? [];
  if (name === undefined || name.length > maxNameChars || Number(port ?? 1) > 65_535 || name.endsWith(".localhost"))
    return null;
  return { scheme: scheme === "https" ? "https" : "http", name, port: port === undefined ? null : Number(port) };
}

function isHttpOrigin(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol) && url.origin === text;
}
