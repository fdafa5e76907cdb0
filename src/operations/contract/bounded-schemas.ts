import { z } from "zod";

/** A list with a maximum of items, which `parseRequest` checks before it looks at any of them. */
export function listOf<Item extends z.ZodType>(item: Item, max: number): z.ZodArray<Item> {
  return z.array(item).max(max);
}

/** Texts by their names, at most `max`, which `parseRequest` checks before it looks at any of them. */
export function textsByName(max: number): z.ZodRecord<z.ZodString, z.ZodString> {
  return z.record(z.string(), z.string()).meta({ maxProperties: max });
}
