import { z } from "zod";
import { textsByName } from "../contract/bounded-schemas.ts";
import { maxEnvironmentEntries } from "../contract/request-maxima.ts";

/** The field `env_id` of requests about one environment. */
export const envId: z.ZodString = z
  .string()
  .describe("The environment's id, as create_environment gave it, or its name.");

/** Environment variables by name. */
export const variables: z.ZodRecord<z.ZodString, z.ZodString> = textsByName(maxEnvironmentEntries);
