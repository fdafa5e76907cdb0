import { camelName } from "../../src/library/objects/camel.ts";

/** A JSON schema, as far as requests, responses and the configuration use it. */
export interface Schema {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Schema | boolean;
}

/** How the types of schemas are written. */
export interface TypeForm {
  /** A field's name in the type; default: in camelCase. */
  readonly nameOf?: (name: string) => string;
  /** Objects that get a named type wherever they occur, by the field that contains them. */
  readonly named?: Readonly<Record<string, { readonly type: string; readonly sentence: string }>>;
  /** Types of fields whose schema does not say their type, by the field's name. */
  readonly unsaid?: Readonly<Record<string, string>>;
  /** Whether comments state defaults that the descriptions do not mention. */
  readonly defaults?: boolean;
}

/** The type of a value without a schema. */
const anything = "unknown";

/** TypeScript types for schemas, documented with the schemas' descriptions. */
export class TypeWriter {
  readonly #form: TypeForm;
  readonly #named = new Map<string, string>();
  /** Names of wire fields that comments mention. */
  readonly #wireNames: ReadonlySet<string>;

  constructor(form: TypeForm = {}, wireNames: ReadonlySet<string> = new Set()) {
    this.#form = form;
    this.#wireNames = wireNames;
  }

  /** An interface with an object's fields, except those in `without`. */
  interfaceOf(name: string, schema: Schema, sentence: string, without: readonly string[] = []): string {
    return `/** ${sentence} */\nexport interface ${name} ${this.#fields(schema, without)}`;
  }

  /** Interfaces that the others refer to. */
  get namedInterfaces(): readonly string[] {
    return Object.values(this.#form.named ?? {}).flatMap(({ type, sentence }) => {
      const body = this.#named.get(type);
      return body === undefined ? [] : [`/** ${sentence} */\nexport interface ${type} ${body}`];
    });
  }

  #fields({ properties = {}, required = [] }: Schema, without: readonly string[] = []): string {
    const { nameOf = camelName } = this.#form;
    const fields = Object.entries(properties).flatMap(([name, schema]) => {
      if (without.includes(name)) return [];
      const [mark, none] = required.includes(name) ? ["", ""] : ["?", " | undefined"];
      return [`${this.#comment(schema)}readonly ${nameOf(name)}${mark}: ${this.#typeOf(schema, name)}${none};`];
    });
    return `{\n${fields.join("\n")}\n}`;
  }

  #comment(schema: Schema): string {
    const { description, default: standard } = schema;
    const isTold = this.#form.defaults === true && standard !== undefined && !isSection(schema);
    const words = [description, isTold ? `Default: \`${JSON.stringify(standard)}\`.` : undefined].filter(Boolean);
    return words.length === 0 ? "" : `/** ${this.#inLibraryNames(words.join(" "))} */\n`;
  }

  #typeOf(schema: Schema, field: string): string {
    const { type, anyOf, items, properties, additionalProperties } = schema;
    if (anyOf !== undefined) return anyOf.map((each) => this.#typeOf(each, field)).join(" | ");
    if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
    if (schema.const !== undefined) return JSON.stringify(schema.const);
    if (typeof type === "object") return type.map((each) => this.#typeOf({ ...schema, type: each }, field)).join(" | ");
    if (type === "array") return `readonly (${this.#typeOf(items ?? {}, field)})[]`;
    if (type === "object" && properties !== undefined) return this.#objectType(schema, field);
    if (type === "object" && typeof additionalProperties === "object") {
      return `Readonly<Record<string, ${this.#typeOf(additionalProperties, field)}>>`;
    }
    if (type === "integer") return "number";
    if (type === "string" || type === "number" || type === "boolean" || type === "null") return type;
    if (type === undefined) return this.#form.unsaid?.[field] ?? anything;
    throw new TypeError(`No type is known for ${JSON.stringify(schema)}.`);
  }

  #objectType(schema: Schema, field: string): string {
    const body = this.#fields(schema);
    const type = this.#form.named?.[field]?.type;
    if (type === undefined) return body;
    const known = this.#named.get(type);
    if (known !== undefined && known !== body)
      throw new TypeError(`${type} (${field}) is not one type:\n${known}\n${body}`);
    this.#named.set(type, body);
    return type;
  }

  /** Descriptions mention wire fields, which are renamed; names of tools and operations stay. */
  #inLibraryNames(text: string): string {
    const { nameOf = camelName } = this.#form;
    return text
      .replaceAll(/\b[a-z]+(?:_[a-z]+)+\b/g, (name) => (this.#wireNames.has(name) ? nameOf(name) : name))
      .replaceAll("*/", "*\\/");
  }
}

/** Names of the schema's fields, at every depth. */
export function fieldNames({ properties = {}, anyOf = [], items, additionalProperties }: Schema): readonly string[] {
  const within = [...Object.values(properties), ...anyOf, items, additionalProperties];
  const deeper = within.filter((each) => typeof each === "object").flatMap(fieldNames);
  return [...Object.keys(properties), ...deeper];
}

/** Whether its default consists of the defaults of its fields. */
function isSection({ properties }: Schema): boolean {
  return properties !== undefined;
}
