import { z } from "zod";

/** The field `env_id` of requests about one environment. */
export const envId: z.ZodString = z.string().describe("The environment's id, as create_environment gave it.");

/** Environment variables by name. */
export const variables: z.ZodRecord<z.ZodString, z.ZodString> = z.record(z.string(), z.string());
