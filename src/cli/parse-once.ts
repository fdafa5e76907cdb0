import { z } from "zod";

/**
 * For commands that parse each schema once or twice: zod compiles no parsers, which would take longer than they save. To be
 * loaded before any schema. Servers do without it.
 */
z.config({ jitless: true });
