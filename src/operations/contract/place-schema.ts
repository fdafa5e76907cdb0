import { z } from "zod";

const ofConnection = "Or the session; with neither: the session of this connection, the one that run_code uses";

/** The environment or session that a request means; it must exist. */
export const place = {
  env_id: z.string().optional().describe("The environment it is in, as create_environment gave it."),
  session_id: z.string().optional().describe(`${ofConnection}.`),
} as const;

/** The same, where a session is started if there is none. */
export const placeOrNewSession = {
  ...place,
  session_id: z.string().optional().describe(`${ofConnection}, or a new one.`),
} as const;

/** In each answer, whichever of the two it is. */
export const about = { env_id: z.string().optional(), session_id: z.string().optional() } as const;
