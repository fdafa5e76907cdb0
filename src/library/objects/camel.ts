import type { z } from "zod";
import { invalidField } from "../../errors/glovebox-error.ts";

/** `timeout_seconds` as `timeoutSeconds`. */
export type CamelName<Name> = Name extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<CamelName<Tail>>}`
  : Name;

/** A wire type with its field names in camelCase; values and the keys of maps are unchanged. */
export type Camel<Value> = unknown extends Value ? Value : CamelEach<Value>;

type CamelEach<Value> = Value extends readonly unknown[]
  ? { [Index in keyof Value]: Camel<Value[Index]> }
  : Value extends object
    ? string extends keyof Value
      ? Value
      : { [Name in keyof Value as CamelName<Name>]: Camel<Value[Name]> }
    : Value;

/** A field's name on the wire in camelCase. */
export function camelName(name: string): string {
  return name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

/**
 * A request in the wire's names. The schema says which objects have fields and which are maps, whose keys are
 * unchanged.
 * @throws INVALID_REQUEST for a field with its wire name
 */
export function toWireNames(value: unknown, schema: z.ZodType): unknown {
  return renamed(value, [schema], (names) => {
    const byCamel = new Map(names.map((name) => [camelName(name), name]));
    return (name) => {
      const wire = byCamel.get(name);
      if (wire === undefined && names.includes(name)) throw invalidField(name, `the name ${camelName(name)}`, name);
      return wire ?? name;
    };
  });
}

/** A response in camelCase, as far as the schema names its fields. */
export function toCamelNames<Response extends z.ZodType>(
  value: z.output<Response>,
  schema: Response,
): Camel<z.output<Response>> {
  return renamed(value, [schema], () => camelName) as Camel<z.output<Response>>;
}

/** A path of the wire such as `limits.memory_mb` in camelCase: its fields, not the keys of maps. */
export function toCamelPath(path: string, schema: z.ZodType): string {
  let schemas: readonly z.ZodType[] = [schema];
  return path
    .split(".")
    .map((part) => {
      const [, name = part, index = ""] = /^(.*?)((?:\[\d{1,9}\]){0,16})$/s.exec(part) ?? [];
      const own = fieldsOf(shapesOf(schemas), name);
      schemas = [...index.matchAll(/\[/g)].reduce<readonly z.ZodType[]>((each) => elements(each), own);
      return own.length === 0 ? part : `${camelName(name)}${index}`;
    })
    .join(".");
}

/** A text in which request fields have their wire names, such as `raise limits.memory_mb`, in camelCase. */
export function toCamelText(text: string, request: z.ZodType): string {
  return text.replaceAll(/\b(?:limits\.)?[a-z]+(?:_[a-z0-9]+)+\b/g, (path) =>
    path.startsWith("limits.") ? camelName(path) : toCamelPath(path, request),
  );
}

/** The parts of a schema's definition that are used here. */
interface Definition {
  readonly type: string;
  readonly innerType?: z.ZodType;
  readonly in?: z.ZodType;
  readonly options?: readonly z.ZodType[];
  readonly element?: z.ZodType;
  readonly shape?: Shape;
}

type Shape = Readonly<Record<string, z.ZodType>>;

function shapesOf(schemas: readonly z.ZodType[]): readonly Shape[] {
  return alternatives(schemas).flatMap(({ shape }) => (shape === undefined ? [] : [shape]));
}

function fieldsOf(shapes: readonly Shape[], name: string): readonly z.ZodType[] {
  return shapes.flatMap((shape) => (Object.hasOwn(shape, name) ? [shape[name] as z.ZodType] : []));
}

/** What a value may be, without what says only that it may be missing. */
function alternatives(schemas: readonly z.ZodType[]): readonly Definition[] {
  return schemas.flatMap((schema) => {
    const definition = schema.def as unknown as Definition;
    const { innerType, in: input, options } = definition;
    const inner = options ?? [innerType ?? input ?? []].flat();
    return inner.length === 0 ? [definition] : alternatives(inner);
  });
}

function elements(schemas: readonly z.ZodType[]): readonly z.ZodType[] {
  return alternatives(schemas).flatMap(({ element }) => element ?? []);
}

function renamed(
  value: unknown,
  schemas: readonly z.ZodType[],
  namer: (names: readonly string[]) => (name: string) => string,
): unknown {
  if (Array.isArray(value)) {
    const each = elements(schemas);
    return each.length === 0 ? value : value.map((one) => renamed(one, each, namer));
  }
  if (typeof value !== "object" || value === null) return value;
  const shapes = shapesOf(schemas);
  if (shapes.length === 0) return value;
  const names = [...new Set(shapes.flatMap((shape) => Object.keys(shape)))];
  const nameOf = namer(names);
  const entries = Object.entries(value).map(([name, field]) => {
    const given = nameOf(name);
    // Out of the wire the schema's name is the one that came, into it the one that goes.
    const schemaName = names.includes(given) ? given : name;
    return [given, renamed(field, fieldsOf(shapes, schemaName), namer)] as const;
  });
  return Object.fromEntries(entries);
}
