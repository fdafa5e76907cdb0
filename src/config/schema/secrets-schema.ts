import * as z from "zod";
import { environmentName } from "../../policy/request/environment.ts";
import { limitKinds, type LimitKind } from "../../policy/limits/limits.ts";
import { principalWords } from "../../policy/principal.ts";
import { hostPath, principalList } from "./leaf-schemas.ts";
import type { SecretSource } from "../secrets/secret-source.ts";

const maxSecrets = 256;
/** The usual form of variable names; anything else may be a value in the wrong place. */
const listedName = /^[A-Z_][A-Z0-9_]{0,63}$/;
const listWords = "a list of names of environment variables, in capitals, such as OPENAI_API_KEY (never a value)";
const entryWords = `{ "env": "VARIABLE" } or { "file": "/path" }, with "principals" (each ${principalWords}) and "kinds" if it is not for all (never a value)`;

const entry = z
  .strictObject({
    env: z.string().regex(environmentName).optional(),
    file: hostPath().optional(),
    principals: principalList().optional(),
    kinds: z.array(z.enum(limitKinds)).optional(),
  })
  .refine(({ env, file }) => (env === undefined) !== (file === undefined));

/** The key `secrets`: names with their sources, or a list of variables that keep their names. */
export function secretSources(): z.ZodType<readonly SecretSource[]> {
  return z.unknown().transform((given, context): readonly SecretSource[] => {
    const refuse = (message: string): typeof z.NEVER => {
      // The input is left out, as it may contain a value.
      context.issues.push({ code: "custom", message, input: undefined });
      return z.NEVER;
    };
    if (Array.isArray(given)) {
      const names = z.array(z.string().regex(listedName)).max(maxSecrets).safeParse(given);
      return names.success ? [...new Set(names.data)].map((name) => sourceOf(name, { env: name })) : refuse(listWords);
    }
    if (typeof given !== "object" || given === null) return refuse(`names with their sources, or ${listWords}`);
    const entries = Object.entries(given);
    if (entries.length > maxSecrets) return refuse(`at most ${maxSecrets} secrets`);
    return entries.map(([name, value]) => {
      if (!environmentName.test(name) || name.length > 64) return refuse("names of letters, digits and underscores");
      const parsed = entry.safeParse(value);
      return parsed.success ? sourceOf(name, parsed.data) : refuse(`for ${name} ${entryWords}`);
    });
  }) as z.ZodType<readonly SecretSource[]>;
}

function sourceOf(
  name: string,
  {
    env,
    file = "",
    principals,
    kinds,
  }: {
    readonly env?: string | undefined;
    readonly file?: string | undefined;
    readonly principals?: readonly string[] | undefined;
    readonly kinds?: readonly LimitKind[] | undefined;
  },
): SecretSource {
  const from = env === undefined ? ({ kind: "file", path: file } as const) : ({ kind: "env", variable: env } as const);
  return { name, from, principals: principals ?? null, kinds: kinds ?? null };
}
