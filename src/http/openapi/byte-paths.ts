import type { OperationContract } from "../../operations/contract/operation-contract.ts";
import { bytesType } from "../bytes/accepts-bytes.ts";
import { jsonSchema, type JsonObject } from "./json-schemas.ts";
import { namesIn, operationEntry } from "./operation-paths.ts";
import { json } from "./shared-parts.ts";

const content = { [bytesType]: { schema: { type: "string", format: "binary" } } };

const range = {
  name: "Range",
  in: "header",
  description: "One range of bytes: bytes=FIRST-LAST, bytes=FIRST- or bytes=-LENGTH.",
  schema: { type: "string" },
};

const parts: JsonObject = {
  "206": {
    description: "The part that Range names.",
    headers: { "Content-Range": { description: "The part, and the size of the whole.", schema: { type: "string" } } },
    content,
  },
};

/** The entry of one path at which an operation takes or sends content as bytes. */
export function byteEntry(contract: OperationContract, path: string, errors: JsonObject): JsonObject {
  const isUpload = contract.bytes?.direction === "up";
  const { parameters, ...entry } = operationEntry(contract, { method: isUpload ? "PUT" : "GET", path }, errors) as {
    readonly parameters: readonly { readonly name: string; readonly in: string }[];
  };
  const elsewhere = new Set(
    (contract.bytes?.paths ?? []).flatMap(namesIn).filter((name) => !namesIn(path).includes(name)),
  );
  const own = parameters.filter(({ name }) => !elsewhere.has(name));
  if (!isUpload) {
    return withParts({ ...entry, parameters: own, responses: { ...errors, "200": { description: "Done.", content } } });
  }
  return {
    ...entry,
    parameters: own.filter((parameter) => parameter.in === "path"),
    requestBody: { required: true, content },
    responses: { ...errors, "200": { description: "Done.", content: json(jsonSchema(contract.response, "output")) } },
  };
}

/** An answer in JSON that is offered as bytes too, at the same path. */
export function withBytes(entry: JsonObject): JsonObject {
  const { responses, description } = entry as {
    readonly responses: Readonly<Record<string, { readonly content?: JsonObject }>>;
    readonly description: string;
  };
  const whole = responses["200"];
  return {
    ...withParts({
      ...entry,
      responses: { ...responses, "200": { ...whole, content: { ...whole?.content, ...content } } },
    }),
    description: `${description} With Accept: ${bytesType} as it is, of any size.`,
  };
}

function withParts(entry: JsonObject): JsonObject {
  const { parameters = [], responses = {} } = entry as {
    readonly parameters?: readonly unknown[];
    readonly responses?: object;
  };
  return { ...entry, parameters: [...parameters, range], responses: { ...responses, ...parts } };
}
