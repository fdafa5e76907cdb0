import { z } from "zod";
import { listOf } from "./bounded-schemas.ts";
import { maxSecrets } from "./request-maxima.ts";

const name = z.string().max(64);

type SecretsRequest = readonly string[] | Record<string, string>;

/** The field `secrets` of requests that start a program. */
export const secretsSchema: z.ZodType<SecretsRequest, SecretsRequest> = z
  .union(
    [listOf(name, maxSecrets), z.record(name, name).meta({ maxProperties: maxSecrets })],
    "expected names of secrets",
  )
  .describe(
    'Secrets of the deployment that the program gets as environment variables, by name and never by value: ["OPENAI_API_KEY"], or the secret\'s name by variable, {"API_KEY": "openai"}. Their values are replaced by [redacted:NAME] in what the program writes.',
  );
